//! SSH keys, and signatures of files by them, as in OpenSSH 10.6.
//!
//! It may use the rest of its [room](super), and what that room may use.

mod input;
mod new;
mod sign;
mod verify;

use crate::exit_status::ExitStatus;
use crate::failure::Failure;

/// Make SSH keys, and sign and verify files with them
///
/// The keys have the type ssh-mldsa44-ed25519, which OpenSSH supports from 10.6 on: each signature consists of
/// one by ML-DSA-44 and one by Ed25519. "ssh-keygen -Y" makes and verifies such signatures, too.
#[derive(Debug, clap::Subcommand)]
pub(crate) enum Command {
    New(new::Arguments),
    Sign(Box<sign::Arguments>),
    Verify(verify::Arguments),
}

pub(crate) fn run(command: Command, json: bool) -> Result<ExitStatus, Failure> {
    match command {
        Command::New(arguments) => new::run(&arguments, json),
        Command::Sign(arguments) => sign::run(&arguments, json),
        Command::Verify(arguments) => verify::run(&arguments, json),
    }
}
