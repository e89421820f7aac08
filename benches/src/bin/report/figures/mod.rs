//! What was measured, and what follows from it by arithmetic.
//!
//! Uses no other room.

pub(crate) mod floor;
pub(crate) mod operations;
pub(crate) mod tables;
