//! Our operations beside other people's, on the same inputs and in the same run.
//!
//! * [`ml_kem`] and [`ml_dsa`]: one trait each for an implementation, the inputs, the
//!   check that all implementations agree, and the routines to time.
//! * `peers`: the implementations, one file each.
//! * [`handshake`]: whole TLS handshakes through memory.
//! * [`measure()`]: rows of a table as a criterion group.
//!
//! `README.md` says how to run it and how to read the result.
#![forbid(unsafe_code)]

extern crate alloc;

pub mod handshake;
mod inputs;
mod measure;
pub mod ml_dsa;
pub mod ml_kem;
mod peers;

pub use measure::{Passes, config, measure, measuring};
