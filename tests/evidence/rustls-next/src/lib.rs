//! rustls 0.24 as it is before its release, with the key exchange and the signatures of
//! `rustls-pq`: the files that these modules name are the provider's own. What is here
//! beside them is all that a port has to write.
//!
//! Not for use: rustls 0.24 may change until it is released.
#![forbid(unsafe_code)]

mod algorithms;
pub mod kx;
pub mod sign;
mod tls;
pub mod verify;

pub use algorithms::{Group, UnknownGroup};
