//! The inner loops, each written once.
//!
//! A kernel is a struct that holds its operands and implements
//! [`Kernel`](crate::arch::Kernel) for every backend. Keccak, the transforms and
//! ML-DSA's products are written over the vector traits; other loops without dependencies between
//! coefficients are written per coefficient and compiled with each backend's
//! instructions. Each kernel states the bounds of what it takes and gives, and
//! asserts them in debug builds.

pub(crate) mod keccak;
pub(crate) mod ml_dsa;
pub(crate) mod ml_kem;
pub(crate) mod ntt;
pub(crate) mod packing;
pub(crate) mod sha2;
pub(crate) mod slh_dsa;
