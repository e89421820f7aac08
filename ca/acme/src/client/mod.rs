//! A client's half, without input and output: from the directory to the certificate. A program sends the requests that
//! [`Obtaining`] asks for, hands it the answers, waits as long as it says, and shows what the challenges ask for.
//!
//! ```
//! use pq_acme::client::{Answer, Obtaining, Step, Wanted};
//! use pq_acme::identifier::Identifier;
//! use pq_acme::objects::{ChallengeKind, Time};
//! use pq_keys::{SignatureAlgorithm, SigningKey};
//! use pq_x509::request::CertificateRequest;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let account_key = SigningKey::generate(SignatureAlgorithm::MlDsa65)?;
//! let key = SigningKey::generate(SignatureAlgorithm::MlDsa65)?;
//! let csr = CertificateRequest::builder().dns_name("www.example.org").sign(&key)?;
//! let names = vec![Identifier::dns("www.example.org")?];
//! let wanted = Wanted::new(names, csr, vec![ChallengeKind::Http01]);
//! let mut obtaining = Obtaining::new("https://ca.example/directory", &account_key, wanted)?;
//! match obtaining.next(Time::from_secs(1_796_040_000))? {
//!     Step::Send(request) => assert_eq!(request.url, "https://ca.example/directory"),
//!     other => panic!("{other:?}"),
//! }
//! # Ok(())
//! # }
//! ```
//!
//! It uses [`challenge`](crate::challenge), [`identifier`](crate::identifier), [`jws`](crate::jws),
//! [`objects`](crate::objects) and [`problem`](crate::problem).

mod certificate;
mod chain;
mod error;
mod exchange;
mod obtaining;
pub mod renewal;
#[cfg(test)]
mod tests;
mod wanted;

pub use certificate::challenge_certificate;
pub use chain::{ChainError, lacking_name};
pub use error::{ClientError, Stage};
pub use exchange::{Answer, Method, Request};
pub use obtaining::{Issued, Obtaining, Shown, Step};
pub use wanted::{ExternalKey, Wanted, request_for};
