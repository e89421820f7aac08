use base64ct::{Base64, Encoding as _};
use pq_x509::x509_cert::der::asn1::OctetStringRef;
use pq_x509::x509_cert::der::{self, Encode, Header, SliceWriter, Tag};
use pq_x509::{Algorithm, KeyError, PrivateKey, PrivateKeyForm, SigningKey};
use zeroize::Zeroizing;

use super::contents::Encoding;
use super::error::DocumentError;
use super::keys::PrivateKeyFile;
use crate::files::Source;

/// Reads bytes that stand alone in a file, as they are, in hexadecimal or in base64. What they are has
/// `len` of them.
pub(crate) fn raw_bytes(
    source: &Source,
    what: &str,
    len: usize,
) -> Result<Zeroizing<Vec<u8>>, DocumentError> {
    // In hexadecimal, with spaces in between.
    let bytes = source.read(4 * len)?;
    let found = bytes.len();
    let right = readings(bytes).into_iter().find(|raw| raw.len() == len);
    right.ok_or_else(|| DocumentError::NotOfLength {
        file: source.to_string(),
        what: what.into(),
        len,
        found,
    })
}

/// Twice what the longest expanded key has in hexadecimal.
const LIMIT: usize = 32 * 1024;

/// Reads a seed or an expanded key that stands alone in a file, as bytes, in hexadecimal or in
/// base64. Its length tells which it is.
pub(crate) fn raw_private_key(
    source: &Source,
    algorithm: Algorithm,
) -> Result<PrivateKeyFile, DocumentError> {
    let bytes = source.read(LIMIT)?;
    let form_of = |len| match len {
        _ if len == algorithm.seed_len() => Some(PrivateKeyForm::Seed),
        _ if len == algorithm.expanded_len() => Some(PrivateKeyForm::Expanded),
        _ => None,
    };
    let found = readings(bytes)
        .into_iter()
        .find_map(|raw| form_of(raw.len()).map(|form| (raw, form)));
    let Some((raw, form)) = found else {
        return Err(DocumentError::NotRaw {
            file: source.to_string(),
            algorithm,
        });
    };
    match parse(algorithm, form, &raw) {
        Ok(key) => Ok(PrivateKeyFile {
            key,
            form,
            encoding: Encoding::Raw,
        }),
        Err(error) => Err(DocumentError::Key {
            file: source.to_string(),
            error,
        }),
    }
}

/// What the file may mean: a text of hexadecimal digits or of base64, or the bytes that it has.
fn readings(bytes: Zeroizing<Vec<u8>>) -> Vec<Zeroizing<Vec<u8>>> {
    let mut text = Zeroizing::new(Vec::with_capacity(bytes.len()));
    text.extend(bytes.iter().filter(|byte| !byte.is_ascii_whitespace()));
    let mut readings = Vec::new();
    for decode in [from_hex, from_base64] {
        readings.extend(decode(&text));
    }
    readings.push(bytes);
    readings
}

fn from_hex(text: &[u8]) -> Option<Zeroizing<Vec<u8>>> {
    let mut raw = Zeroizing::new(vec![0; text.len() / 2]);
    let len = base16ct::mixed::decode(text, &mut raw).ok()?.len();
    raw.truncate(len);
    Some(raw)
}

fn from_base64(text: &[u8]) -> Option<Zeroizing<Vec<u8>>> {
    let mut raw = Zeroizing::new(vec![0; text.len() / 4 * 3]);
    let len = Base64::decode(text, &mut raw).ok()?.len();
    raw.truncate(len);
    Some(raw)
}

fn parse(algorithm: Algorithm, form: PrivateKeyForm, raw: &[u8]) -> Result<PrivateKey, KeyError> {
    match (algorithm, form) {
        // SLH-DSA has no PKCS#8 for the seed.
        (Algorithm::Signature(algorithm), PrivateKeyForm::Seed) => {
            SigningKey::from_seed(algorithm, raw).map(PrivateKey::Signing)
        }
        _ => PrivateKey::from_pkcs8_der(&bare_pkcs8(algorithm, raw)?),
    }
}

/// A OneAsymmetricKey (RFC 5958) in which the key stands bare, which pq-x509 reads for all algorithms.
fn bare_pkcs8(algorithm: Algorithm, raw: &[u8]) -> der::Result<Zeroizing<Vec<u8>>> {
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
