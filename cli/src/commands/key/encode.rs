use base64ct::{Base64, Encoding as _};
use clap::ValueEnum;
use pq_x509::{KeyError, PrivateKey, PrivateKeyForm, PublicKey};
use serde::Serialize;
use zeroize::Zeroizing;

use crate::failure::Failure;

/// How to write a key down.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Serialize, ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Encoding {
    /// PKCS#8 or SubjectPublicKeyInfo, as text
    Pem,
    /// The same in bytes
    Der,
    /// The raw key in hexadecimal
    Hex,
    /// The raw key in base64
    Base64,
}

/// The form of a private key on the command line.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Serialize, ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Form {
    /// The seed alone, which all programs read
    Seed,
    /// The expanded key alone; the seed can't be had back from it
    Expanded,
    /// The seed and the expanded key
    Both,
}

impl From<Form> for PrivateKeyForm {
    fn from(form: Form) -> Self {
        match form {
            Form::Seed => Self::Seed,
            Form::Expanded => Self::Expanded,
            Form::Both => Self::Both,
        }
    }
}

impl From<PrivateKeyForm> for Form {
    fn from(form: PrivateKeyForm) -> Self {
        match form {
            PrivateKeyForm::Seed => Self::Seed,
            PrivateKeyForm::Expanded => Self::Expanded,
            PrivateKeyForm::Both => Self::Both,
        }
    }
}

impl Form {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Seed => "seed",
            Self::Expanded => "expanded",
            Self::Both => "seed and expanded",
        }
    }
}

/// A private key as a file is to have it.
pub(crate) fn private_key(
    key: &PrivateKey,
    form: Form,
    encoding: Encoding,
) -> Result<Zeroizing<Vec<u8>>, Failure> {
    Ok(match encoding {
        Encoding::Pem => {
            let mut pem = key.to_pkcs8_pem_as(form.into())?;
            Zeroizing::new(core::mem::take(&mut *pem).into_bytes())
        }
        Encoding::Der => key.to_pkcs8_der_as(form.into())?,
        Encoding::Hex | Encoding::Base64 => match form {
            Form::Seed => {
                let seed = key
                    .seed()
                    .ok_or_else(|| KeyError::NoSeed(key.algorithm()))?;
                raw(seed, encoding)
            }
            Form::Expanded => raw(&key.to_expanded(), encoding),
            Form::Both => return Err(Failure::BothAsRaw),
        },
    })
}

/// A public key as a file is to have it.
pub(crate) fn public_key(key: &PublicKey, encoding: Encoding) -> Zeroizing<Vec<u8>> {
    match encoding {
        Encoding::Pem => Zeroizing::new(key.to_spki_pem().into_bytes()),
        Encoding::Der => Zeroizing::new(key.to_spki_der().to_vec()),
        Encoding::Hex | Encoding::Base64 => raw(key.as_bytes(), encoding),
    }
}

/// A line of text with the bytes in it, in one buffer, since what grows leaves copies behind.
fn raw(bytes: &[u8], encoding: Encoding) -> Zeroizing<Vec<u8>> {
    let in_base64 = encoding == Encoding::Base64;
    let len = match in_base64 {
        true => Base64::encoded_len(bytes),
        false => base16ct::encoded_len(bytes),
    };
    let mut line = Zeroizing::new(vec![b'\n'; len + 1]);
    let text = &mut line[..len];
    let is_written = match in_base64 {
        true => Base64::encode(bytes, text).is_ok(),
        false => base16ct::lower::encode(bytes, text).is_ok(),
    };
    assert!(is_written, "both write what is as long as they say");
    line
}
