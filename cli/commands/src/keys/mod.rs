//! Keys of every kind: post-quantum keys from pq-x509, X-Wing keys from pq-hpke, and classical and composite
//! keys from rustls-pq.
//!
//! This room uses nothing.

mod algorithm;
mod error;
mod narrow;
mod private_key;
mod public_key;
mod recipient;
mod verification;

pub(crate) use algorithm::Algorithm;
pub(crate) use error::KeyError;
pub(crate) use private_key::{FromPkcs8, PrivateKey, SigningKey};
pub(crate) use public_key::PublicKey;
pub(crate) use recipient::{DecryptionKey, EncryptionKey};
pub(crate) use verification::{other_verification, why_post_quantum_only};
