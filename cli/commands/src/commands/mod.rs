//! The commands, one file each: options and examples, what the command does, and the report that it prints.
//!
//! A new command is a file here, or in the folder of its group, and a line in the group's `enum`. It takes
//! files as [`Source`](crate::files::Source) and [`Destination`](crate::files::Destination), so that `-` works
//! as in other commands. It prints a [`Report`](crate::report::Report), whose schema is in `cli/schemas/`, and
//! fails with a [`Failure`]. Its examples are the lines of its help that begin with `$`: the tests run them
//! and put them into `docs/pqtls.md`.
//!
//! This room uses all others.

mod bench;
mod ca;
mod cert;
mod cms;
mod completion;
mod custody;
mod decrypt;
mod delivery;
mod dev;
mod encrypt;
mod former;
mod jwt;
mod key;
mod man;
mod ocsp;
mod pkcs12;
mod raw;
mod repeated;
mod replaced;
mod servers;
mod show;
mod ssh;
mod standard_input;
mod store;
mod text;
mod watched;

pub(crate) use former::{in_the_grammar_of_today, tip_for_value};

use std::ffi::OsString;

use clap::{ArgMatches, CommandFactory, FromArgMatches, Parser, Subcommand};

use crate::exit_status::{self, ExitStatus};
use crate::failure::Failure;

/// Post-quantum keys and certificates
///
/// Makes, shows and checks keys (ML-DSA, SLH-DSA and ML-KEM, and classical ones: ECDSA, Ed25519 and RSA),
/// requests and certificates for them, and CAs that issue certificates. Signs files and tokens and verifies
/// their signatures, also with SSH keys; signs and encrypts messages (CMS); encrypts files to a key (HPKE).
/// In place of a file, "-" is standard input or standard output. Files that exist are left alone
/// unless --force is given.
#[derive(Debug, Parser)]
#[command(
    name = "pqtls",
    version,
    subcommand_required = true,
    arg_required_else_help = true,
    after_help = exit_status::table(),
)]
pub(crate) struct Arguments {
    /// Print what was found or done as JSON; each report names its schema
    #[arg(long, global = true, display_order = 900)]
    pub(crate) json: bool,

    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    #[command(subcommand)]
    Key(key::Command),
    #[command(subcommand)]
    Cert(cert::Command),
    #[command(subcommand)]
    Ca(ca::Command),
    #[command(subcommand)]
    Ocsp(ocsp::Command),
    Dev(dev::Arguments),
    Show(show::Arguments),
    Sign(raw::sign::Arguments),
    Verify(raw::verify::Arguments),
    Mu(raw::mu::Arguments),
    Encaps(raw::encaps::Arguments),
    Decaps(raw::decaps::Arguments),
    Encrypt(encrypt::Arguments),
    Decrypt(decrypt::Arguments),
    #[command(subcommand)]
    Cms(cms::Command),
    #[command(subcommand)]
    Jwt(jwt::Command),
    #[command(subcommand)]
    Ssh(ssh::Command),
    #[command(subcommand)]
    Store(store::Command),
    Bench(bench::Arguments),
    Completion(completion::Arguments),
    Man(man::Arguments),
}

/// What a command line says, as commands take it and as clap has it.
pub(crate) fn parsed(command_line: &[OsString]) -> Result<(Arguments, ArgMatches), clap::Error> {
    let matches = Arguments::command().try_get_matches_from(command_line)?;
    let arguments = Arguments::from_arg_matches(&matches);
    let arguments = arguments.map_err(|error| error.format(&mut Arguments::command()))?;
    Ok((arguments, matches))
}

/// Runs the command that the command line asks for.
pub(crate) fn run(arguments: Arguments, matches: &ArgMatches) -> Result<ExitStatus, Failure> {
    bench::check_environment()?;
    standard_input::check(matches)?;
    replaced::check(matches)?;
    repeated::note(matches);
    let json = arguments.json;
    match arguments.command {
        Command::Key(command) => key::run(command, json),
        Command::Cert(command) => cert::run(command, json),
        Command::Ca(command) => ca::run(command, json),
        Command::Ocsp(command) => ocsp::run(command),
        Command::Dev(arguments) => dev::run(&arguments, json),
        Command::Show(arguments) => show::run(&arguments, json),
        Command::Sign(arguments) => raw::sign::run(&arguments, json),
        Command::Verify(arguments) => raw::verify::run(&arguments, json),
        Command::Mu(arguments) => raw::mu::run(&arguments, json),
        Command::Encaps(arguments) => raw::encaps::run(&arguments, json),
        Command::Decaps(arguments) => raw::decaps::run(&arguments, json),
        Command::Encrypt(arguments) => encrypt::run(&arguments, json),
        Command::Decrypt(arguments) => decrypt::run(&arguments, json),
        Command::Cms(command) => cms::run(command, json),
        Command::Jwt(command) => jwt::run(command, json),
        Command::Ssh(command) => ssh::run(command, json),
        Command::Store(command) => store::run(command, json),
        Command::Bench(arguments) => bench::run(&arguments, json),
        Command::Completion(arguments) => completion::run(&arguments, json),
        Command::Man(arguments) => man::run(&arguments, json),
    }
}
