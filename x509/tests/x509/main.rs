//! Tests of the crate through its public interface.

extern crate alloc;

mod classical;
mod errors;
mod far_values;
mod issuance;
mod keys;
mod linting;
mod many;
mod names;
mod ocsp;
mod parsers;
#[cfg(feature = "pkcs12")]
mod pkcs12;
mod pki;
#[cfg(feature = "encryption")]
mod protection;
mod requests;
mod revocation;
mod revocation_kinds;
mod rfc_vectors;
mod signatures;
#[path = "../../../tests/skipped/src/lib.rs"]
mod skipped;
mod slh_dsa;
#[path = "../../../tests/spent.rs"]
mod spent;
mod syntax;
mod unsound;
mod validation;
