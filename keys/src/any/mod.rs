//! Keys of many algorithms as one type: post-quantum keys, those of X-Wing, composite and classical ones that sign, and
//! those of X25519. They are made, written, read from files in every encoding that this crate knows, and used, whatever their
//! algorithm. A file doesn't tell keys of ECDH from those of ECDSA, as which they are read: for ECDH, read them as
//! [`ClassicalAgreementKey`](crate::classical::ClassicalAgreementKey).
//!
//! * [`AnyPrivateKey`], [`AnySigningKey`] and [`AnyPublicKey`] are the keys, [`AnyAlgorithm`] their algorithms.
//! * [`read_private_key`] and [`read_public_key`] read a file: PEM or DER; PKCS#8, under a passphrase or not, or a
//!   classical key in an older format; SubjectPublicKeyInfo.
//! * [`Readable`] is for programs with types of their own, such as keys for one use only.
//!
//! ```
//! use core::convert::Infallible;
//!
//! use pq_keys::any::{AnyAlgorithm, AnyPrivateKey, AnySigningKey, read_private_key, read_public_key};
//! use pq_keys::protection::Protection;
//! use zeroize::Zeroizing;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let protection = Protection::default()
//! #     .with_key_derivation(pq_keys::protection::KeyDerivation::Pbkdf2 { prf: pq_keys::protection::Prf::HmacSha256, iterations: 1000 });
//! let algorithm = AnyAlgorithm::named("ML-DSA-65").ok_or("no such algorithm")?;
//! let key = AnyPrivateKey::generate(algorithm)?;
//! let file = key.to_encrypted_pkcs8_pem(b"passphrase", &protection)?;
//! let public_file = key.public_half().to_spki_pem();
//!
//! // The passphrase is asked for only if there is need of one. A key that doesn't sign is refused.
//! let ask = || Ok::<_, Infallible>(Zeroizing::new(b"passphrase".to_vec()));
//! let key = read_private_key::<AnySigningKey, _, _>(file.as_bytes(), ask)?.key;
//! let signature = key.sign(b"message")?;
//!
//! let key = read_public_key(public_file.as_bytes())?;
//! key.verify(b"message", &signature)?;
//! # Ok(())
//! # }
//! ```
//!
//! It uses [`x_wing`](crate::x_wing), [`composite`](crate::composite), [`classical`](crate::classical), `protection`,
//! `keys`, `encoding` and `errors`.

mod algorithm;
mod error;
mod private_key;
mod protected;
mod public_key;
mod reading;
mod signing_key;

pub use algorithm::AnyAlgorithm;
pub use error::AnyKeyError;
pub use private_key::AnyPrivateKey;
pub use public_key::{AnyPublicKey, read_public_key};
pub use reading::{Kind, ReadError, ReadKey, Readable, read_private_key};
pub use signing_key::AnySigningKey;

// Classical and composite keys need graviola, which is for these architectures.
#[cfg(all(test, any(target_arch = "x86_64", target_arch = "aarch64")))]
mod tests;
