//! The names and numbers of algorithms in TLS and in certificates; which algorithms a certificate or
//! a chain uses, and how strong they are.
//!
//! It uses [`tls`](crate::tls).

mod authentication;
mod certificate;
mod group;
mod key;
pub(crate) mod oid;
mod scheme;
mod signature;
mod strength;

pub use authentication::Authentication;
pub(crate) use authentication::in_words;
pub(crate) use certificate::{Algorithms, name_of};
pub use group::{Group, UnknownGroup};
pub use key::KeyAlgorithm;
pub(crate) use scheme::scheme_of;
pub(crate) use signature::Signature;
pub(crate) use strength::Strength;
