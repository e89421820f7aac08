//! The command `pqtls store confirm-time`.

use core::fmt;

use serde::Serialize;

use crate::commands::custody::Place;
use crate::exit_status::ExitStatus;
use crate::failure::Failure;
use crate::report::{self, Report};

/// Say that this machine's clock is right, after a command on a store found it behind or far ahead
///
/// Destructions, and rotations by age, want a clock that isn't behind the latest time at which the store was changed, nor more
/// than 400 days ahead of it. After a change by a clock that was ahead, or a long time without changes, no right clock is so. From
/// this command on, times are compared with that of this machine: look at its clock first. It takes an administrator of the store,
/// and is in the audit log.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    #[command(flatten)]
    place: Place,
}

const EXAMPLES: &str = "\
Examples:
  $ pqtls store confirm-time --kek-file kek";

pub(crate) fn run(arguments: &Arguments, json: bool) -> Result<ExitStatus, Failure> {
    let opened = arguments.place.open()?;
    opened.store.confirm_time(&opened.principal)?;
    report::print(&Confirmed { confirmed: true }, json)?;
    Ok(ExitStatus::Done)
}

#[derive(Debug, Serialize)]
struct Confirmed {
    confirmed: bool,
}

impl Report for Confirmed {
    const SCHEMA: &'static str = "store-confirm-time/1";
}

impl fmt::Display for Confirmed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "the clock is right: times are compared with it from now on"
        )
    }
}
