//! The encoding of documents of any kind: PEM blocks, and the rules of DER that `der` leaves
//! unchecked; and how times are written.
//!
//! It uses [`errors`](crate::errors).

mod base64;
mod identifier;
pub mod pem;
mod rsa;
pub mod syntax;
mod time;
mod whole;

pub use identifier::identifier_in;
#[cfg(feature = "classical")]
pub(crate) use rsa::bit_len;
pub use rsa::rsa_bits;
pub use time::rfc3339;
pub use whole::to_der;
