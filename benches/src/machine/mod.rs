//! The machine: its cores, and programs that run on one of them, on Linux.
//!
//! Uses no other room.

pub(crate) mod cores;
pub(crate) mod process;
