//! Commands for OCSP (RFC 6960) that need no CA of this program's.
//!
//! It may use the rest of its [room](super), and what that room may use.

mod serve;

use crate::exit_status::ExitStatus;
use crate::failure::Failure;

/// Answer OCSP requests for a CA that has no responder
#[derive(Debug, clap::Subcommand)]
pub(crate) enum Command {
    Serve(Box<serve::Arguments>),
}

pub(crate) fn run(command: Command) -> Result<ExitStatus, Failure> {
    match command {
        Command::Serve(arguments) => serve::run(&arguments),
    }
}
