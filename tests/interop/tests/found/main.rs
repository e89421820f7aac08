//! Inputs that reviewers found to go wrong, from `../shared/found`, whose README says what each is. Where that
//! folder is missing, these tests say so and pass.
//!
//! Each area has a file with its own table or tests.

use interop::found::Found;

mod attributes;
mod certificates;
mod keys;
mod ledger;
mod lists;
mod names;
mod paths;
mod pem;
mod pkcs12;
mod stapling;

/// The inputs, and the program to run on them.
fn found() -> Option<Found> {
    Found::new(env!("CARGO_BIN_EXE_interop-pqtls"))
}

#[test]
fn the_inputs_are_described() {
    let Some(found) = found() else { return };
    assert!(!found.read("README.md").is_empty());
}
