//! The doors of a certificate authority over HTTP.
//!
#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]
#![allow(
    clippy::std_instead_of_alloc,
    clippy::std_instead_of_core,
    reason = "servers have std"
)]

pub mod validation;
