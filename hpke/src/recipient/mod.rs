//! Keys of recipients, for each KEM.
//!
//! It uses [`suite`](crate::suite), for the KDF of DHKEM.

mod diffie_hellman;
mod error;
mod kem;
mod keys;

pub use error::KemError;
pub use kem::Kem;
pub use keys::{RecipientKey, RecipientPublicKey};
