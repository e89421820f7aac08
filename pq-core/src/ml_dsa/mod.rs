//! ML-DSA, the module-lattice-based digital signature standard of FIPS 204.
//!
//! The holder of a [`SigningKey`] publishes its [`VerifyingKey`], and signs messages.
//! Whoever has the verifying key can verify each [`Signature`].
//!
//! ```
//! use pq_core::ml_dsa::{MlDsa65, Signature, SigningKey, VerifyingKey};
//!
//! # fn random<const N: usize>() -> [u8; N] { [7; N] }
//! // 32 fresh random bytes each
//! let mut place = None;
//! let signing_key = SigningKey::<MlDsa65>::from_seed_into(&random(), &mut place);
//! let published = signing_key.verifying_key().as_bytes();
//! let signature = signing_key.sign(b"message", b"context", &random())?;
//!
//! // the verifier, with what it received
//! let verifying_key = VerifyingKey::<MlDsa65>::from_bytes(published)?;
//! let signature = Signature::from_bytes(signature.as_bytes())?;
//! verifying_key.verify(b"message", b"context", &signature)?;
//! assert!(verifying_key.verify(b"massage", b"context", &signature).is_err());
//! # Ok::<(), pq_core::Error>(())
//! ```
//!
//! | | verifying key | signing key, expanded | signature |
//! |---|---|---|---|
//! | [`MlDsa44`] | 1312 bytes | 2560 bytes | 2420 bytes |
//! | [`MlDsa65`] | 1952 bytes | 4032 bytes | 3309 bytes |
//! | [`MlDsa87`] | 2592 bytes | 4896 bytes | 4627 bytes |
//!
//! Many operations at a time take less time in a [`batch`].
//!
//! A context keeps apart signatures made for different purposes with one key. Most
//! protocols, X.509 and TLS among them, use the empty one.
//!
//! For messages that are hashed far from the key, or are too large for the memory, there are two
//! ways. With external µ ([`VerifyingKey::mu`], [`SigningKey::sign_mu`]) signatures are the same as
//! those of the message. HashML-DSA ([`SigningKey::hash_sign`]) signs a digest, and its
//! signatures are its own. Both hash what comes in pieces ([`VerifyingKey::mu_hasher`],
//! [`PreHash::hasher`]).

pub mod batch;
mod encoding;
mod expansion;
mod instances;
pub mod internal;
mod message;
mod params;
mod ring;
mod sampling;
mod signature;
mod signing;
mod signing_key;
mod verification;
mod verifying_key;

pub use message::MuHasher;
pub use params::{MlDsa44, MlDsa65, MlDsa87, ParameterSet};
pub use signature::Signature;
pub use signing_key::SigningKey;
pub use verifying_key::{ExpandedVerifyingKey, VerifyingKey};

pub use crate::prehash::{Digest, PreHash, PreHasher};

/// Length of a seed ξ in bytes.
pub const SEED_LEN: usize = 32;
