//! The command `pqtls store rewrap`.

use core::fmt;

use serde::Serialize;

use crate::commands::custody::NewKekOptions;
use crate::commands::custody::Place;
use crate::exit_status::ExitStatus;
use crate::failure::Failure;
use crate::report::{self, Report};

/// Seal a store under another passphrase or key
///
/// It rewrites one row, however many keys there are. Backups from before are still under what sealed them then: keep that as
/// long as them. Whoever has both an old backup and what it is under has the keys in it.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    #[command(flatten)]
    place: Place,

    #[command(flatten)]
    new: NewKekOptions,
}

const EXAMPLES: &str = "\
Examples:
  $ (umask 077; head -c 32 /dev/urandom > kek-2)
  $ pqtls store rewrap --kek-file kek --new-kek-file kek-2
  $ pqtls store list --kek-file kek-2
  $ pqtls store rewrap --kek-file kek-2 --new-kek-file kek";

pub(crate) fn run(arguments: &Arguments, json: bool) -> Result<ExitStatus, Failure> {
    let new = arguments.new.kek(&arguments.place.access.kek)?;
    let opened = arguments.place.open()?;
    opened.store.rewrap(&opened.principal, &*new)?;
    let report = Rewrapped {
        sealed_under: new.kind(),
    };
    report::print(&report, json)?;
    Ok(ExitStatus::Done)
}

#[derive(Debug, Serialize)]
struct Rewrapped {
    sealed_under: &'static str,
}

impl Report for Rewrapped {
    const SCHEMA: &'static str = "store-rewrap/1";
}

impl fmt::Display for Rewrapped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "the store is sealed under the new {}", self.sealed_under)
    }
}
