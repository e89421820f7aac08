//! Signed requests (RFC 8555, section 6.2): flattened JSON Web Signatures whose header names the algorithm, a nonce, the
//! URL, and either the key or the account. Servers [`read`] them, and clients [`write()`] them.
//!
//! The algorithms are those of [`AnyJwsAlgorithm`](pq_jose::any::AnyJwsAlgorithm): ML-DSA-44, 65 and 87 (RFC 9964), ES256, ES384, EdDSA and RS256.
//!
//! It uses [`problem`](crate::problem), [`identifier`](crate::identifier) and [`objects`](crate::objects).

pub mod external_account;
mod header;
mod request;

pub use header::KeyId;
pub use request::{MAX_BODY_LEN, SignedRequest, read, read_inner, write};

/// The media type of a signed request.
pub const CONTENT_TYPE: &str = "application/jose+json";
