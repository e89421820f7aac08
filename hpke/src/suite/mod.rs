//! The parts of a suite besides the KEM: functions that derive keys, and ciphers.
//!
//! It uses no other module of this crate.

mod aead;
mod kdf;

pub use aead::Aead;
pub(crate) use aead::{Cipher, NONCE_LEN, TAG_LEN};
pub use kdf::Kdf;
pub(crate) use kdf::{Schedule, SuiteId, extract_and_expand};

/// The function that derives keys, and the cipher.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Suite {
    /// HKDF-SHA256 by default, which all implementations have.
    pub kdf: Kdf,
    /// AES-256-GCM by default.
    pub aead: Aead,
}
