//! The library for C: pq-core's algorithms, and keys in PEM and DER of pq-keys.
//!
//! [`ffi`] has the functions, and is the only place for `unsafe` code. [`algorithms`], [`sizes`] and
//! [`error`] have the numbers that are in the header.
//!
//! A panic ends the process, as in every `extern "C"` function: it never unwinds into C.
#![deny(unsafe_code)]

pub mod algorithms;
pub mod error;
#[expect(unsafe_code, reason = "what C passes is pointers")]
pub mod ffi;
pub mod sizes;
