//! The command `pqtls store restore`.

use alloc::sync::Arc;
use core::fmt;
use std::path::PathBuf;

use pq_keystore::storage::{RedbStorage, copy};
use serde::Serialize;

use super::check::{KeptHeads, damage};
use super::copying::{check_copy, copy_to};
use crate::commands::custody::{Place, StorePlace, once_free};
use crate::exit_status::ExitStatus;
use crate::failure::{Failure, StoreFailure};
use crate::report::{self, Report, hex};

/// Make a store from a backup, once all of it was checked
///
/// With --head it refuses a backup from before that head. Whoever restores an older backup on purpose leaves the head out,
/// and has again what was destroyed or disabled since, and has not what was made since.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// The backup, which stays as it is
    backup: PathBuf,

    #[command(flatten)]
    kept: KeptHeads,

    #[command(flatten)]
    place: Place,
}

const EXAMPLES: &str = "\
Examples:
  $ pqtls store restore keys.backup --head store.head --store restored.redb --kek-file kek
  $ pqtls store list --store restored.redb --kek-file kek";

pub(crate) fn run(arguments: &Arguments, json: bool) -> Result<ExitStatus, Failure> {
    let to = arguments.place.location.place_here()?;
    // Before a passphrase is asked for
    arguments.place.access.principal()?;
    let backup = once_free(|| RedbStorage::open_untouched(&arguments.backup));
    let of_backup = |failure| StoreFailure::of_backup(failure, &arguments.backup);
    let backup = backup
        .map_err(|error| StoreFailure::if_missing(Failure::from(error), StoreFailure::Backup))
        .map_err(of_backup)?;
    let place = format!("the store in the backup {}", arguments.backup.display());
    let check = |storage: RedbStorage| {
        let access = &arguments.place.access;
        let opened = access.open_named(Arc::new(storage), &place)?;
        let found = arguments.kept.check(&opened)?;
        damage(found.damaged).map(drop)
    };
    let copied = match &to {
        StorePlace::File(path) => copy_to(&backup, path, check).map_err(of_backup)?,
        StorePlace::Postgres(_) | StorePlace::Door(_) => {
            let storage = to.open()?;
            check_copy(&backup, check).map_err(of_backup)?;
            copy(&backup, &*storage).map_err(StoreFailure::Copy)?
        }
    };
    let report = Restored {
        store: to.to_string(),
        backup: arguments.backup.display().to_string(),
        sequence: copied.head.sequence,
        hash: hex(&copied.head.hash),
    };
    report::print(&report, json)?;
    Ok(ExitStatus::Done)
}

#[derive(Debug, Serialize)]
struct Restored {
    store: String,
    backup: String,
    /// The last entry of the audit log.
    sequence: u64,
    hash: String,
}

impl Report for Restored {
    const SCHEMA: &'static str = "store-restore/1";
}

impl fmt::Display for Restored {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            store,
            backup,
            sequence,
            ..
        } = self;
        writeln!(
            f,
            "{store}: the store of {backup} at entry {sequence} of its log"
        )
    }
}
