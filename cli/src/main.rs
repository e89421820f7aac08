//! The program `pqtls`.
//!
//! Its commands are in the package beside this one, which is compiled for size. The released program is
//! optimised as a whole, at the level of this package, which is therefore compiled for speed.
#![forbid(unsafe_code)]

use std::process::ExitCode;

fn main() -> ExitCode {
    pqtls_commands::run(std::env::args_os())
}
