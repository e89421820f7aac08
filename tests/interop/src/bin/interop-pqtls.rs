//! The program `pqtls`, for the tests of this package: cargo gives tests the programs of their own
//! package, and of no other.

use std::process::ExitCode;

fn main() -> ExitCode {
    pqtls_commands::run(std::env::args_os())
}
