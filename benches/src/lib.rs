//! Our operations beside other people's, on the same inputs and in the same run.
//!
//! * [`ml_kem`], [`ml_dsa`] and [`slh_dsa`]: one trait each for an implementation, the inputs, the
//!   check that all implementations agree, and the routines to time; [`set`] is what they share.
//! * `peers`: the implementations, one file each; [`openssl`] measures itself.
//! * [`batches`]: many of our operations in one call, beside the same one by one.
//! * [`handshake`]: whole TLS handshakes through memory; [`loopback`]: through TCP.
//! * [`growth`]: look-ups, by how many there are to look through.
//! * [`keccak`]: the permutation that most of the above consists of.
//! * [`measure()`]: the sampler.
//! * [`results`]: what it found, and where that is kept.
//!
//! `README.md` says how to run it and how to read the result.
#![forbid(unsafe_code)]

extern crate alloc;

pub mod batches;
pub mod growth;
pub mod handshake;
mod inputs;
pub mod keccak;
pub mod loopback;
mod measure;
pub mod ml_dsa;
pub mod ml_kem;
pub mod openssl;
mod peers;
pub mod results;
pub mod set;
pub mod slh_dsa;

pub use measure::{Effort, Passes, Row, measure, try_out};
