//! JSON Web Keys (RFC 7517) of the type `AKP` (RFC 9964), alone and in sets, and their thumbprints
//! (RFC 7638).
//!
//! Reading refuses a key whose `use` or `key_ops` says that it is not for signatures, and a key with a member that
//! occurs twice. Unknown members, such as `x5c`, are ignored, as RFC 7517 section 4 asks, and are not written again.
//!
//! ```
//! use pq_jose::jwk::{Jwk, PrivateJwk};
//! use pq_keys::{SignatureAlgorithm, SigningKey};
//!
//! let key = SigningKey::generate(SignatureAlgorithm::MlDsa65)?;
//! let key = PrivateJwk::new(key)?.with_thumbprint_as_kid();
//! let text = key.public().to_json();
//! let public = Jwk::from_json(&text)?;
//! assert_eq!(public.kid(), Some(&*public.thumbprint().to_string()));
//! # Ok::<_, Box<dyn std::error::Error>>(())
//! ```
//!
//! It uses `akp` and `encoding`.

mod error;
mod key;
mod members;
mod set;

pub use error::JwkError;
pub use key::{Jwk, PrivateJwk};
pub use set::{JwkSet, LeftOut};
