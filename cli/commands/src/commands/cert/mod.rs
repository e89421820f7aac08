//! Commands on certificates.
//!
//! It may use the rest of its [room](super), and what that room may use.

mod bundle;
mod fingerprint;
mod import;
mod lint;
mod lint_rules;
mod names;
mod needs_renewal;
mod obtain;
mod ocsp_request;
mod purpose;
mod request;
mod self_sign;
mod show;
mod verify;

pub(super) use self::names::TakesNames;
use crate::exit_status::ExitStatus;
use crate::failure::Failure;

/// Request, obtain, make, show, verify and lint certificates
#[derive(Debug, clap::Subcommand)]
pub(crate) enum Command {
    Request(request::Arguments),
    Obtain(Box<obtain::Arguments>),
    SelfSign(self_sign::Arguments),
    Show(show::Arguments),
    Bundle(bundle::Arguments),
    Import(import::Arguments),
    Verify(verify::Arguments),
    OcspRequest(ocsp_request::Arguments),
    Lint(lint::Arguments),
    Fingerprint(fingerprint::Arguments),
    NeedsRenewal(needs_renewal::Arguments),
}

pub(crate) fn run(command: Command, json: bool) -> Result<ExitStatus, Failure> {
    match command {
        Command::Request(arguments) => request::run(&arguments, json),
        Command::Obtain(arguments) => obtain::run(&arguments, json),
        Command::SelfSign(arguments) => self_sign::run(&arguments, json),
        Command::Show(arguments) => show::run(&arguments, json),
        Command::Bundle(arguments) => bundle::run(&arguments, json),
        Command::Import(arguments) => import::run(&arguments, json),
        Command::Verify(arguments) => verify::run(&arguments, json),
        Command::OcspRequest(arguments) => ocsp_request::run(&arguments, json),
        Command::Lint(arguments) => lint::run(&arguments, json),
        Command::Fingerprint(arguments) => fingerprint::run(&arguments, json),
        Command::NeedsRenewal(arguments) => needs_renewal::run(&arguments, json),
    }
}
