//! Messages signed and encrypted, read again, altered, and made by hand to do harm.

extern crate alloc;

mod bytes;
mod hostile;
mod pem;
mod people;
mod signed;
mod vectors;
