//! A store of keys: versions of each key, policies of who may do what, private keys sealed at rest, and an audit log that
//! nobody can cut or change unseen.
#![forbid(unsafe_code)]

extern crate alloc;

mod name;
pub mod storage;

pub use name::{InvalidName, KeyId, KeyName, Version};
