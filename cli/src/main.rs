//! The program `pqtls`. All of it is in the library beside this file, which tests can ask for its
//! commands.
#![forbid(unsafe_code)]

use std::process::ExitCode;

fn main() -> ExitCode {
    pqtls::run(std::env::args_os())
}
