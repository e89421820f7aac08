//! JSON Web Tokens (RFC 7519), signed, with the best current practices (RFC 8725).
//!
//! A [`Policy`] says what is accepted, and accepts nothing that it was not asked for: no token without an
//! expiry, none of an issuer or for an audience that it does not name, and none of another type. Its
//! decisions are in one place, and each can be made otherwise by name.
//!
//! ```
//! use core::time::Duration;
//! use pq_jose::jwk::PrivateJwk;
//! use pq_jose::jws::Header;
//! use pq_jose::jwt::{Claims, Policy};
//! use pq_x509::pki_types::UnixTime;
//! use pq_x509::{SignatureAlgorithm, SigningKey};
//!
//! let key = PrivateJwk::new(SigningKey::generate(SignatureAlgorithm::MlDsa44)?)?;
//! let now = UnixTime::now();
//! let claims = Claims::new().with_issuer("https://id.example.org").with_audience("shop")
//!     .with_subject("alice").with_lifetime(now, Duration::from_secs(600));
//! let token = claims.sign(&Header::new(), &key)?;
//!
//! let policy = Policy::new().issuer("https://id.example.org").audience("shop");
//! let verified = policy.verify(&token, key.public(), now)?;
//! assert_eq!(verified.claims().subject(), Some("alice"));
//! # Ok::<_, Box<dyn std::error::Error>>(())
//! ```
//!
//! Claims of an application's own are a type of its own:
//!
//! ```
//! # use core::time::Duration;
//! # use pq_jose::jwk::PrivateJwk;
//! # use pq_jose::jws::Header;
//! # use pq_jose::jwt::{Claims, Policy};
//! # use pq_x509::pki_types::UnixTime;
//! # use pq_x509::{SignatureAlgorithm, SigningKey};
//! # let key = PrivateJwk::new(SigningKey::generate(SignatureAlgorithm::MlDsa44)?)?;
//! # let now = UnixTime::now();
//! #[derive(serde::Deserialize, serde::Serialize)]
//! struct Role {
//!     role: String,
//! }
//!
//! let admin = Role { role: "admin".into() };
//! let claims = Claims::new().with_lifetime(now, Duration::from_secs(600)).with_more(admin);
//! let token = claims.sign(&Header::new(), &key)?;
//!
//! let verified = Policy::new().verify_with::<Role>(&token, key.public(), now)?;
//! assert_eq!(verified.claims().more().role, "admin");
//! # Ok::<_, Box<dyn std::error::Error>>(())
//! ```
//!
//! It uses `encoding`, [`jwk`](crate::jwk) and [`jws`](crate::jws).

mod claims;
mod error;
mod policy;
mod time;

pub use claims::{Claims, NoMore, further_claims};
pub use error::JwtError;
pub use policy::{Policy, VerifiedToken};
