//! Commands on tokens.
//!
//! It may use the rest of its [room](super), and what that room may use.

mod sign;
mod verify;

use crate::exit_status::ExitStatus;
use crate::failure::Failure;

/// Sign and verify JSON Web Tokens (RFC 7519) with ML-DSA
#[derive(Debug, clap::Subcommand)]
pub(crate) enum Command {
    Sign(Box<sign::Arguments>),
    Verify(Box<verify::Arguments>),
}

pub(crate) fn run(command: Command, json: bool) -> Result<ExitStatus, Failure> {
    match command {
        Command::Sign(arguments) => sign::run(&arguments, json),
        Command::Verify(arguments) => verify::run(&arguments, json),
    }
}
