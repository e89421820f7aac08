//! The measurements, and what follows from them by arithmetic.
//!
//! Uses no other room.

pub(crate) mod floor;
pub(crate) mod operations;
pub(crate) mod tables;
