//! SLH-DSA, the stateless hash-based digital signature standard of FIPS 205.
//!
//! Nothing but hash functions is behind it: it is the conservative choice, for keys that must
//! hold for decades and sign little, such as those of roots. Signatures are large and slow to
//! make, quick to verify.
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
//! The sets with an s have small signatures, those with an f are fast to sign with: ten to
//! twenty times faster. In milliseconds, on one core of an AMD Zen 5 with AVX-512, and after the
//! stroke with AVX2:
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
//! A context keeps apart signatures made for different purposes with one key. Most
//! protocols, X.509 and TLS among them, use the empty one.
//!
//! Signing reads a message twice, so it has to be in memory as a whole. HashSLH-DSA signs a digest
//! instead ([`SigningKey::hash_sign`], [`Message::Digest`]), of a message that comes in pieces if
//! need be ([`PreHash::hasher`]).

mod address;
mod algorithms;
mod fors;
mod hash;
mod hypertree;
mod instances;
pub mod internal;
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

pub use message::Message;
pub use parallel::{Progress, ProgressHook};
pub use params::{
    HashFamily, ParameterSet, Shape, SlhDsaSha2_128f, SlhDsaSha2_128s, SlhDsaSha2_192f,
    SlhDsaSha2_192s, SlhDsaSha2_256f, SlhDsaSha2_256s, SlhDsaShake128f, SlhDsaShake128s,
    SlhDsaShake192f, SlhDsaShake192s, SlhDsaShake256f, SlhDsaShake256s,
};
pub use signature::Signature;
pub use signing_key::SigningKey;
pub use verifying_key::VerifyingKey;

pub use crate::prehash::{Digest, PreHash, PreHasher};
