//! Tests of the crate through its public interface.

extern crate alloc;

mod classical;
mod errors;
mod far_values;
mod issuance;
mod linting;
mod many;
mod names;
mod ocsp;
mod parsers;
#[cfg(feature = "pkcs12")]
mod pkcs12;
mod pki;
#[path = "../../../keys/tests/keys/quick.rs"]
mod quick;
mod requests;
mod revocation;
mod revocation_kinds;
mod rfc_vectors;
mod rollover;
mod slh_dsa;
mod syntax;
mod unsound;
mod unusual;
mod validation;
