//! Reads files without a structure: signatures, ciphertexts and raw keys, as bytes, hexadecimal or base64. Their
//! length tells what they are.

use pq_keys::classical::{
    AgreementAlgorithm, ClassicalAgreementKey, ClassicalAlgorithm, ClassicalKey,
};
use pq_keys::x_wing::{self, XWingPrivateKey};
use pq_keys::{KemAlgorithm, PrivateKeyForm};
use pq_x509::x509_cert::der::asn1::OctetStringRef;
use pq_x509::x509_cert::der::{self, Encode, Header, SliceWriter, Tag};
use zeroize::Zeroizing;

use super::contents::Encoding;
use super::error::DocumentError;
use super::keys::PrivateKeyFile;
use crate::files::Source;
use crate::keys::{Algorithm, KeyError, PrivateKey};
use crate::kind::readings;

/// Reads a file that has `len` bytes and nothing else, raw, in hexadecimal or in base64. `what` says in errors
/// what they are.
pub(crate) fn raw_bytes(
    source: &Source,
    what: &str,
    len: usize,
) -> Result<Zeroizing<Vec<u8>>, DocumentError> {
    bytes_of_length(source, &[len], |found| DocumentError::NotOfLength {
        file: source.to_string(),
        what: what.into(),
        len,
        found,
    })
}

/// Reads a file that has a ciphertext of ML-KEM or X-Wing and nothing else, in the same ways.
pub(crate) fn raw_ciphertext(source: &Source) -> Result<Zeroizing<Vec<u8>>, DocumentError> {
    let of_ml_kem = KemAlgorithm::ALL.iter();
    let mut lens: Vec<usize> = of_ml_kem
        .map(|algorithm| algorithm.ciphertext_len())
        .collect();
    lens.push(x_wing::CIPHERTEXT_LEN);
    bytes_of_length(source, &lens, |found| DocumentError::NoCiphertext {
        file: source.to_string(),
        found,
    })
}

/// What the bytes of a file mean that has one of these lengths; `refused` says of a file with so many bytes why it hasn't.
fn bytes_of_length(
    source: &Source,
    lens: &[usize],
    refused: impl FnOnce(usize) -> DocumentError,
) -> Result<Zeroizing<Vec<u8>>, DocumentError> {
    // In hexadecimal, with spaces in between.
    let longest = lens.iter().max().copied().unwrap_or_default();
    let bytes = source.read(4 * longest)?;
    let found = bytes.len();
    let right = readings(bytes)
        .into_iter()
        .find(|raw| lens.contains(&raw.len()));
    right.ok_or_else(|| refused(found))
}

/// Twice what the longest expanded key has in hexadecimal.
const LIMIT: usize = 32 * 1024;

/// Reads a file that has a seed, an expanded key or a scalar and nothing else, as bytes, in hexadecimal or
/// in base64. The length tells which it is.
pub(crate) fn raw_private_key(
    source: &Source,
    algorithm: Algorithm,
) -> Result<PrivateKeyFile, DocumentError> {
    let bytes = source.read(LIMIT)?;
    let found = readings(bytes)
        .into_iter()
        .find_map(|raw| Meaning::of(raw.len(), algorithm).map(|meaning| (raw, meaning)));
    let Some((raw, meaning)) = found else {
        return Err(DocumentError::NotRaw {
            file: source.to_string(),
            algorithm,
        });
    };
    let file = |key, form| PrivateKeyFile {
        key,
        form,
        encoding: Encoding::Raw,
        protection: None,
    };
    let read = match meaning {
        Meaning::PostQuantum(algorithm, form) => parse(algorithm, form, &raw)
            .map(|key| file(PrivateKey::PostQuantum(key), Some(form)))
            .map_err(KeyError::from),
        Meaning::XWing => XWingPrivateKey::from_bytes(&raw)
            .map(|key| file(PrivateKey::XWing(key), None))
            .map_err(KeyError::from),
        Meaning::Classical(algorithm) => ClassicalKey::from_raw(algorithm, &raw)
            .map(|key| file(PrivateKey::Classical(key), None))
            .map_err(KeyError::from),
        Meaning::Agreement(algorithm) => ClassicalAgreementKey::from_raw(algorithm, &raw)
            .map(|key| file(PrivateKey::Agreement(key), None))
            .map_err(KeyError::from),
    };
    read.map_err(|error| DocumentError::Key {
        file: source.to_string(),
        error,
    })
}

/// What raw bytes are.
#[derive(Clone, Copy)]
enum Meaning {
    PostQuantum(pq_keys::Algorithm, PrivateKeyForm),
    XWing,
    Classical(ClassicalAlgorithm),
    Agreement(AgreementAlgorithm),
}

impl Meaning {
    fn of(len: usize, algorithm: Algorithm) -> Option<Self> {
        match algorithm {
            Algorithm::PostQuantum(algorithm) if len == algorithm.seed_len() => {
                Some(Self::PostQuantum(algorithm, PrivateKeyForm::Seed))
            }
            Algorithm::PostQuantum(algorithm) if len == algorithm.expanded_len() => {
                Some(Self::PostQuantum(algorithm, PrivateKeyForm::Expanded))
            }
            Algorithm::XWing if len == XWingPrivateKey::LEN => Some(Self::XWing),
            Algorithm::Classical(algorithm) if Some(len) == algorithm.raw_private_key_len() => {
                Some(Self::Classical(algorithm))
            }
            Algorithm::Agreement(algorithm) if len == algorithm.raw_private_key_len() => {
                Some(Self::Agreement(algorithm))
            }
            _ => None,
        }
    }
}

fn parse(
    algorithm: pq_keys::Algorithm,
    form: PrivateKeyForm,
    raw: &[u8],
) -> Result<pq_keys::PrivateKey, pq_keys::KeyError> {
    match (algorithm, form) {
        // SLH-DSA has no PKCS#8 for the seed.
        (pq_keys::Algorithm::Signature(algorithm), PrivateKeyForm::Seed) => {
            pq_keys::SigningKey::from_seed(algorithm, raw).map(pq_keys::PrivateKey::Signing)
        }
        _ => pq_keys::PrivateKey::from_pkcs8_der(&bare_pkcs8(algorithm, raw)?),
    }
}

/// A OneAsymmetricKey (RFC 5958) with the bare key in it, which pq-x509 reads for all algorithms.
fn bare_pkcs8(algorithm: pq_keys::Algorithm, raw: &[u8]) -> der::Result<Zeroizing<Vec<u8>>> {
    const VERSION: u8 = 0;
    let identifier = algorithm.identifier();
    let key = OctetStringRef::new(raw)?;
    let len = (VERSION.encoded_len()? + identifier.encoded_len()? + key.encoded_len()?)?;
    let header = Header::new(Tag::Sequence, len);
    let total = (header.encoded_len()? + len)?;
    let mut pkcs8 = Zeroizing::new(vec![0; usize::try_from(total)?]);
    let mut writer = SliceWriter::new(&mut pkcs8);
    header.encode(&mut writer)?;
    VERSION.encode(&mut writer)?;
    identifier.encode(&mut writer)?;
    key.encode(&mut writer)?;
    Ok(pkcs8)
}
