//! Algorithms by the names and the numbers that they have in TLS and in certificates.
//!
//! It may use [`tls`](crate::tls), and rustls and pq-x509 as everything here.

mod authentication;
mod certificate;
mod group;
mod scheme;

pub use authentication::Authentication;
pub(crate) use authentication::in_words;
pub use certificate::KeyAlgorithm;
pub(crate) use certificate::{Algorithms, Signature, Strength, name_of};
pub use group::{Group, UnknownGroup};
pub(crate) use scheme::scheme_of;
