//! The commands that change the state of a version: `pqtls store disable`, `enable`, `schedule-destruction`,
//! `cancel-destruction` and `destroy`.

use core::fmt;
use core::time::Duration;

use pq_ca::policy::{DurationError, parse_duration};
use pq_keystore::{KeyId, StoreError, VersionState};
use serde::Serialize;

use super::show::destroy_at;
use crate::commands::custody::{KeyVersion, Opened, Place};
use crate::exit_status::ExitStatus;
use crate::failure::{Failure, StoreFailure, of_store_error};
use crate::report::{self, Report};

/// A duration, or none. Minutes are written as in policies, too.
fn waiting_time(text: &str) -> Result<Duration, DurationError> {
    match (text, text.strip_suffix('m')) {
        ("0s", _) => Ok(Duration::ZERO),
        (_, Some(number)) => parse_duration(&format!("{number}min")),
        _ => parse_duration(text),
    }
}

/// Which version, and where it is.
#[derive(Debug, clap::Args)]
struct Of {
    /// The version: tenant/purpose/name#version
    version: KeyVersion,

    #[command(flatten)]
    place: Place,
}

/// Disable a version: it signs, decapsulates and verifies nothing
///
/// Also versions that are to be destroyed or were destroyed can be disabled, so that their signatures no longer verify.
#[derive(Debug, clap::Args)]
#[command(after_help = DISABLE)]
pub(crate) struct Disable {
    #[command(flatten)]
    of: Of,
}

const DISABLE: &str = "\
Examples:
  $ pqtls store disable shop/files/app#1 --kek-file kek";

/// Enable a version that was disabled
#[derive(Debug, clap::Args)]
#[command(after_help = ENABLE)]
pub(crate) struct Enable {
    #[command(flatten)]
    of: Of,
}

const ENABLE: &str = "\
Examples:
  $ pqtls store enable shop/files/app#1 --kek-file kek";

/// Say when a version may be destroyed; its private key is used for nothing from now on
///
/// Its signatures still verify. The key's policy says how long it takes at least (destroy-after, by default a day).
#[derive(Debug, clap::Args)]
#[command(after_help = SCHEDULE)]
pub(crate) struct Schedule {
    /// How long it takes until it may be destroyed, such as 30d or 48h
    #[arg(long, value_name = "TIME", value_parser = waiting_time)]
    after: Duration,

    #[command(flatten)]
    of: Of,
}

const SCHEDULE: &str = "\
Examples:
  $ pqtls store schedule-destruction shop/files/app#1 --after 30d --kek-file kek";

/// Cancel a destruction; the version is disabled afterwards
#[derive(Debug, clap::Args)]
#[command(after_help = CANCEL)]
pub(crate) struct Cancel {
    #[command(flatten)]
    of: Of,
}

const CANCEL: &str = "\
Examples:
  $ pqtls store cancel-destruction shop/files/app#1 --kek-file kek";

/// Destroy a version whose time has come: its private key is erased, its public key stays
///
/// Nobody gets the private key back from the store. Backups from before still have it, sealed.
#[derive(Debug, clap::Args)]
#[command(after_help = DESTROY)]
pub(crate) struct Destroy {
    #[command(flatten)]
    of: Of,
}

const DESTROY: &str = "\
Examples:
  $ echo 'destroy-after = \"0s\"' > short.toml
  $ pqtls store new shop/tests/short --policy short.toml --kek-file kek
  $ pqtls store schedule-destruction shop/tests/short#1 --after 0s --kek-file kek
  $ pqtls store destroy shop/tests/short#1 --kek-file kek";

impl Disable {
    pub(crate) fn run(&self, json: bool) -> Result<ExitStatus, Failure> {
        let otherwise = |_| "nothing is to be done";
        self.of.change(json, "disabled", otherwise, |opened, id| {
            opened.store.disable(&opened.principal, id)
        })
    }
}

impl Enable {
    pub(crate) fn run(&self, json: bool) -> Result<ExitStatus, Failure> {
        let otherwise = |state| match state {
            VersionState::Enabled => "nothing is to be done",
            VersionState::DestroyScheduled { .. } => {
                "cancel that first (\"pqtls store cancel-destruction\"), and then enable it"
            }
            _ => "only a version that is disabled can be enabled",
        };
        self.of.change(json, "enabled", otherwise, |opened, id| {
            opened.store.enable(&opened.principal, id)
        })
    }
}

impl Schedule {
    pub(crate) fn run(&self, json: bool) -> Result<ExitStatus, Failure> {
        let otherwise = |state| match state {
            VersionState::DestroyScheduled { .. } => {
                "for another time, cancel that first (\"pqtls store cancel-destruction\")"
            }
            _ => "its destruction can't be scheduled",
        };
        self.of.change(
            json,
            "destroy-scheduled",
            otherwise,
            |Opened { store, principal }, id| store.schedule_destruction(principal, id, self.after),
        )
    }
}

impl Cancel {
    pub(crate) fn run(&self, json: bool) -> Result<ExitStatus, Failure> {
        let otherwise = |_| "no destruction of it is scheduled that could be cancelled";
        self.of.change(json, "disabled", otherwise, |opened, id| {
            opened.store.cancel_destruction(&opened.principal, id)
        })
    }
}

impl Destroy {
    pub(crate) fn run(&self, json: bool) -> Result<ExitStatus, Failure> {
        let otherwise = |state| match state {
            VersionState::Destroyed { .. } => {
                "nothing is to be done, unless it was \"left-in-token\": then name the token that has its private key"
            }
            _ => "say first when it may be destroyed (\"pqtls store schedule-destruction\")",
        };
        self.of.change(json, "destroyed", otherwise, |opened, id| {
            opened.store.destroy(&opened.principal, id)
        })
    }
}

impl Of {
    /// Changes the state to the one of this name. `otherwise` says what to do if the version is in a state that doesn't permit it.
    fn change(
        &self,
        json: bool,
        becomes: &'static str,
        otherwise: impl FnOnce(VersionState) -> &'static str,
        change: impl FnOnce(&Opened, &KeyId) -> Result<(), StoreError>,
    ) -> Result<ExitStatus, Failure> {
        let (opened, id) = self.place.open_for_version(&self.version)?;
        let id = &id;
        change(&opened, id).map_err(|error| match error {
            StoreError::State { id, state, .. } => {
                let what = otherwise(state);
                Failure::from(StoreFailure::State { id, state, what })
            }
            other => other.into(),
        })?;
        // Whoever changes states may have no right to see them.
        let state = match opened.store.show(&opened.principal, id.name()) {
            Ok(details) => {
                let mut versions = details.versions.iter();
                let found = versions.find(|version| version.version == id.version());
                found.map(|version| version.state)
            }
            Err(StoreError::Denied { .. }) => None,
            // The change was made, whatever is wrong with the key's rows.
            Err(error) => {
                report::warn(of_store_error(&error));
                None
            }
        };
        let report = Changed {
            key: id.name().to_string(),
            version: id.version().get(),
            state: state.map(VersionState::name),
            becomes,
            destroy_at: state.and_then(destroy_at),
        };
        report::print(&report, json)?;
        Ok(ExitStatus::Done)
    }
}

#[derive(Debug, Serialize)]
struct Changed {
    key: String,
    version: u32,
    /// Unless the one who changed it may not see it.
    state: Option<&'static str>,
    /// What it is then.
    #[serde(skip)]
    becomes: &'static str,
    destroy_at: Option<String>,
}

impl Report for Changed {
    const SCHEMA: &'static str = "store-state/1";
}

impl fmt::Display for Changed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{}#{}: {}",
            self.key,
            self.version,
            self.state.unwrap_or(self.becomes)
        )?;
        match &self.destroy_at {
            Some(time) => writeln!(f, ", and may be destroyed from {time} on"),
            None => writeln!(f),
        }
    }
}
