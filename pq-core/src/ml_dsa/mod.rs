//! ML-DSA, the module-lattice-based digital signature standard of FIPS 204.
//!
//! The owner of a [`SigningKey`] publishes its [`VerifyingKey`], and signs messages. Everyone who
//! has the verifying key can verify each [`Signature`].
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
//! Many operations at once take less time in a [`batch`].
//!
//! A context separates signatures that one key makes for different purposes. Most protocols, X.509
//! and TLS among them, use the empty context.
//!
//! For messages that are hashed far from the key, or do not fit in memory, there are two ways. With
//! external µ ([`VerifyingKey::mu`], [`SigningKey::sign_mu`]), the signatures are the same as those
//! of the message. HashML-DSA ([`SigningKey::hash_sign`]) signs a digest, and its signatures verify
//! only as HashML-DSA. Both can hash a message in pieces ([`VerifyingKey::mu_hasher`],
//! [`PreHash::hasher`]).

pub mod batch;
mod encoding;
mod expansion;
mod instances;
#[cfg(any(test, feature = "hazmat-internal"))]
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
