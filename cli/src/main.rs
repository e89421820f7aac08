//! The program `pqtls`, which is its commands: the package beside this one, which is compiled for size. What
//! is quick has to be optimised by this package's own level, since all crates are optimised together.
#![forbid(unsafe_code)]

use std::process::ExitCode;

fn main() -> ExitCode {
    pqtls_commands::run(std::env::args_os())
}
