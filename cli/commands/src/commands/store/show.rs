//! The command `pqtls store show`.

use core::fmt;

use pq_keystore::{VersionDetails, VersionState};
use serde::Serialize;

use super::list::warn_of_clock;
use super::moment;
use crate::commands::custody::{KeyLabel, Place};
use crate::commands::key::KeyFacts;
use crate::exit_status::ExitStatus;
use crate::failure::Failure;
use crate::report::{self, Report};

/// Show a key of a store with its versions
///
/// "pqtls store policy show" shows who may do what with it.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// The key: tenant/purpose/name
    key: KeyLabel,

    #[command(flatten)]
    place: Place,
}

const EXAMPLES: &str = "\
Examples:
  $ pqtls store show shop/files/app --kek-file kek";

pub(crate) fn run(arguments: &Arguments, json: bool) -> Result<ExitStatus, Failure> {
    let (opened, name) = arguments.place.open_for(&arguments.key)?;
    let details = opened.store.show(&opened.principal, name)?;
    let report = Shown {
        key: details.name.to_string(),
        algorithm: details.algorithm.name(),
        exportable: details.policy.exportable,
        created: moment::text(details.created),
        rotated: moment::text(details.rotated),
        due: details.is_due,
        versions: details.versions.iter().map(Line::of).collect(),
    };
    if let Err(error) = opened.store.check_time() {
        warn_of_clock(&error);
    }
    report::print(&report, json)?;
    Ok(ExitStatus::Done)
}

#[derive(Debug, Serialize)]
struct Shown {
    key: String,
    algorithm: &'static str,
    exportable: bool,
    created: String,
    /// When the newest version was made.
    rotated: String,
    due: bool,
    /// The oldest first.
    versions: Vec<Line>,
}

#[derive(Debug, Serialize)]
struct Line {
    version: u32,
    state: &'static str,
    /// Whether its signatures verify, if it isn't older than the policy's minimum.
    verifies: bool,
    /// From when on it may be destroyed.
    destroy_at: Option<String>,
    created: String,
    by: String,
    origin: &'static str,
    /// The token where the private key is, or was until it was destroyed.
    token: Option<String>,
    /// The serial number of that token, if it is known.
    token_serial: Option<String>,
    fingerprint: String,
}

impl Line {
    fn of(version: &VersionDetails) -> Self {
        Self {
            version: version.version.get(),
            state: version.state.name(),
            verifies: version.state.verifies(),
            destroy_at: destroy_at(version.state),
            created: moment::text(version.created),
            by: version.by.to_string(),
            origin: version.origin.name(),
            token: version.token.as_ref().map(ToString::to_string),
            token_serial: version.token_serial.as_ref().map(ToString::to_string),
            fingerprint: KeyFacts::of(&version.public_key).fingerprint,
        }
    }
}

/// From when on a version may be destroyed, if that is scheduled.
pub(super) fn destroy_at(state: VersionState) -> Option<String> {
    match state {
        VersionState::DestroyScheduled { at, .. } => Some(moment::text(at)),
        _ => None,
    }
}

impl Report for Shown {
    const SCHEMA: &'static str = "store-show/1";
}

impl fmt::Display for Shown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let exportable = if self.exportable { ", exportable" } else { "" };
        let due = if self.due { ", due for rotation" } else { "" };
        writeln!(f, "{}: {}{exportable}{due}", self.key, self.algorithm)?;
        for line in &self.versions {
            let destroy = match &line.destroy_at {
                Some(time) => format!(" (from {time} on)"),
                None => String::new(),
            };
            writeln!(f, "#{}  {}{destroy}", line.version, line.state)?;
            writeln!(f, "  {}     {} by {}", line.origin, line.created, line.by)?;
            if let Some(token) = &line.token {
                let serial = line.token_serial.as_ref();
                let serial = serial.map(|serial| format!(", serial number {serial}"));
                writeln!(f, "  in token     {token}{}", serial.unwrap_or_default())?;
            }
            writeln!(f, "  fingerprint  {}", line.fingerprint)?;
        }
        Ok(())
    }
}
