//! Keys of recipients, for each KEM.
//!
//! It uses no other module of this crate.

mod kem;
mod keys;

pub use kem::Kem;
pub use keys::{KemError, RecipientKey, RecipientPublicKey};
