//! What commands take of keys of every kind, which are pq-keys's: those for one use only, and what refuses others.
//!
//! This room uses nothing.

mod error;
mod narrow;
mod recipient;
mod signing_key;
mod verification;

pub(crate) use pq_keys::any::{
    AnyAlgorithm as Algorithm, AnyPrivateKey as PrivateKey, AnyPublicKey as PublicKey,
};

pub(crate) use error::KeyError;
pub(crate) use narrow::Narrow;
pub(crate) use recipient::{DecryptionKey, EncryptionKey};
pub(crate) use signing_key::SigningKey;
pub(crate) use verification::{other_verification, why_post_quantum_only};
