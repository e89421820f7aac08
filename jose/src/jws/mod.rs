//! JSON Web Signatures (RFC 7515): compact, as JSON of one or more signatures, and detached (appendix F).
//!
//! The key says the algorithm. A header names it, too, and a signature whose header names another one than
//! its key has is refused, whatever it names; there is no way to verify by what a header says.
//!
//! What a header says that must be understood (`crit`) is refused, since nothing beyond RFC 7515 is
//! understood here: no unencoded payloads (RFC 7797) either. `jwk`, `x5c` and `jku` are never looked at: no
//! header brings the key that it is verified by.
//!
//! ```
//! use pq_jose::jwk::PrivateJwk;
//! use pq_jose::jws::{Header, Jws, Message};
//! use pq_x509::{SignatureAlgorithm, SigningKey};
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
