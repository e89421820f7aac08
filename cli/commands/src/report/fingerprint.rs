//! Fingerprints and other bytes as reports write them.

use sha2::{Digest, Sha256};

/// The SHA-256 of some DER, as reports have it.
pub(crate) fn fingerprint(der: &[u8]) -> String {
    format!("sha256:{}", hex(&Sha256::digest(der)))
}

/// Bytes that are no secret, in hexadecimal.
pub(crate) fn hex(bytes: &[u8]) -> String {
    base16ct::lower::encode_string(bytes)
}
