//! Composite ML-DSA: keys and signatures that combine ML-DSA with a classical algorithm, for
//! those who may not rely on either alone
//! ([draft-ietf-lamps-pq-composite-sigs-19](https://datatracker.ietf.org/doc/draft-ietf-lamps-pq-composite-sigs/19/)).
//!
//! It needs the feature `composite`. The standard is a draft: until it is an RFC it may change, and so
//! may this module.
//!
//! A [`CompositeKey`] is a [`Signer`](crate::Signer): it signs certificates, requests and revocation lists wherever
//! pq-x509 takes one. To verify them, pq-x509 has verification of composites.
//!
//! ```
//! use pq_keys::composite::{CompositeAlgorithm, CompositeKey};
//!
//! let key = CompositeKey::generate(CompositeAlgorithm::MlDsa65EcdsaP256Sha512)?;
//! let signature = key.sign(b"message")?;
//! key.public_key().verify(b"message", &signature)?;
//! # Ok::<_, pq_keys::composite::CompositeKeyError>(())
//! ```
//!
//! # Which combinations
//!
//! All whose classical half this crate supports: [`CompositeAlgorithm::ALL`]. The draft's others, on
//! brainpool curves, on P-521 and with Ed448, are refused with an error that names them.
//!
//! The halves of a composite key must not have certificates of their own, and keys with such
//! certificates must not become halves (section 9.3). So this crate doesn't make a composite key from
//! two other keys. The key usages of composite keys are those of ML-DSA: signatures, and nothing else
//! (section 5.2).
//!
//! # What a refusal tells
//!
//! Verification always computes both halves, combines their results without a branch on either, and has
//! one error for both. Its time shows only public facts: the length of a signature, and whether the
//! encoding of a half is malformed, because this half then ends sooner.
//!
//! Signing is constant time as far as its halves are: pq-core for ML-DSA, graviola for the classical
//! half. Apart from them, secrets are only copied, and the copies are wiped. Whether a private key has
//! the draft's one encoding is compared in constant time.

// This room uses `classical`, `keys` and `encoding`.

mod algorithm;
mod encoding;
mod error;
mod key;
mod message;
mod public_key;

pub use algorithm::{CompositeAlgorithm, UnknownComposite};
pub use error::CompositeKeyError;
pub use key::CompositeKey;
pub use message::{HashedMessage, MessageHasher};
pub use public_key::CompositePublicKey;
