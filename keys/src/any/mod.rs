//! Keys of many algorithms as one type: post-quantum keys, those of X-Wing, composite and classical ones that sign. They
//! are read from files in every encoding that this crate knows, whatever their algorithm. Keys for agreement alone (ECDH,
//! X25519) are not among them, as a file doesn't tell those of ECDH from those of ECDSA: they are in
//! [`classical`](crate::classical).
//!
//! * [`AnyPrivateKey`], [`AnySigningKey`] and [`AnyPublicKey`] are the keys, [`AnyAlgorithm`] their algorithms.
//! * [`read_private_key`] and [`read_public_key`] read a file: PEM or DER; PKCS#8, under a passphrase or not, or a
//!   classical key in an older format; SubjectPublicKeyInfo.
//! * [`Readable`] is for programs with types of their own, such as keys for one use only.
//!
//! ```
//! use core::convert::Infallible;
//!
//! use pq_keys::any::{AnyPrivateKey, read_private_key};
//! use pq_keys::protection::Protection;
//! use pq_keys::{SignatureAlgorithm, SigningKey, SubjectKey};
//! use zeroize::Zeroizing;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let protection = Protection::default()
//! #     .with_key_derivation(pq_keys::protection::KeyDerivation::Pbkdf2 { prf: pq_keys::protection::Prf::HmacSha256, iterations: 1000 });
//! let key = SigningKey::generate(SignatureAlgorithm::MlDsa65)?;
//! let file = key.to_encrypted_pkcs8_pem(b"passphrase", &protection)?;
//!
//! // The passphrase is asked for only if there is need of one.
//! let ask = || Ok::<_, Infallible>(Zeroizing::new(b"passphrase".to_vec()));
//! let read = read_private_key::<AnyPrivateKey, _, _>(file.as_bytes(), ask)?;
//! assert_eq!(read.key.spki(), key.spki());
//! # Ok(())
//! # }
//! ```
//!
//! It uses [`x_wing`](crate::x_wing), [`composite`](crate::composite), [`classical`](crate::classical), `protection`,
//! `keys`, `encoding` and `errors`.

mod algorithm;
mod error;
mod private_key;
mod public_key;
mod reading;

pub use algorithm::AnyAlgorithm;
pub use error::AnyKeyError;
pub use private_key::{AnyPrivateKey, AnySigningKey};
pub use public_key::{AnyPublicKey, read_public_key};
pub use reading::{Kind, ReadError, ReadKey, Readable, read_private_key};

// Classical and composite keys need graviola, which is for these architectures.
#[cfg(all(test, any(target_arch = "x86_64", target_arch = "aarch64")))]
mod tests;
