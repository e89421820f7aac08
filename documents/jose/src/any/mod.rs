//! Keys of several algorithms as one type, and their signatures in the flattened form (RFC 7515, section 7.2.2): ML-DSA
//! (RFC 9964), ECDSA on P-256 and P-384 and RSA (RFC 7518), Ed25519 (RFC 8037). For protocols such as ACME, whose
//! clients bring their keys.
//!
//! As everywhere in this crate, the key decides the algorithm: a signature is verified by that of its key alone.
//!
//! ```
//! use pq_jose::any::{AnyJwk, Flattened, write_flattened};
//! use pq_keys::classical::{ClassicalAlgorithm, ClassicalKey};
//!
//! let key = ClassicalKey::generate(ClassicalAlgorithm::EcdsaP256)?;
//! let jwk = AnyJwk::of(&key)?;
//! let header = format!(r#"{{"alg":"{}"}}"#, jwk.algorithm());
//! let text = write_flattened(header.as_bytes(), b"content", &key)?;
//!
//! let read = Flattened::from_json(text.as_bytes(), 10_000)?;
//! read.verify(&jwk)?;
//! assert_eq!(read.payload()?, b"content");
//! # Ok::<_, Box<dyn std::error::Error>>(())
//! ```
//!
//! It uses `akp` and `encoding`.

mod algorithm;
mod ecdsa;
mod error;
mod flattened;
mod key;

pub use algorithm::AnyJwsAlgorithm;
pub use error::AnyJwsError;
pub use flattened::{Flattened, sign, write_flattened, write_flattened_with};
pub use key::AnyJwk;
