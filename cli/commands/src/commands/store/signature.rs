//! The text of a signature, which names the key and the version that made it:
//!
//! ```text
//! pqtls store signature 1
//! key: tenant/purpose/name#version
//! signature: (base64)
//! ```
//!
//! Behind a door, the key is `name#version`.

use base64ct::{Base64, Encoding};

use crate::commands::custody::KeyVersion;
use crate::failure::{Failure, StoreFailure};
use crate::files::Source;
use crate::kind::SIGNATURE as TITLE;

/// More than the longest signature, of SLH-DSA, has in base64.
const LIMIT: usize = 128 * 1024;

/// A signature from a file.
pub(super) struct SignatureFile {
    /// What made it, if the file says so.
    pub(super) id: Option<KeyVersion>,
    pub(super) signature: Vec<u8>,
}

/// The text of a signature.
pub(super) fn text(id: &KeyVersion, signature: &[u8]) -> String {
    let signature = Base64::encode_string(signature);
    format!("{TITLE}key: {id}\nsignature: {signature}\n")
}

/// Reads a text, or else takes the file for the bytes of a signature.
pub(super) fn read(file: &Source) -> Result<SignatureFile, Failure> {
    let bytes = file.read(LIMIT)?;
    if !bytes.starts_with(TITLE.as_bytes()) {
        return Ok(SignatureFile {
            id: None,
            signature: bytes.to_vec(),
        });
    }
    let read = parse(&bytes).ok_or_else(|| StoreFailure::Signature(file.to_string()))?;
    Ok(read)
}

/// Reads what [`text`] writes, and nothing else.
fn parse(bytes: &[u8]) -> Option<SignatureFile> {
    let whole = core::str::from_utf8(bytes).ok()?;
    let (key, rest) = whole
        .strip_prefix(TITLE)?
        .strip_prefix("key: ")?
        .split_once('\n')?;
    let encoded = rest.strip_prefix("signature: ")?.strip_suffix('\n')?;
    let id: KeyVersion = key.parse().ok()?;
    let signature = Base64::decode_vec(encoded).ok()?;
    (text(&id, &signature) == whole).then_some(SignatureFile {
        id: Some(id),
        signature,
    })
}
