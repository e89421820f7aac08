//! pq-x509's keys for JavaScript: the inner half of the npm package `pqtls`. The outer half, in `js/`, has the
//! classes that users see; it checks the types of arguments and makes errors of a class of its own.
//!
//! What is secret comes as a `Vec`, which is wiped here, and goes as a `Uint8Array` made of what is wiped here: so
//! no copy of it stays in the module's memory. JavaScript's own copies are its collector's.

#![forbid(unsafe_code)]

mod failure;
mod keys;
