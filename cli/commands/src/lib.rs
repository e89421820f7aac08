//! Post-quantum keys and certificates from the command line.
//!
//! This library is the program `pqtls` and has no other use: other programs use [`pq_x509`], [`pq_ca`]
//! and [`rustls_pq`]. Its rooms, each of which may use rooms above it:
//!
//! | room | what it is for |
//! |---|---|
//! | `exit_status` | how a command ends, for the shell |
//! | `files` | reading and writing files, standard input and standard output |
//! | `shell` | command lines that a reader can copy |
//! | `progress` | the progress of long operations |
//! | `passphrases` | where passphrases come from |
//! | `keys` | post-quantum and classical keys as one type |
//! | `words` | errors of the libraries in the words of the command line, and names of algorithms |
//! | `documents` | what is in a file: keys, certificates, revocation lists and OCSP messages in PEM or DER |
//! | `chains` | which certificate issued which |
//! | `report` | what a command prints, for people and as JSON |
//! | `arguments` | values on the command line: algorithms, times, subjects |
//! | `failure` | why a command failed, and its exit status |
//! | `commands` | the commands, one file each |
#![forbid(unsafe_code)]

extern crate alloc;

mod arguments;
mod chains;
mod commands;
mod documents;
mod exit_status;
mod failure;
mod files;
mod keys;
mod kind;
mod passphrases;
mod progress;
mod report;
mod shell;
mod words;

use std::ffi::OsString;
use std::io::{self, Write};
use std::panic;
use std::process::{self, ExitCode};

use clap::CommandFactory;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use pq_keystore::StoreError;
use pq_keystore::storage::RedbStorage;

use self::commands::Arguments;
use self::exit_status::ExitStatus;
use self::failure::Failure;

/// The doctests compile and run the page's Rust examples; `tests/program` runs its commands.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/documents.md")]
struct DocumentsPage;

/// Runs the program with a command line and returns its exit status.
///
/// The first word of the command line is the program's own name.
pub fn run(command_line: impl IntoIterator<Item = OsString>) -> ExitCode {
    let command_line: Vec<OsString> = command_line.into_iter().collect();
    let status = match commands::parsed(&command_line) {
        Ok((arguments, matches)) => {
            let json = arguments.json;
            say_what_panics_mean(json);
            match commands::run(arguments, &matches) {
                Ok(status) => status,
                Err(failure) => fail(&failure, json),
            }
        }
        Err(error) => explain(&error, &command_line),
    };
    status.into()
}

/// Says why a command failed.
fn fail(failure: &Failure, json: bool) -> ExitStatus {
    let status = failure.status();
    let text = shell::with_repeated(&failure.to_string());
    if json {
        report::print_failure(&text, status as u8, failure.code());
    }
    complain(&format!("pqtls: {text}\n"));
    status
}

/// redb panics where a store's file isn't as it wrote it. The released program aborts when it panics, so what that means is
/// said before.
fn say_what_panics_mean(json: bool) {
    let others = panic::take_hook();
    panic::set_hook(Box::new(move |panic| {
        match RedbStorage::damage_of_panic() {
            Some(damage) => {
                let status = fail(&StoreError::Storage(damage).into(), json);
                process::exit(i32::from(status as u8))
            }
            None => others(panic),
        }
    }));
}

/// The program's commands with their options and help, for tests and generated pages.
pub fn command() -> clap::Command {
    Arguments::command()
}

/// Prints what clap says: requested help, or what is wrong with the command line.
fn explain(error: &clap::Error, command_line: &[OsString]) -> ExitStatus {
    if !error.use_stderr() {
        return match error.print() {
            Err(error) if error.kind() != io::ErrorKind::BrokenPipe => ExitStatus::InputOutput,
            _ => ExitStatus::Done,
        };
    }
    let text = match commands::in_the_grammar_of_today(command_line) {
        Some(today) => today,
        None => rendered(error, command_line),
    };
    let is_help = text.starts_with(|first: char| first.is_uppercase());
    let text = text.strip_prefix("error: ").unwrap_or(&text);
    let mut options = command_line.iter().take_while(|word| *word != "--");
    if options.any(|word| word == "--json") {
        // What follows is how commands are used.
        let problem = text.split("\n\n").next().unwrap_or_default();
        report::print_failure(problem.trim_end(), ExitStatus::Usage as u8, None);
    }
    match is_help {
        false => complain(&format!("pqtls: {text}")),
        true => complain(text),
    }
    ExitStatus::Usage
}

/// What clap says, with a tip that fits.
fn rendered(error: &clap::Error, command_line: &[OsString]) -> String {
    let text = error.render().to_string();
    let taken = match error.get(ContextKind::InvalidArg) {
        Some(ContextValue::String(taken)) if error.kind() == ErrorKind::UnknownArgument => taken,
        _ => return text,
    };
    match commands::tip_for_value(command_line, taken) {
        Some(tip) => {
            let of_clap = format!("to pass '{taken}' as a value, use '-- {taken}'");
            text.replacen(&of_clap, &tip, 1)
        }
        None => text,
    }
}

/// Prints to standard error. If this is closed or full, there is nobody to tell.
fn complain(text: &str) {
    let _ = io::stderr().write_all(text.as_bytes());
}
