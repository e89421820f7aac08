//! Commands on keys.
//!
//! It may use the rest of its [room](super), and what that room may use.

mod check;
mod convert;
mod decrypt;
pub(super) mod encode;
mod encrypt;
mod export;
mod facts;
mod import;
mod new;
pub(super) mod protect;
mod public;
mod show;

pub(super) use self::facts::KeyFacts;
use crate::exit_status::ExitStatus;
use crate::failure::Failure;

/// Make, show, convert, encrypt and check keys
#[derive(Debug, clap::Subcommand)]
pub(crate) enum Command {
    New(new::Arguments),
    Show(show::Arguments),
    Public(public::Arguments),
    Convert(convert::Arguments),
    Encrypt(encrypt::Arguments),
    Decrypt(decrypt::Arguments),
    Export(export::Arguments),
    Import(import::Arguments),
    Check(check::Arguments),
}

pub(crate) fn run(command: Command, json: bool) -> Result<ExitStatus, Failure> {
    match command {
        Command::New(arguments) => new::run(&arguments, json),
        Command::Show(arguments) => show::run(&arguments, json),
        Command::Public(arguments) => public::run(&arguments, json),
        Command::Convert(arguments) => convert::run(&arguments, json),
        Command::Encrypt(arguments) => encrypt::run(&arguments, json),
        Command::Decrypt(arguments) => decrypt::run(&arguments, json),
        Command::Export(arguments) => export::run(&arguments, json),
        Command::Import(arguments) => import::run(&arguments, json),
        Command::Check(arguments) => check::run(&arguments, json),
    }
}
