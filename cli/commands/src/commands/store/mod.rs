//! Commands on a key store: keys with versions, policies and an audit log, whose private keys don't leave it.
//!
//! It may use the rest of its [room](super), and what that room may use.

mod arguments;
mod attest;
mod attestation;
mod audit;
mod backup;
mod check;
mod confirm_time;
mod copying;
mod decaps;
mod encaps;
mod export;
mod grants;
mod import;
mod init;
mod input;
mod list;
mod made;
mod moment;
mod new;
mod policy;
mod public;
mod restore;
mod rewrap;
mod rotate;
mod serve;
mod show;
mod sign;
mod signature;
mod state;
mod texts;
mod trim;
mod verify;
mod verify_attestation;

use crate::exit_status::ExitStatus;
use crate::failure::Failure;

/// Keep keys in a store, with versions, policies and an audit log
#[derive(Debug, clap::Subcommand)]
pub(crate) enum Command {
    Init(init::Arguments),
    New(new::Arguments),
    Import(import::Arguments),
    List(list::Arguments),
    Show(show::Arguments),
    Public(public::Arguments),
    Sign(sign::Arguments),
    Verify(verify::Arguments),
    Encaps(encaps::Arguments),
    Decaps(decaps::Arguments),
    Rotate(rotate::Arguments),
    Disable(state::Disable),
    Enable(state::Enable),
    ScheduleDestruction(state::Schedule),
    CancelDestruction(state::Cancel),
    Destroy(state::Destroy),
    Trim(trim::Arguments),
    Export(export::Arguments),
    #[command(subcommand)]
    Policy(policy::Command),
    #[command(subcommand)]
    Grants(grants::Command),
    Attest(attest::Arguments),
    VerifyAttestation(verify_attestation::Arguments),
    #[command(subcommand)]
    Audit(audit::Command),
    Check(check::Arguments),
    ConfirmTime(confirm_time::Arguments),
    Rewrap(rewrap::Arguments),
    Backup(backup::Arguments),
    Restore(restore::Arguments),
    Serve(Box<serve::Arguments>),
}

pub(crate) fn run(command: Command, json: bool) -> Result<ExitStatus, Failure> {
    match command {
        Command::Init(arguments) => init::run(&arguments, json),
        Command::New(arguments) => new::run(&arguments, json),
        Command::Import(arguments) => import::run(&arguments, json),
        Command::List(arguments) => list::run(&arguments, json),
        Command::Show(arguments) => show::run(&arguments, json),
        Command::Public(arguments) => public::run(&arguments, json),
        Command::Sign(arguments) => sign::run(&arguments, json),
        Command::Verify(arguments) => verify::run(&arguments, json),
        Command::Encaps(arguments) => encaps::run(&arguments, json),
        Command::Decaps(arguments) => decaps::run(&arguments, json),
        Command::Rotate(arguments) => rotate::run(&arguments, json),
        Command::Disable(arguments) => arguments.run(json),
        Command::Enable(arguments) => arguments.run(json),
        Command::ScheduleDestruction(arguments) => arguments.run(json),
        Command::CancelDestruction(arguments) => arguments.run(json),
        Command::Destroy(arguments) => arguments.run(json),
        Command::Trim(arguments) => trim::run(&arguments, json),
        Command::Export(arguments) => export::run(&arguments, json),
        Command::Policy(command) => policy::run(command, json),
        Command::Grants(command) => grants::run(command, json),
        Command::Attest(arguments) => attest::run(&arguments, json),
        Command::VerifyAttestation(arguments) => verify_attestation::run(&arguments, json),
        Command::Audit(command) => audit::run(command, json),
        Command::Check(arguments) => check::run(&arguments, json),
        Command::ConfirmTime(arguments) => confirm_time::run(&arguments, json),
        Command::Rewrap(arguments) => rewrap::run(&arguments, json),
        Command::Backup(arguments) => backup::run(&arguments, json),
        Command::Restore(arguments) => restore::run(&arguments, json),
        Command::Serve(arguments) => serve::run(&arguments),
    }
}
