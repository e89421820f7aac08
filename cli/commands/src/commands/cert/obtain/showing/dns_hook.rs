//! `dns-01`, by a program that changes the zone.

use alloc::sync::Arc;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use pq_acme::challenge::dns_name;
use pq_acme::client::Shown;

use crate::failure::{AcmeFailure, Failure};
use crate::files;
use crate::report;

/// A record of DNS.
struct Record {
    program: PathBuf,
    name: String,
    value: String,
}

/// A record that goes again when this is dropped.
struct Added(Arc<Record>);

/// Adds the record. It goes again when what this returns is dropped, and when a signal ends this process.
pub(super) fn show(program: &Path, shown: &Shown) -> Result<impl Send + use<>, Failure> {
    let record = Arc::new(Record {
        program: program.into(),
        name: dns_name(&shown.name.value()),
        value: shown.authorization.dns_value(),
    });
    let at_signal = record.clone();
    let stop = files::stopped_by_signals(move || at_signal.remove()).map_err(Failure::Signals)?;
    record.run("add")?;
    Ok((Added(record), stop))
}

impl Record {
    /// Runs the program. What it prints is for people, and standard output is for the report.
    fn run(&self, what: &str) -> Result<(), AcmeFailure> {
        let failed = |why: String| AcmeFailure::Hook {
            program: self.program.display().to_string(),
            what: format!("{what} {} {}", self.name, self.value),
            why,
        };
        let ran = Command::new(&self.program)
            .args([what, &self.name, &self.value])
            .stdin(Stdio::null())
            .stdout(std::io::stderr())
            .status();
        match ran {
            Ok(status) if status.success() => Ok(()),
            Ok(status) => Err(failed(status.to_string())),
            Err(error) => Err(failed(error.to_string())),
        }
    }

    fn remove(&self) {
        if let Err(failure) = self.run("remove") {
            report::warn(failure);
        }
    }
}

impl Drop for Added {
    fn drop(&mut self) {
        self.0.remove();
    }
}
