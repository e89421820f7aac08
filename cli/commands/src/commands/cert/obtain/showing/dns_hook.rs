//! `dns-01`, by a program that changes the zone.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use pq_acme::challenge::dns_name;
use pq_acme::client::Shown;

use crate::failure::{AcmeFailure, Failure};
use crate::report;

/// A record that goes again when this is dropped.
pub(super) struct Record {
    program: PathBuf,
    name: String,
    value: String,
}

pub(super) fn show(program: &Path, shown: &Shown) -> Result<Record, Failure> {
    let record = Record {
        program: program.into(),
        name: dns_name(&shown.name.value()),
        value: shown.authorization.dns_value(),
    };
    record.run("add")?;
    Ok(record)
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
}

impl Drop for Record {
    fn drop(&mut self) {
        if let Err(failure) = self.run("remove") {
            report::warn(failure);
        }
    }
}
