//! Messages that are signed and encrypted, read again, altered, and made by hand to do harm.

mod attributes_as_content;
mod bytes;
mod certificates_alone;
mod enveloped;
mod hostile;
mod hostile_envelopes;
mod inspection;
mod memory;
mod pem;
mod people;
mod reencoded;
mod signed;
mod vectors;
