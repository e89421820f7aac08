//! Which hash functions go with which signature algorithms (RFC 9882, RFC 9814), and how a message names
//! them.
//!
//! It uses no other module of this crate.

mod digest;
mod signature;

pub use digest::digests;
pub(crate) use digest::{digest_identifier, digest_named};
pub use signature::Weakness;
pub(crate) use signature::{usual_digest, verified_as, weakness};
