//! `dns-01`, by a program that changes the zone.

use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use pq_acme::challenge::dns_name;
use pq_acme::client::Shown;

use super::error::ShowingError;

/// A record of DNS, and the program that adds and removes it.
#[derive(Clone, Debug)]
pub struct HookRecord {
    program: PathBuf,
    name: String,
    value: String,
}

impl HookRecord {
    /// What a challenge asks for.
    pub fn new(program: &Path, shown: &Shown) -> Self {
        Self {
            program: program.into(),
            name: dns_name(&shown.name.value()),
            value: shown.authorization.dns_value(),
        }
    }

    /// Adds it. This may take as long as the zone's servers do.
    ///
    /// # Errors
    ///
    /// [`ShowingError::Hook`] if the program can't be run, or fails.
    pub fn add(&self) -> Result<(), ShowingError> {
        self.run("add")
    }

    /// Removes it.
    ///
    /// # Errors
    ///
    /// [`ShowingError::Hook`] if the program can't be run, or fails.
    pub fn remove(&self) -> Result<(), ShowingError> {
        self.run("remove")
    }

    /// Runs the program. What it prints is for people, and standard output may be for something else.
    fn run(&self, what: &str) -> Result<(), ShowingError> {
        let failed = |why: String| ShowingError::Hook {
            program: self.program.clone(),
            what: format!("{what} {} {}", self.name, self.value),
            why,
        };
        let ran = Command::new(&self.program)
            .args([what, &self.name, &self.value])
            .stdin(Stdio::null())
            .stdout(io::stderr())
            .status();
        match ran {
            Ok(status) if status.success() => Ok(()),
            Ok(status) => Err(failed(status.to_string())),
            Err(error) => Err(failed(error.to_string())),
        }
    }
}

/// A record that goes again when this is dropped.
pub(super) struct Added(Option<HookRecord>);

pub(super) fn show(record: HookRecord) -> Result<Added, ShowingError> {
    record.add()?;
    Ok(Added(Some(record)))
}

impl Drop for Added {
    fn drop(&mut self) {
        let Some(record) = self.0.take() else {
            return;
        };
        let remove = move || {
            if let Err(error) = record.remove() {
                tracing::warn!(%error, "a record of a challenge stays in DNS; remove it");
            }
        };
        // The program may take long, and nobody has to wait for it.
        match tokio::runtime::Handle::try_current() {
            Ok(runtime) => drop(runtime.spawn_blocking(remove)),
            Err(_) => remove(),
        }
    }
}
