//! Keys: made, read and written, and what they do.
//!
//! Everything that may take more than five microseconds lets other threads run meanwhile.

mod any;
mod computed_once;
mod encapsulation;
mod encrypted;
mod files;
mod message;
mod private;
mod public;
mod signing;

pub(crate) use any::{into_python, load_private_key, load_public_key};
pub(crate) use encapsulation::{DecapsulationKey, EncapsulationKey};
pub(crate) use message::{HashedMessage, MessageHasher, options};
pub(crate) use signing::{Prepared, SigningKey, VerifyingKey};
