//! The command `pqtls store trim`.

use core::fmt;

use pq_keystore::StoreError;
use serde::Serialize;

use crate::commands::custody::{KeyVersion, Place};
use crate::exit_status::ExitStatus;
use crate::failure::{Failure, StoreFailure};
use crate::report::{self, Report};

/// Remove all versions before one, with their public keys
///
/// Each of them was destroyed, or is older than the policy's min-version: they are of no use any more. The private keys of those
/// are erased at once, whatever destroy-after says.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// The first version that stays: tenant/purpose/name#version
    version: KeyVersion,

    #[command(flatten)]
    place: Place,
}

const EXAMPLES: &str = "\
Examples:
  $ pqtls store new shop/tests/old --kek-file kek
  $ pqtls store rotate shop/tests/old --kek-file kek
  $ echo 'min-version = 2' > old.toml
  $ pqtls store policy set shop/tests/old old.toml --kek-file kek
  $ pqtls store trim shop/tests/old#2 --kek-file kek";

pub(crate) fn run(arguments: &Arguments, json: bool) -> Result<ExitStatus, Failure> {
    let (opened, id) = arguments.place.open_for_version(&arguments.version)?;
    let trimmed = opened
        .store
        .trim(&opened.principal, id.name(), id.version());
    trimmed.map_err(|error| match error {
        StoreError::State { id, state, .. } => {
            let what = "only versions can be removed that were destroyed (\"pqtls store schedule-destruction\", and then \
                        \"pqtls store destroy\"), or that are older than the policy's min-version (\"pqtls store policy set\")";
            Failure::from(StoreFailure::State { id, state, what })
        }
        other => other.into(),
    })?;
    let report = Trimmed {
        key: id.name().to_string(),
        first: id.version().get(),
    };
    report::print(&report, json)?;
    Ok(ExitStatus::Done)
}

#[derive(Debug, Serialize)]
struct Trimmed {
    key: String,
    /// The first version that is left.
    first: u32,
}

impl Report for Trimmed {
    const SCHEMA: &'static str = "store-trim/1";
}

impl fmt::Display for Trimmed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{} begins with version {}", self.key, self.first)
    }
}
