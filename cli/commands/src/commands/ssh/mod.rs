//! Keys of SSH, and signatures of files by them, as OpenSSH 10.6 has them.
//!
//! It uses what else is in the [room](super), and what that may use.

mod input;
mod new;
mod sign;
mod verify;

use crate::exit_status::ExitStatus;
use crate::failure::Failure;

/// Make keys of SSH, and sign and verify files with them
///
/// Keys are of ssh-mldsa44-ed25519, which OpenSSH knows from 10.6 on: a signature is one of ML-DSA-44 and one
/// of Ed25519 at once. "ssh-keygen -Y" verifies these signatures, and makes such.
#[derive(Debug, clap::Subcommand)]
pub(crate) enum Command {
    New(new::Arguments),
    Sign(sign::Arguments),
    Verify(verify::Arguments),
}

pub(crate) fn run(command: Command, json: bool) -> Result<ExitStatus, Failure> {
    match command {
        Command::New(arguments) => new::run(&arguments, json),
        Command::Sign(arguments) => sign::run(&arguments, json),
        Command::Verify(arguments) => verify::run(&arguments, json),
    }
}
