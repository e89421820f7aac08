//! Signed JSON Web Tokens (RFC 7519), with the best current practices (RFC 8725).
//!
//! A [`Policy`] decides which tokens are accepted. By default it refuses tokens without an expiry, tokens with an
//! issuer or an audience that it does not name, and tokens of another type. Each of these decisions can be changed
//! by a method of its own.
//!
//! ```
//! use core::time::Duration;
//! use pq_jose::jwk::PrivateJwk;
//! use pq_jose::jws::Header;
//! use pq_jose::jwt::{Claims, Policy};
//! use pq_keys::pki_types::UnixTime;
//! use pq_keys::{SignatureAlgorithm, SigningKey};
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
//! The claims of an application have a type of their own:
//!
//! ```
//! # use core::time::Duration;
//! # use pq_jose::jwk::PrivateJwk;
//! # use pq_jose::jws::Header;
//! # use pq_jose::jwt::{Claims, Policy};
//! # use pq_keys::pki_types::UnixTime;
//! # use pq_keys::{SignatureAlgorithm, SigningKey};
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
