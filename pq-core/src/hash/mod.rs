//! The hash functions of the standards.
//!
//! [`sha3`] computes one SHA-3 or SHAKE at a time; [`lanes`] keeps all Keccak lanes
//! of the CPU busy with independent ones; [`sha2`] is SHA-2.

pub(crate) mod lanes;
pub(crate) mod sha2;
pub(crate) mod sha3;
