//! The program `pqtls`, for the tests of this package: cargo gives tests only the programs of their own
//! package.

use std::process::ExitCode;

fn main() -> ExitCode {
    pqtls_commands::run(std::env::args_os())
}
