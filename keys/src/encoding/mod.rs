//! The encoding of documents of any kind: PEM blocks, and the rules of DER that `der` leaves
//! unchecked.
//!
//! It uses [`errors`](crate::errors).

mod base64;
pub mod pem;
pub mod syntax;
mod whole;

pub use pem::PemError;
pub use syntax::{SyntaxError, whole_octets};
pub use whole::to_der;
