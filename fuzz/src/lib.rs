//! What the targets share: bytes that the fuzzer makes, bytes that it edits, and keys and
//! certificates to begin with, which are the same in every run.
#![forbid(unsafe_code)]

pub mod cms;
pub mod der;
mod edit;
pub mod hello;
pub mod identities;
pub mod jose;
pub mod names;
#[cfg(feature = "openssl")]
pub mod openssl;
pub mod pki;
pub mod signatures;
pub mod stores;
pub mod tls;

pub use edit::{Bytes, Edit};

/// The element that an index from the fuzzer chooses.
pub fn one_of<T: Clone>(all: &[T], index: u8) -> T {
    all[usize::from(index) % all.len()].clone()
}
