//! SLH-DSA, the stateless hash-based digital signature standard of FIPS 205.
//!
//! It relies on hash functions alone: it is the conservative choice for keys that must be secure
//! for decades and sign little, such as those of root certificates. Signatures are large and slow
//! to make, but quick to verify.
//!
//! ```
//! use pq_core::slh_dsa::{Signature, SigningKey, SlhDsaShake128f, VerifyingKey};
//!
//! # fn random<const N: usize>() -> [u8; N] { [7; N] }
//! // 48 and 16 fresh random bytes
//! let mut place = None;
//! let signing_key = SigningKey::<SlhDsaShake128f>::from_seed_into(&random(), &mut place);
//! let published = signing_key.verifying_key().as_bytes();
//! let signature = signing_key.sign(b"message", b"context", &random())?;
//!
//! // the verifier, with what it received
//! let verifying_key = VerifyingKey::<SlhDsaShake128f>::from_bytes(published)?;
//! let signature = Signature::from_bytes(signature.as_bytes())?;
//! verifying_key.verify(b"message", b"context", &signature)?;
//! assert!(verifying_key.verify(b"massage", b"context", &signature).is_err());
//! # Ok::<(), pq_core::Error>(())
//! ```
//!
//! | SHAKE256 | SHA-2 | n | verifying key | signing key | signature |
//! |---|---|---|---|---|---|
//! | [`SlhDsaShake128s`] | [`SlhDsaSha2_128s`] | 16 | 32 bytes | 64 bytes | 7856 bytes |
//! | [`SlhDsaShake128f`] | [`SlhDsaSha2_128f`] | 16 | 32 bytes | 64 bytes | 17088 bytes |
//! | [`SlhDsaShake192s`] | [`SlhDsaSha2_192s`] | 24 | 48 bytes | 96 bytes | 16224 bytes |
//! | [`SlhDsaShake192f`] | [`SlhDsaSha2_192f`] | 24 | 48 bytes | 96 bytes | 35664 bytes |
//! | [`SlhDsaShake256s`] | [`SlhDsaSha2_256s`] | 32 | 64 bytes | 128 bytes | 29792 bytes |
//! | [`SlhDsaShake256f`] | [`SlhDsaSha2_256f`] | 32 | 64 bytes | 128 bytes | 49856 bytes |
//!
//! The sets with an s have small signatures; those with an f sign ten to twenty times faster. Times
//! in milliseconds on one core of an AMD Zen 5, with AVX-512 / with AVX2:
//!
//! | | SHAKE256: key | sign | verify | SHA-2: key | sign | verify |
//! |---|---|---|---|---|---|---|
//! | 128s | 7.1 / 25 | 54 / 193 | 0.08 / 0.20 | 2.7 / 6.4 | 22 / 51 | 0.04 / 0.06 |
//! | 128f | 0.11 / 0.39 | 2.6 / 9.2 | 0.20 / 0.57 | 0.04 / 0.10 | 1.0 / 2.3 | 0.08 / 0.16 |
//! | 192s | 10 / 37 | 100 / 343 | 0.12 / 0.29 | 3.9 / 11 | 47 / 149 | 0.07 / 0.14 |
//! | 192f | 0.15 / 0.55 | 4.3 / 15 | 0.30 / 0.82 | 0.06 / 0.17 | 1.9 / 5.8 | 0.15 / 0.31 |
//! | 256s | 6.6 / 25 | 96 / 307 | 0.17 / 0.45 | 2.6 / 7.5 | 46 / 158 | 0.10 / 0.21 |
//! | 256f | 0.41 / 1.5 | 9.0 / 32 | 0.32 / 0.87 | 0.16 / 0.45 | 3.9 / 12 | 0.17 / 0.34 |
//!
//! With the feature `slh-dsa-sp800-230-draft` there are six more sets, those of the draft of SP
//! 800-230, for content that is signed seldom and verified often, such as software. **They are from
//! a draft**, the initial public draft of 2026-04-13: the final sets may differ under the same
//! names, and no object identifiers are assigned yet. **The owner of a key must count its
//! signatures**: beyond 2²⁴ ([`MAX_SIGNATURES`](ParameterSet::MAX_SIGNATURES)), each one makes forgeries
//! easier. So only `LimitedSigningKey` signs with these sets, which counts.
//!
//! | SHAKE256 | SHA-2 | n | verifying key | signing key | signature |
//! |---|---|---|---|---|---|
//! | `SlhDsaShake128_24` | `SlhDsaSha2_128_24` | 16 | 32 bytes | 64 bytes | 3856 bytes |
//! | `SlhDsaShake192_24` | `SlhDsaSha2_192_24` | 24 | 48 bytes | 96 bytes | 7752 bytes |
//! | `SlhDsaShake256_24` | `SlhDsaSha2_256_24` | 32 | 64 bytes | 128 bytes | 14944 bytes |
//!
//! A key of these sets is one tree of two or four million key pairs, and each signature computes
//! the whole tree again, to save memory: it takes 500 to 700 times as long as with the s set of the
//! same n, and making a key 2,700 to 4,100 times as long. On the core of the table above with
//! AVX-512, a key takes about half a minute with SHAKE256 and ten seconds with SHA-2; a signature
//! takes at most one minute with SHAKE256 and half a minute with SHA-2. Verification is as quick as
//! with the other sets. The feature `rayon` divides the work among all cores.
//!
//! A context separates signatures that one key makes for different purposes. Most protocols, X.509
//! and TLS among them, use the empty context.
//!
//! Signing reads a message twice, so the whole message has to be in memory. HashSLH-DSA signs a
//! digest instead ([`SigningKey::hash_sign`], [`Message::Digest`]), and can hash a message that
//! comes in pieces ([`PreHash::hasher`]).

mod address;
mod algorithms;
mod fors;
mod hash;
mod hypertree;
mod instances;
#[cfg(any(test, feature = "hazmat-internal"))]
pub mod internal;
#[cfg(feature = "slh-dsa-sp800-230-draft")]
mod limited;
mod merkle;
mod message;
mod parallel;
mod params;
mod sha2;
mod shake;
mod signature;
mod signing_key;
#[cfg(test)]
mod textbook;
mod verifying_key;
mod wots;

#[cfg(feature = "slh-dsa-sp800-230-draft")]
pub use limited::LimitedSigningKey;
pub use message::Message;
pub use parallel::{Progress, ProgressHook};
pub use params::{
    HashFamily, ParameterSet, Shape, SlhDsaSha2_128f, SlhDsaSha2_128s, SlhDsaSha2_192f,
    SlhDsaSha2_192s, SlhDsaSha2_256f, SlhDsaSha2_256s, SlhDsaShake128f, SlhDsaShake128s,
    SlhDsaShake192f, SlhDsaShake192s, SlhDsaShake256f, SlhDsaShake256s,
};
#[cfg(feature = "slh-dsa-sp800-230-draft")]
pub use params::{
    SlhDsaSha2_128_24, SlhDsaSha2_192_24, SlhDsaSha2_256_24, SlhDsaShake128_24, SlhDsaShake192_24,
    SlhDsaShake256_24,
};
pub use signature::Signature;
pub use signing_key::SigningKey;
pub use verifying_key::VerifyingKey;

pub use crate::prehash::{Digest, PreHash, PreHasher};
