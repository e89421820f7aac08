//! What a key does, on bytes: signatures of files, and shared secrets.
//!
//! It uses what else is in the [room](super), and what that may use.

pub(super) mod decaps;
pub(super) mod encaps;
mod format;
mod message;
pub(super) mod mu;
pub(super) mod sign;
pub(super) mod verify;
