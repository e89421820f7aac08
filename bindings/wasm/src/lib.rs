//! pq-keys's keys for JavaScript: the inner half of the npm package `pqtls`. The outer half, in `js/`, has the
//! classes that users see; it checks the types of arguments and makes errors of a class of its own.
//!
//! Secrets come as a `Vec`, which is wiped here, and go as a `Uint8Array` that is copied from memory which is wiped
//! here. So no copy stays in the module's memory. JavaScript's own copies are left to its garbage collector.

#![forbid(unsafe_code)]

mod failure;
mod javascript;
mod keys;
