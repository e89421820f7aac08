//! JSON Web Signatures (RFC 7515): compact, as JSON with one or more signatures, and detached (appendix F).
//!
//! The key decides the algorithm. A header also names an algorithm, and the signature is refused if that is not
//! the algorithm of its key. There is no way to verify by the header alone.
//!
//! Signatures with critical header members (`crit`) are refused, because this crate supports nothing beyond RFC 7515,
//! not even unencoded payloads (RFC 7797). `jwk`, `x5c` and `jku` are ignored: a signature can't bring the key
//! that verifies it.
//!
//! ```
//! use pq_jose::jwk::PrivateJwk;
//! use pq_jose::jws::{Header, Jws, Message};
//! use pq_keys::{SignatureAlgorithm, SigningKey};
//!
//! let key = PrivateJwk::new(SigningKey::generate(SignatureAlgorithm::MlDsa44)?)?.with_kid("2026");
//! let header = Header::new().with_kid("2026");
//! let text = Message::new(b"Version 1.0").to_compact(&header, &key)?;
//!
//! let verified = Jws::from_compact(&text)?.verify(key.public())?;
//! assert_eq!(verified.payload(), b"Version 1.0");
//! # Ok::<_, Box<dyn std::error::Error>>(())
//! ```
//!
//! It uses `akp`, `encoding` and [`jwk`](crate::jwk).

mod error;
mod header;
mod message;
mod parse;
mod verify;

pub use error::JwsError;
pub use header::Header;
pub use message::Message;
pub use parse::Jws;
pub use verify::{Verified, VerifiedSignature};
