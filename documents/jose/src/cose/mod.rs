//! CBOR Object Signing and Encryption (RFC 9052): keys of the type AKP (RFC 9964), their thumbprints
//! (RFC 9679), and COSE_Sign1, with its content or detached.
//!
//! As in [`jws`](crate::jws), the key decides the algorithm, and a header that names another one is refused.
//! Input has to be deterministic CBOR (RFC 8949, section 4.2.1), except for the order of keys in maps. Output is
//! always deterministic. Messages with critical header parameters (`crit`) are refused, and other unknown
//! parameters are ignored. The only parameters that this crate writes are the algorithm and the key's identifier.
//!
//! ```
//! use pq_jose::cose::{CosePrivateKey, Sign1};
//! use pq_keys::{SignatureAlgorithm, SigningKey};
//!
//! let key = CosePrivateKey::new(SigningKey::generate(SignatureAlgorithm::MlDsa44)?)?;
//! let sign1 = Sign1::new().external_aad(b"sensor 7");
//! let message = sign1.sign(b"21.5 C", None, &key)?;
//!
//! let verified = sign1.verify(&message, key.public())?;
//! assert_eq!(verified.payload(), b"21.5 C");
//! # Ok::<_, Box<dyn std::error::Error>>(())
//! ```
//!
//! It uses `akp` and `encoding`.

mod error;
mod header;
mod key;
mod sign1;

pub use error::CoseError;
pub use key::{CoseKey, CosePrivateKey};
pub use sign1::{Sign1, VerifiedSign1};
