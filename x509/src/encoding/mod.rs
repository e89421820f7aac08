//! How documents of any kind are written down: PEM blocks, and the rules of DER that `der` leaves
//! unchecked.
//!
//! It uses no other room.

pub(crate) mod pem;
pub(crate) mod syntax;

pub use syntax::SyntaxError;
