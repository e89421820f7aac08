//! Which algorithms there are and which fit each other: digests for signatures, by RFC 9882 and RFC 9814,
//! and how a message names them.
//!
//! It uses nothing.

mod digest;
mod signature;

pub use digest::digests;
pub(crate) use digest::{digest_identifier, digest_named};
pub use signature::Weakness;
pub(crate) use signature::{usual_digest, verified_as, weakness};
