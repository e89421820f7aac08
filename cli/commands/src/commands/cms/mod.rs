//! Messages (CMS): signed, verified, encrypted, decrypted and shown, of any size in constant memory.
//!
//! It may use the rest of its [room](super), and what that room may use.

mod decrypt;
mod encrypt;
mod input;
mod show;
mod sign;
mod verify;

use core::fmt;

use crate::exit_status::ExitStatus;
use crate::failure::Failure;

/// Sign, verify, encrypt and decrypt messages (CMS, RFC 5652)
///
/// "openssl cms" reads them, in DER and PEM. Files may be of any size: they are read once, in little memory.
/// No content is written before it is authenticated.
#[derive(Debug, clap::Subcommand)]
pub(crate) enum Command {
    Sign(Box<sign::Arguments>),
    Verify(verify::Arguments),
    Encrypt(encrypt::Arguments),
    Decrypt(decrypt::Arguments),
    Show(show::Arguments),
}

pub(crate) fn run(command: Command, json: bool) -> Result<ExitStatus, Failure> {
    match command {
        Command::Sign(arguments) => sign::run(&arguments, json),
        Command::Verify(arguments) => verify::run(&arguments, json),
        Command::Encrypt(arguments) => encrypt::run(&arguments, json),
        Command::Decrypt(arguments) => decrypt::run(&arguments, json),
        Command::Show(arguments) => show::run(&arguments, json),
    }
}

/// A line about content that is not plain data: what was signed as something else, such as a time stamp, is no file that
/// somebody signed.
fn write_unusual_type(f: &mut fmt::Formatter<'_>, content_type: Option<&str>) -> fmt::Result {
    match content_type {
        None | Some("data") => Ok(()),
        Some(other) => writeln!(f, "  the content is not a file, but of the type {other}"),
    }
}
