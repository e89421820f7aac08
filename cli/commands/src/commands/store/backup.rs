//! The command `pqtls store backup`.

use core::fmt;

use pq_keystore::{StoreError, visible_damage};
use serde::Serialize;

use super::check::MOST_NAMED;
use super::copying::copy_to;
use crate::commands::custody::{DoorOptions, Location};
use crate::exit_status::ExitStatus;
use crate::failure::{Failure, StoreFailure};
use crate::files::NameToWrite;
use crate::report::{self, Report, hex};

/// Copy a store to another file, as it is at one moment
///
/// What is sealed stays sealed, so it takes no passphrase, and the copy is as safe as what the store is sealed under. No
/// other process can use a store's file meanwhile; of a store in PostgreSQL, which others go on using, nothing is copied if
/// one changes it meanwhile. A copy of the file by other means can be half of one change and half of the next.
///
/// If rows of keys aren't as the log says, the copy is made all the same, and the status is 1. "pqtls store check" looks at all
/// rows.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES, mut_args(without_door))]
pub(crate) struct Arguments {
    /// Where to write the copy; no file is replaced
    file: NameToWrite,

    #[command(flatten)]
    location: Location,

    /// Taken so that whoever gives them is told that this needs the store itself.
    #[command(flatten)]
    _door: DoorOptions,
}

/// A door's options are not shown where no door does.
fn without_door(argument: clap::Arg) -> clap::Arg {
    let is_of_door = argument.get_id().as_str().starts_with("store_");
    argument.hide(is_of_door)
}

const EXAMPLES: &str = "\
Examples:
  $ pqtls store backup keys.backup";

pub(crate) fn run(arguments: &Arguments, json: bool) -> Result<ExitStatus, Failure> {
    let storage = arguments.location.storage()?;
    let mut damaged = Vec::new();
    // What is damaged doesn't keep the rest from being copied.
    let copied = copy_to(&*storage, arguments.file.path(), |copy| {
        damaged = visible_damage(&copy).or_else(|error| match error {
            StoreError::NoStore(_) => Err(StoreError::NoStore(storage.description())),
            StoreError::Log(_) => Ok(vec![error]),
            error => Err(error),
        })?;
        Ok(())
    })?;
    let report = Backup {
        store: arguments.location.place().to_string(),
        file: arguments.file.path().display().to_string(),
        rows: copied.rows,
        sequence: copied.head.sequence,
        hash: hex(&copied.head.hash),
        damaged: damaged.iter().map(StoreError::to_string).collect(),
    };
    if json || damaged.is_empty() {
        report::print(&report, json)?;
    }
    if damaged.is_empty() {
        return Ok(ExitStatus::Done);
    }
    let count = damaged.len();
    damaged.truncate(MOST_NAMED);
    Err(StoreFailure::DamagedCopy {
        file: report.file,
        store: report.store,
        count,
        damaged,
    }
    .into())
}

#[derive(Debug, Serialize)]
struct Backup {
    store: String,
    file: String,
    rows: u64,
    /// The last entry of the audit log.
    sequence: u64,
    hash: String,
    /// What is wrong with rows, as far as it is seen without a key.
    damaged: Vec<String>,
}

impl Report for Backup {
    const SCHEMA: &'static str = "store-backup/1";
}

impl fmt::Display for Backup {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            file,
            store,
            sequence,
            ..
        } = self;
        writeln!(f, "{file}: copy of {store} at entry {sequence} of its log")
    }
}
