//! Operations of keys on bytes: signatures of files, and shared secrets.
//!
//! It may use the rest of its [room](super), and what that room may use.

pub(super) mod decaps;
pub(super) mod encaps;
pub(super) mod format;
pub(super) mod message;
pub(super) mod mu;
pub(super) mod secret;
pub(super) mod sign;
pub(super) mod verify;
