//! `dns-01`, by a program that changes the zone, or by DNS UPDATE.

use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use pq_acme::challenge::dns_name;
use pq_acme::client::Shown;

use super::error::ShowingError;
use crate::dns_update::{DnsUpdate, DnsUpdateError};

/// A record of DNS, and what adds and removes it.
#[derive(Clone, Debug)]
pub struct DnsRecord {
    by: By,
    name: String,
    value: String,
}

#[derive(Clone, Debug)]
enum By {
    Hook(PathBuf),
    Update(DnsUpdate),
}

impl DnsRecord {
    /// What a challenge asks for, added by a program.
    pub fn by_hook(program: &Path, shown: &Shown) -> Self {
        Self::new(By::Hook(program.into()), shown)
    }

    /// The same, added by telling the name server.
    pub fn by_update(server: &DnsUpdate, shown: &Shown) -> Self {
        Self::new(By::Update(server.clone()), shown)
    }

    fn new(by: By, shown: &Shown) -> Self {
        Self {
            by,
            name: dns_name(&shown.name.value()),
            value: shown.authorization.dns_value(),
        }
    }

    /// Adds it, and waits for the zone's servers. It may block for minutes.
    ///
    /// # Errors
    ///
    /// [`ShowingError::Hook`] if the program can't be run, or fails; [`ShowingError::Update`] if the name server doesn't confirm it.
    pub fn add(&self) -> Result<(), ShowingError> {
        match &self.by {
            By::Hook(program) => self.run(program, "add"),
            By::Update(server) => {
                let added = server
                    .add(&self.name, &self.value)
                    .and_then(|()| server.wait_for_all(&self.name, &self.value));
                added.map_err(|error| {
                    if !matches!(error, DnsUpdateError::Refused { .. }) {
                        // It may be there nevertheless.
                        let _ = server.remove(&self.name, &self.value);
                    }
                    self.refused(server, error)
                })
            }
        }
    }

    /// Removes it.
    ///
    /// # Errors
    ///
    /// As [`add`](Self::add).
    pub fn remove(&self) -> Result<(), ShowingError> {
        match &self.by {
            By::Hook(program) => self.run(program, "remove"),
            By::Update(server) => server
                .remove(&self.name, &self.value)
                .map_err(|error| self.refused(server, error)),
        }
    }

    fn refused(&self, server: &DnsUpdate, error: DnsUpdateError) -> ShowingError {
        ShowingError::Update {
            server: server.server(),
            name: self.name.clone(),
            error,
        }
    }

    /// Runs the program. What it prints is for people, and standard output may be for something else.
    fn run(&self, program: &Path, what: &str) -> Result<(), ShowingError> {
        let failed = |why: String| ShowingError::Hook {
            program: program.into(),
            what: format!("{what} {} {}", self.name, self.value),
            why,
        };
        let ran = Command::new(program)
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
pub(super) struct Added(Option<DnsRecord>);

pub(super) fn show(record: DnsRecord) -> Result<Added, ShowingError> {
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
