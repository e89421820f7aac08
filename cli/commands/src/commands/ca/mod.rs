//! Commands for a CA in a folder: see [`Folder`](pq_ca::Folder).
//!
//! It may use the rest of its [room](super), and what that room may use.

mod crl;
mod entry;
pub(super) mod init;
mod issue;
mod issued;
mod list;
mod ocsp;
mod place;
mod reinstate;
mod renew;
mod revoke;
mod show;
pub(super) mod sign;
mod subject_key;
mod which;

use crate::exit_status::ExitStatus;
use crate::failure::Failure;

/// Make a CA, and issue and revoke certificates with it
#[derive(Debug, clap::Subcommand)]
pub(crate) enum Command {
    Init(init::Arguments),
    Issue(issue::Arguments),
    Sign(sign::Arguments),
    Renew(renew::Arguments),
    Revoke(revoke::Arguments),
    Reinstate(reinstate::Arguments),
    Crl(crl::Arguments),
    Ocsp(ocsp::Arguments),
    List(list::Arguments),
    Show(show::Arguments),
}

pub(crate) fn run(command: Command, json: bool) -> Result<ExitStatus, Failure> {
    match command {
        Command::Init(arguments) => init::run(&arguments, json),
        Command::Issue(arguments) => issue::run(&arguments, json),
        Command::Sign(arguments) => sign::run(&arguments, json),
        Command::Renew(arguments) => renew::run(&arguments, json),
        Command::Revoke(arguments) => revoke::run(&arguments, json),
        Command::Reinstate(arguments) => reinstate::run(&arguments, json),
        Command::Crl(arguments) => crl::run(&arguments, json),
        Command::Ocsp(arguments) => ocsp::run(&arguments, json),
        Command::List(arguments) => list::run(&arguments, json),
        Command::Show(arguments) => show::run(&arguments, json),
    }
}
