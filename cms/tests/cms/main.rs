//! Messages that are signed and encrypted, read again, altered, and made by hand to do harm.

extern crate alloc;

mod bytes;
mod enveloped;
mod hostile;
mod hostile_envelopes;
mod inspection;
mod pem;
mod people;
mod signed;
mod vectors;
