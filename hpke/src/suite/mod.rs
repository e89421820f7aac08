//! What beside the KEM makes a suite: functions that derive keys, and ciphers.
//!
//! This room uses nothing.

mod aead;
mod kdf;

pub use aead::Aead;
pub(crate) use aead::{Cipher, NONCE_LEN, TAG_LEN};
pub use kdf::Kdf;
pub(crate) use kdf::{Schedule, SuiteId};

/// How keys are derived, and what encrypts.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Suite {
    /// HKDF-SHA256 by default, which all implementations have.
    pub kdf: Kdf,
    /// AES-256-GCM by default.
    pub aead: Aead,
}
