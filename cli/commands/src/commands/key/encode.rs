//! Writes keys of any kind in every encoding that commands offer, and refuses those that a kind of key doesn't have.
//! The values of `--format` and `--form` are here, too.

use clap::ValueEnum;
use pq_jose::Algorithm;
use pq_jose::cose::{CoseKey, CosePrivateKey};
use pq_jose::jwk::{Jwk, JwkError, PrivateJwk};
use pq_keys::classical::{ClassicalAgreementKey, ClassicalKey};
use pq_keys::composite::CompositeKey;
use pq_keys::x_wing::XWingPrivateKey;
use pq_keys::{KeyError, PrivateKeyForm, SigningKey, VerifyingKey};
use serde::Serialize;
use zeroize::Zeroizing;

use crate::commands::text::{TextEncoding, line};
use crate::failure::Failure;
use crate::keys::{self, Narrow, PrivateKey, PublicKey};

/// How to write a key down.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Serialize, ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Encoding {
    /// PKCS#8 or SubjectPublicKeyInfo, as text
    Pem,
    /// The same as bytes
    Der,
    /// The raw key in hexadecimal
    Hex,
    /// The raw key in base64
    Base64,
    /// A JSON Web Key of ML-DSA (RFC 9964)
    Jwk,
    /// A COSE_Key of ML-DSA (RFC 9964), in bytes
    Cose,
    /// SSH's line of a public key of MLDSA44-Ed25519-SHA512
    Ssh,
}

impl Encoding {
    /// Whether it is bytes, which are not for terminals.
    pub(crate) fn is_binary(self) -> bool {
        matches!(self, Self::Der | Self::Cose)
    }

    /// Whether it holds only the seed of a private key.
    pub(crate) fn is_of_seeds(self) -> bool {
        matches!(self, Self::Jwk | Self::Cose)
    }
}

/// The form of a private key on the command line.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Serialize, ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Form {
    /// The seed alone, which most programs read
    Seed,
    /// The expanded key alone, which Java reads; the seed can't be computed from it
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

/// Encodes a private key for a file, and returns the form that it has there.
///
/// By default it has the form that most programs read, or if the seed is lost the expanded form. X-Wing,
/// classical and composite keys have no forms.
pub(crate) fn private_key(
    key: &PrivateKey,
    form: Option<Form>,
    encoding: Encoding,
) -> Result<(Zeroizing<Vec<u8>>, Option<Form>), Failure> {
    let form = form.or_else(|| key.preferred_form().map(Form::from));
    match (key, form) {
        (PrivateKey::PostQuantum(key), Some(form)) => {
            Ok((post_quantum(key, form, encoding)?, Some(form)))
        }
        (PrivateKey::Classical(key), None) => Ok((classical(key, encoding)?, None)),
        (PrivateKey::Agreement(agreeing), None) => Ok((agreement(key, agreeing, encoding)?, None)),
        (PrivateKey::XWing(key), None) => Ok((x_wing(key, encoding)?, None)),
        (PrivateKey::Composite(key), None) => Ok((composite(key, encoding)?, None)),
        _ => Err(Failure::NoForms(key.algorithm())),
    }
}

fn classical(key: &ClassicalKey, encoding: Encoding) -> Result<Zeroizing<Vec<u8>>, Failure> {
    Ok(match encoding {
        Encoding::Pem => bytes_of(key.to_pkcs8_pem()),
        Encoding::Der => key.to_pkcs8_der(),
        Encoding::Hex => line(&key.to_raw()?, TextEncoding::Hex),
        Encoding::Base64 => line(&key.to_raw()?, TextEncoding::Base64),
        Encoding::Ssh => return Err(Failure::SshPublicOnly),
        Encoding::Jwk | Encoding::Cose => {
            return Err(Failure::OnlyMlDsa(key.algorithm().into()));
        }
    })
}

fn agreement(
    key: &PrivateKey,
    agreeing: &ClassicalAgreementKey,
    encoding: Encoding,
) -> Result<Zeroizing<Vec<u8>>, Failure> {
    Ok(match encoding {
        Encoding::Pem => bytes_of(key.to_pkcs8_pem()?),
        Encoding::Der => key.to_pkcs8_der()?,
        Encoding::Hex => line(&agreeing.to_raw(), TextEncoding::Hex),
        Encoding::Base64 => line(&agreeing.to_raw(), TextEncoding::Base64),
        Encoding::Ssh => return Err(Failure::SshPublicOnly),
        Encoding::Jwk | Encoding::Cose => {
            return Err(Failure::OnlyMlDsa(key.algorithm()));
        }
    })
}

fn x_wing(key: &XWingPrivateKey, encoding: Encoding) -> Result<Zeroizing<Vec<u8>>, Failure> {
    Ok(match encoding {
        Encoding::Pem => bytes_of(key.to_pkcs8_pem()),
        Encoding::Der => key.to_pkcs8_der(),
        Encoding::Hex => line(key.as_bytes(), TextEncoding::Hex),
        Encoding::Base64 => line(key.as_bytes(), TextEncoding::Base64),
        Encoding::Ssh => return Err(Failure::SshPublicOnly),
        Encoding::Jwk | Encoding::Cose => {
            return Err(Failure::OnlyMlDsa(keys::Algorithm::XWing));
        }
    })
}

fn composite(key: &CompositeKey, encoding: Encoding) -> Result<Zeroizing<Vec<u8>>, Failure> {
    match encoding {
        Encoding::Pem => Ok(bytes_of(key.to_pkcs8_pem())),
        Encoding::Der => Ok(key.to_pkcs8_der()),
        Encoding::Hex | Encoding::Base64 => Err(keys::KeyError::NoRawBytes(key.algorithm()).into()),
        Encoding::Ssh => Err(Failure::SshPublicOnly),
        Encoding::Jwk | Encoding::Cose => Err(Failure::OnlyMlDsa(key.algorithm().into())),
    }
}

fn post_quantum(
    key: &pq_keys::PrivateKey,
    form: Form,
    encoding: Encoding,
) -> Result<Zeroizing<Vec<u8>>, Failure> {
    match encoding {
        Encoding::Pem => Ok(bytes_of(key.to_pkcs8_pem_as(form.into())?)),
        Encoding::Der => Ok(key.to_pkcs8_der_as(form.into())?),
        Encoding::Hex => raw_private_key(key, form, TextEncoding::Hex),
        Encoding::Base64 => raw_private_key(key, form, TextEncoding::Base64),
        Encoding::Ssh => Err(Failure::SshPublicOnly),
        Encoding::Jwk | Encoding::Cose if form != Form::Seed => Err(Failure::SeedOnly),
        Encoding::Jwk => {
            let key = PrivateJwk::new(seeded(key)?)?.with_thumbprint_as_kid();
            Ok(line_of(&key.to_json()?))
        }
        Encoding::Cose => {
            let key = CosePrivateKey::new(seeded(key)?)?.with_thumbprint_as_kid();
            Ok(key.to_cbor()?)
        }
    }
}

/// A key of ML-DSA that has a seed.
fn seeded(key: &pq_keys::PrivateKey) -> Result<SigningKey, Failure> {
    let signing: SigningKey = key.clone().try_into()?;
    Algorithm::try_from(signing.algorithm()).map_err(JwkError::from)?;
    match key.seed() {
        Some(_) => Ok(signing),
        None => Err(KeyError::NoSeed(key.algorithm()).into()),
    }
}

/// A line of text in one buffer, since a buffer that grows leaves copies behind.
fn line_of(text: &str) -> Zeroizing<Vec<u8>> {
    let mut line = Zeroizing::new(vec![b'\n'; text.len() + 1]);
    line[..text.len()].copy_from_slice(text.as_bytes());
    line
}

fn raw_private_key(
    key: &pq_keys::PrivateKey,
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

/// Encodes a public key for a file.
pub(crate) fn public_key(
    key: &PublicKey,
    encoding: Encoding,
) -> Result<Zeroizing<Vec<u8>>, Failure> {
    Ok(match encoding {
        Encoding::Pem => Zeroizing::new(key.to_spki_pem().into_bytes()),
        Encoding::Der => Zeroizing::new(key.to_spki_der().to_vec()),
        Encoding::Hex => line(key.as_bytes(), TextEncoding::Hex),
        Encoding::Base64 => line(key.as_bytes(), TextEncoding::Base64),
        Encoding::Jwk => {
            let key = Jwk::new(of_ml_dsa(key)?)?.with_thumbprint_as_kid();
            line_of(&key.to_json())
        }
        Encoding::Cose => {
            let key = CoseKey::new(of_ml_dsa(key)?)?.with_thumbprint_as_kid();
            Zeroizing::new(key.to_cbor())
        }
        Encoding::Ssh => match key {
            PublicKey::Composite(composite) => {
                let of_ssh = pq_ssh::PublicKey::new(composite.clone());
                let of_ssh = of_ssh.map_err(|_| Failure::NoSshKey(key.algorithm()))?;
                line_of(&of_ssh.to_line())
            }
            _ => return Err(Failure::NoSshKey(key.algorithm())),
        },
    })
}

/// The one kind of keys that are written for JOSE and COSE.
fn of_ml_dsa(key: &PublicKey) -> Result<VerifyingKey, Failure> {
    match key {
        PublicKey::PostQuantum(_) => Ok(Narrow::narrow(key.clone())?),
        other => Err(Failure::OnlyMlDsa(other.algorithm())),
    }
}

/// The bytes of the text itself, not a copy.
fn bytes_of(mut text: Zeroizing<String>) -> Zeroizing<Vec<u8>> {
    Zeroizing::new(core::mem::take(&mut *text).into_bytes())
}
