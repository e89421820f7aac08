//! The supertrait that closes parameter sets, dimensions, backends and vectors to other crates.

/// Prevents other crates from implementing this crate's traits.
///
/// It is public so that public traits can require it, and in a private module so that nobody else
/// can implement it.
pub trait Sealed {}
