//! Commands for a CA in a folder: see [`Folder`](pq_ca::folder::Folder).
//!
//! It may use the rest of its [room](super), and what that room may use.

mod accounts;
mod acme_objects;
mod adopt;
mod audit;
mod below;
mod ca_key;
mod certify;
mod crl;
mod entry;
pub(super) mod init;
mod install;
mod issue;
mod issued;
mod list;
mod move_ledger;
mod ocsp;
mod opened;
mod own_files;
mod own_keys;
mod place;
mod reinstate;
mod renew;
mod revoke;
mod rollover;
mod same_key;
mod serve;
mod shortened;
mod show;
pub(super) mod sign;
mod signals;
mod subject_key;
mod which;
mod which_key;

pub(super) use self::acme_objects::ObjectsPlace;
use self::issued::CertificateOptions;
use self::place::Place;
pub(super) use self::place::folder_by_default;
use self::subject_key::SubjectKeyOptions;
pub(super) use self::which::Which;
use crate::exit_status::ExitStatus;
use crate::failure::Failure;
use crate::files::Destination;

/// Make a CA, and issue and revoke certificates with it
#[derive(Debug, clap::Subcommand)]
pub(crate) enum Command {
    Init(init::Arguments),
    Certify(certify::Arguments),
    Install(install::Arguments),
    Rollover(rollover::Arguments),
    Issue(issue::Arguments),
    Sign(sign::Arguments),
    Renew(renew::Arguments),
    Revoke(revoke::Arguments),
    Reinstate(reinstate::Arguments),
    Adopt(adopt::Arguments),
    Crl(crl::Arguments),
    Ocsp(ocsp::Arguments),
    Serve(Box<serve::Arguments>),
    Accounts(accounts::Arguments),
    List(list::Arguments),
    Show(show::Arguments),
    Move(move_ledger::Arguments),
    Audit(audit::Arguments),
}

impl Command {
    /// Where the CA is, and whether the command uses the root's key.
    fn place(&self) -> (&Place, bool) {
        match self {
            Self::Init(arguments) => (&arguments.place, false),
            Self::Certify(arguments) => (&arguments.place, true),
            Self::Install(arguments) => (&arguments.place, false),
            Self::Rollover(arguments) => (&arguments.place, arguments.is_by_the_root()),
            Self::Issue(arguments) => (&arguments.place, false),
            Self::Sign(arguments) => (&arguments.place, false),
            Self::Renew(arguments) => (&arguments.place, false),
            Self::Revoke(arguments) => (&arguments.place, false),
            Self::Reinstate(arguments) => (&arguments.place, false),
            Self::Adopt(arguments) => (&arguments.place, false),
            Self::Crl(arguments) => (&arguments.place, arguments.root),
            Self::Ocsp(arguments) => (&arguments.place, arguments.root),
            Self::Serve(arguments) => (&arguments.place, false),
            Self::Accounts(arguments) => (&arguments.place, false),
            Self::List(arguments) => (&arguments.place, false),
            Self::Show(arguments) => (&arguments.place, false),
            Self::Move(arguments) => (&arguments.place, false),
            Self::Audit(arguments) => (&arguments.place, false),
        }
    }

    /// Where the command writes.
    fn results(&self) -> Result<Vec<Destination>, Failure> {
        Ok(match self {
            Self::Init(arguments) => arguments.above.request.iter().cloned().collect(),
            Self::Rollover(arguments) => arguments.above.request.iter().cloned().collect(),
            Self::Certify(arguments) => vec![arguments.certificate.output.out.clone()],
            Self::Issue(arguments) => with_new_key(&arguments.certificate, &arguments.key),
            Self::Renew(arguments) => with_new_key(&arguments.certificate, &arguments.key),
            Self::Sign(arguments) => arguments.destinations()?,
            Self::Crl(arguments) => vec![arguments.output.out.clone()],
            Self::Ocsp(arguments) => vec![arguments.output.out.clone()],
            Self::Show(arguments) => vec![arguments.certificate.output.out.clone()],
            Self::Audit(arguments) => arguments.new_head.iter().cloned().collect(),
            Self::Install(_)
            | Self::Revoke(_)
            | Self::Reinstate(_)
            | Self::Adopt(_)
            | Self::Serve(_)
            | Self::Accounts(_)
            | Self::List(_)
            | Self::Move(_) => Vec::new(),
        })
    }
}

fn with_new_key(certificate: &CertificateOptions, key: &SubjectKeyOptions) -> Vec<Destination> {
    let out = [certificate.output.out.clone()];
    out.into_iter().chain(key.new_key.clone()).collect()
}

pub(crate) fn run(command: Command, json: bool) -> Result<ExitStatus, Failure> {
    let (place, of_root) = command.place();
    let options = place.options();
    let done = own_files::check(&command).and_then(|()| act(command, json));
    done.map_err(|failure| match failure {
        // about another CA than the one of the command
        failure @ Failure::AtCa { .. } => failure,
        failure => Failure::AtCa {
            failure: failure.into(),
            options,
            of_root,
        },
    })
}

fn act(command: Command, json: bool) -> Result<ExitStatus, Failure> {
    match command {
        Command::Init(arguments) => init::run(&arguments, json),
        Command::Certify(arguments) => certify::run(&arguments, json),
        Command::Install(arguments) => install::run(&arguments, json),
        Command::Rollover(arguments) => rollover::run(&arguments, json),
        Command::Issue(arguments) => issue::run(&arguments, json),
        Command::Sign(arguments) => sign::run(&arguments, json),
        Command::Renew(arguments) => renew::run(&arguments, json),
        Command::Revoke(arguments) => revoke::run(&arguments, json),
        Command::Reinstate(arguments) => reinstate::run(&arguments, json),
        Command::Adopt(arguments) => adopt::run(&arguments, json),
        Command::Crl(arguments) => crl::run(&arguments, json),
        Command::Ocsp(arguments) => ocsp::run(&arguments, json),
        Command::Serve(arguments) => serve::run(&arguments),
        Command::Accounts(arguments) => accounts::run(&arguments, json),
        Command::List(arguments) => list::run(&arguments, json),
        Command::Show(arguments) => show::run(&arguments, json),
        Command::Move(arguments) => move_ledger::run(&arguments, json),
        Command::Audit(arguments) => audit::run(&arguments, json),
    }
}
