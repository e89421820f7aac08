//! Keys of recipients, for each KEM.
//!
//! It uses [`x_wing`](crate::x_wing).

mod kem;
mod keys;

pub use kem::Kem;
pub use keys::{KemError, RecipientKey, RecipientPublicKey};
