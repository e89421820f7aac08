//! The functions of the library: what is in `include/pqtls.h`.
//!
//! [`memory`] makes references of pointers once they have been checked; what calls it does so for all
//! arguments before it touches one of them. It uses `algorithms`, `error` and `sizes`.
#![expect(
    clippy::missing_safety_doc,
    reason = "what all functions ask for stands once, at the head of the header: see cbindgen.toml"
)]

#[cfg(feature = "bench")]
pub mod bench;
pub mod key_files;
mod memory;
pub mod ml_dsa;
pub mod ml_kem;
pub mod random;
pub mod slh_dsa;
pub mod storage;
pub mod text;
