//! The command `pqtls store list`.

use core::fmt;

use pq_keystore::{KeySummary, StoreError};
use serde::Serialize;

use super::check::damage;
use super::moment;
use crate::commands::custody::Place;
use crate::exit_status::ExitStatus;
use crate::failure::Failure;
use crate::report::{self, Report};

/// List the keys of a store
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// Only the keys of one tenant, the first part of a key's name
    #[arg(long, value_name = "NAME")]
    tenant: Option<String>,

    /// Only keys that are due for rotation
    #[arg(long)]
    due: bool,

    #[command(flatten)]
    place: Place,
}

const EXAMPLES: &str = "\
Examples:
  $ pqtls store list --kek-file kek
  $ pqtls store list --kek-file kek --due --json";

/// How many keys are asked for at once.
const PAGE: usize = 100;

pub(crate) fn run(arguments: &Arguments, json: bool) -> Result<ExitStatus, Failure> {
    let opened = arguments.place.open()?;
    let (mut keys, mut damaged) = (Vec::new(), Vec::new());
    let mut after = None;
    loop {
        let tenant = arguments.tenant.as_deref();
        let page = opened
            .store
            .list(&opened.principal, tenant, after.as_ref(), PAGE)?;
        let wanted = page.keys.iter().filter(|key| !arguments.due || key.is_due);
        keys.extend(wanted.map(Line::of));
        damaged.extend(page.damaged);
        after = page.next;
        if after.is_none() {
            break;
        }
    }
    let report = List {
        keys,
        damaged: damaged.iter().map(StoreError::to_string).collect(),
    };
    report::print(&report, json)?;
    damage(damaged)
}

#[derive(Debug, Serialize)]
struct List {
    keys: Vec<Line>,
    /// What is wrong with rows that should be among them.
    damaged: Vec<String>,
}

#[derive(Debug, Serialize)]
struct Line {
    key: String,
    algorithm: &'static str,
    /// The newest version.
    version: u32,
    /// Its state.
    state: &'static str,
    created: String,
    rotated: String,
    due: bool,
}

impl Line {
    fn of(key: &KeySummary) -> Self {
        Self {
            key: key.name.to_string(),
            algorithm: key.algorithm.name(),
            version: key.newest.get(),
            state: key.state.name(),
            created: moment::text(key.created),
            rotated: moment::text(key.rotated),
            due: key.is_due,
        }
    }
}

impl Report for List {
    const SCHEMA: &'static str = "store-list/1";
}

impl fmt::Display for List {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.keys.is_empty() && self.damaged.is_empty() {
            return writeln!(f, "no keys");
        }
        let id = |line: &Line| format!("{}#{}", line.key, line.version);
        let width = self.keys.iter().map(|line| id(line).len()).max();
        let width = width.unwrap_or_default();
        for line in &self.keys {
            let due = if line.due { ", due for rotation" } else { "" };
            writeln!(
                f,
                "{:width$}  {} ({}) of {}{due}",
                id(line),
                line.algorithm,
                line.state,
                line.rotated
            )?;
        }
        Ok(())
    }
}
