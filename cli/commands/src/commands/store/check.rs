//! The command `pqtls store check`.

use core::fmt;

use pq_keystore::audit::SignedHead;
use pq_keystore::{CheckReport, Orphan, StoreError};
use serde::Serialize;

use super::texts;
use crate::commands::custody::{Opened, Place};
use crate::exit_status::ExitStatus;
use crate::failure::{Failure, StoreFailure};
use crate::files::Source;
use crate::report::{self, Report, hex, with_unit};

/// Check a store: its audit log from the beginning, and every row
///
/// With --head it also shows that the log still leads to a head that "pqtls store audit head" wrote: without one, nobody
/// can tell from a store alone whether it is an older copy that was put back.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    #[command(flatten)]
    kept: KeptHeads,

    /// Remove keys of this store from the token that no version refers to, if nothing is damaged
    #[arg(long)]
    remove_orphans: bool,

    #[command(flatten)]
    place: Place,
}

/// Heads of the log that were kept elsewhere.
#[derive(Clone, Debug, clap::Args)]
pub(super) struct KeptHeads {
    /// A head of the audit log that was kept elsewhere; can be given several times
    #[arg(long = "head", value_name = "FILE")]
    heads: Vec<Source>,
}

const EXAMPLES: &str = "\
Examples:
  $ pqtls store check --head store.head --kek-file kek";

/// More than the text of a head has.
const LIMIT: usize = 16 * 1024;

impl KeptHeads {
    fn read(&self) -> Result<Vec<SignedHead>, Failure> {
        let read = |file: &Source| {
            let head = texts::read(file, LIMIT)?
                .parse()
                .map_err(|error| StoreFailure::Head {
                    file: file.to_string(),
                    error,
                })?;
            Ok(head)
        };
        self.heads.iter().map(read).collect()
    }

    /// Checks a store with these heads.
    pub(super) fn check(&self, opened: &Opened) -> Result<CheckReport, Failure> {
        let heads = self.read()?;
        let found = opened.store.check(&opened.principal, &heads);
        let other = |(file, head): (&Source, &SignedHead)| match opened.store.verify_head(head) {
            Err(StoreError::Head(error)) => {
                let file = file.to_string();
                Some(StoreFailure::Head { file, error })
            }
            _ => None,
        };
        match found {
            // Which of them it is
            Err(StoreError::Head(_)) => {
                let mut pairs = self.heads.iter().zip(&heads);
                match pairs.find_map(other) {
                    Some(failure) => Err(failure.into()),
                    None => Ok(found?),
                }
            }
            found => Ok(found?),
        }
    }
}

pub(crate) fn run(arguments: &Arguments, json: bool) -> Result<ExitStatus, Failure> {
    let opened = arguments.place.open()?;
    let found = arguments.kept.check(&opened)?;
    let removed = match arguments.remove_orphans && found.damaged.is_empty() {
        true => opened.store.remove_orphans(&opened.principal)?,
        false => Vec::new(),
    };
    let names = |orphans: &[Orphan]| {
        let name = |orphan: &Orphan| format!("{}:{}", orphan.token, orphan.object);
        orphans.iter().map(name).collect()
    };
    let report = Checked {
        sequence: found.head.sequence,
        hash: hex(&found.head.hash),
        keys: found.keys as u64,
        versions: found.versions as u64,
        heads: arguments.kept.heads.len() as u64,
        damaged: found.damaged.iter().map(StoreError::to_string).collect(),
        orphans: names(&found.orphans),
        removed: names(&removed),
    };
    if json || found.damaged.is_empty() {
        report::print(&report, json)?;
    }
    damage(found.damaged)
}

/// How many damaged rows a sentence names.
pub(super) const MOST_NAMED: usize = 20;

/// The end of a command that found damaged rows, or none.
pub(super) fn damage(damaged: Vec<StoreError>) -> Result<ExitStatus, Failure> {
    let count = damaged.len();
    let mut damaged = damaged.into_iter();
    let Some(first) = damaged.next() else {
        return Ok(ExitStatus::Done);
    };
    let others = damaged.take(MOST_NAMED - 1).collect();
    Err(StoreFailure::Damaged {
        count,
        first,
        others,
    }
    .into())
}

#[derive(Debug, Serialize)]
struct Checked {
    /// The last entry of the log.
    sequence: u64,
    hash: String,
    keys: u64,
    versions: u64,
    /// How many kept heads the log leads to.
    heads: u64,
    /// What is wrong with rows.
    damaged: Vec<String>,
    /// Keys in the token that no version refers to, each as token:identifier; none while rows are damaged, which may refer to
    /// one.
    orphans: Vec<String>,
    /// Those that were removed.
    removed: Vec<String>,
}

impl Report for Checked {
    const SCHEMA: &'static str = "store-check/1";
}

impl fmt::Display for Checked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (keys, versions) = (self.keys, self.versions);
        writeln!(
            f,
            "{} with {}, and a log of {}: all as they were written",
            with_unit(keys, "key"),
            with_unit(versions, "version"),
            self.sequence
        )?;
        match (self.orphans.len() as u64, self.removed.len() as u64) {
            (0, _) => {}
            (orphans, 0) => writeln!(
                f,
                "the token has {} that no version refers to: see --remove-orphans",
                with_unit(orphans, "key")
            )?,
            (_, removed) => writeln!(f, "{} removed from the token", with_unit(removed, "key"))?,
        }
        match self.heads {
            0 => writeln!(
                f,
                "no head was given, so this may be an older copy: see --head"
            ),
            heads => writeln!(f, "the log leads to {}", with_unit(heads, "kept head")),
        }
    }
}
