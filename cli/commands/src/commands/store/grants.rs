//! The commands `pqtls store grants show` and `pqtls store grants set`, and the file of a store's grants: a table for each
//! scope of keys, with what each principal may do.

use core::fmt;

use pq_keystore::{MAX_GRANTS_FILE_LEN, StoreGrants};
use serde::Serialize;

use super::texts;
use crate::commands::custody::Place;
use crate::commands::delivery::OutputOptions;
use crate::exit_status::ExitStatus;
use crate::failure::{Failure, StoreFailure};
use crate::files::Source;
use crate::report::{self, Report};

/// Show and set who may do what in a store, with which keys
#[derive(Debug, clap::Subcommand)]
pub(crate) enum Command {
    Show(Show),
    Set(Set),
}

pub(crate) fn run(command: Command, json: bool) -> Result<ExitStatus, Failure> {
    match command {
        Command::Show(arguments) => arguments.run(json),
        Command::Set(arguments) => arguments.run(json),
    }
}

/// Write the grants of a store, in TOML
#[derive(Debug, clap::Args)]
#[command(after_help = SHOW)]
pub(crate) struct Show {
    #[command(flatten)]
    output: OutputOptions,

    #[command(flatten)]
    place: Place,
}

const SHOW: &str = "\
Examples:
  $ pqtls store grants show --kek-file kek
  $ pqtls store grants show --out grants.toml --kek-file kek";

impl Show {
    fn run(&self, json: bool) -> Result<ExitStatus, Failure> {
        let make = || {
            let opened = self.place.open()?;
            Ok(opened.store.store_grants(&opened.principal)?.to_toml())
        };
        texts::write(&self.output, json, make, |file| GrantsFile { file })
    }
}

/// Set the grants of a store from TOML
///
/// The file has a table for each scope: all keys ("*"), those of a tenant ("shop/*"), or those of a tenant's purpose
/// ("shop/files/*"). It is all that is granted, beside what each key's policy grants; whoever sets it has to keep the
/// right to administer the store.
#[derive(Debug, clap::Args)]
#[command(after_help = SET)]
pub(crate) struct Set {
    /// The grants, in TOML; "-" is standard input
    #[arg(default_value = "-")]
    file: Source,

    #[command(flatten)]
    place: Place,
}

const SET: &str = "\
Examples:
  $ printf '[\"shop/*\"]\\nwatcher = [\"list\", \"show\"]\\n' >> grants.toml
  $ pqtls store grants set grants.toml --kek-file kek
  $ pqtls store list --as watcher --kek-file kek";

impl Set {
    fn run(&self, json: bool) -> Result<ExitStatus, Failure> {
        let text = texts::read(&self.file, MAX_GRANTS_FILE_LEN)?;
        let grants = StoreGrants::from_toml(&text).map_err(|error| StoreFailure::GrantsFile {
            file: self.file.to_string(),
            error,
        })?;
        let opened = self.place.open()?;
        opened.store.set_store_grants(&opened.principal, &grants)?;
        let report = GrantsSet(GrantsFile {
            file: self.file.to_string(),
        });
        report::print(&report, json)?;
        Ok(ExitStatus::Done)
    }
}

#[derive(Debug, Serialize)]
struct GrantsFile {
    file: String,
}

impl Report for GrantsFile {
    const SCHEMA: &'static str = "store-grants-show/1";
}

impl fmt::Display for GrantsFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}: grants of the store", self.file)
    }
}

#[derive(Debug, Serialize)]
struct GrantsSet(GrantsFile);

impl Report for GrantsSet {
    const SCHEMA: &'static str = "store-grants-set/1";
}

impl fmt::Display for GrantsSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "the store's grants are those of {}", self.0.file)
    }
}
