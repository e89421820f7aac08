use clap::ValueEnum;
use pq_x509::{KeyError, PrivateKey, PrivateKeyForm, PublicKey};
use serde::Serialize;
use zeroize::Zeroizing;

use crate::commands::text::{TextEncoding, line};
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
    match encoding {
        Encoding::Pem => {
            let mut pem = key.to_pkcs8_pem_as(form.into())?;
            Ok(Zeroizing::new(core::mem::take(&mut *pem).into_bytes()))
        }
        Encoding::Der => Ok(key.to_pkcs8_der_as(form.into())?),
        Encoding::Hex => raw_private_key(key, form, TextEncoding::Hex),
        Encoding::Base64 => raw_private_key(key, form, TextEncoding::Base64),
    }
}

fn raw_private_key(
    key: &PrivateKey,
    form: Form,
    encoding: TextEncoding,
) -> Result<Zeroizing<Vec<u8>>, Failure> {
    match form {
        Form::Seed => {
            let seed = key
                .seed()
                .ok_or_else(|| KeyError::NoSeed(key.algorithm()))?;
            Ok(line(seed, encoding))
        }
        Form::Expanded => Ok(line(&key.to_expanded(), encoding)),
        Form::Both => Err(Failure::BothAsRaw),
    }
}

/// A public key as a file is to have it.
pub(crate) fn public_key(key: &PublicKey, encoding: Encoding) -> Zeroizing<Vec<u8>> {
    match encoding {
        Encoding::Pem => Zeroizing::new(key.to_spki_pem().into_bytes()),
        Encoding::Der => Zeroizing::new(key.to_spki_der().to_vec()),
        Encoding::Hex => line(key.as_bytes(), TextEncoding::Hex),
        Encoding::Base64 => line(key.as_bytes(), TextEncoding::Base64),
    }
}
