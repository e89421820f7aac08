//! Runs OpenSSL's program for the comparison: `openssl speed` for keys, and `openssl x509 -req` for certificates.

use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use serde::Serialize;

use super::rows::{Operation, Row};
use crate::failure::Failure;

/// OpenSSL's program, which measures itself and issues certificates, each in a process of its own.
#[derive(Debug, Serialize)]
pub(super) struct Openssl {
    #[serde(skip)]
    program: PathBuf,
    /// Such as `3.5.5`.
    pub(super) version: String,
    /// Whether it has the algorithms that are measured here.
    pub(super) has_algorithms: bool,
}

impl Openssl {
    /// Asks a program for its version.
    pub(super) fn find(program: &Path) -> Result<Self, Failure> {
        let line = Command::new(program)
            .arg("version")
            .stdin(Stdio::null())
            .output()
            .map(|output| String::from_utf8_lossy(&output.stdout).trim().to_owned())
            .map_err(cant_run(program))?;
        match version(&line) {
            Some((version, has_algorithms)) => Ok(Self {
                program: program.into(),
                version: version.into(),
                has_algorithms,
            }),
            None => Err(Failure::NotOpenssl {
                program: program.display().to_string(),
                says: line,
            }),
        }
    }

    /// Where it is.
    pub(super) fn program(&self) -> &Path {
        &self.program
    }

    /// What `openssl speed` says about the operations of an algorithm: the mean, in nanoseconds. Empty if
    /// OpenSSL doesn't have the algorithm.
    pub(super) fn speed(&self, row: Row) -> Result<Vec<(Operation, f64)>, Failure> {
        if !self.has_algorithms {
            return Ok(Vec::new());
        }
        let output = Command::new(&self.program)
            .args(["speed", "-mr", "-elapsed", "-seconds", "1"])
            .arg(row.algorithm.name())
            .stdin(Stdio::null())
            .output()
            .map_err(cant_run(&self.program))?;
        let output = String::from_utf8_lossy(&output.stdout);
        let times = rates(&output).map(|rate| 1e9 / rate);
        Ok(row.siblings().into_iter().zip(times).collect())
    }

    /// Issues a certificate for each of these requests, like a loop in a shell, and returns how many it issues
    /// a second. `None` if OpenSSL fails.
    pub(super) fn issue(
        &self,
        requests: &[PathBuf],
        ca: &Path,
        out: &Path,
    ) -> Result<Option<f64>, Failure> {
        let issue = |request: &PathBuf| {
            Command::new(&self.program)
                .args(["x509", "-req", "-days", "90", "-copy_extensions", "copy"])
                .arg("-CA")
                .arg(ca.join("issuing.pem"))
                .arg("-CAkey")
                .arg(ca.join("issuing.key"))
                .arg("-in")
                .arg(request)
                .arg("-out")
                .arg(out.join(request.file_name().unwrap_or_default()))
                .stdin(Stdio::null())
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .status()
                .map(|status| status.success())
                .map_err(cant_run(&self.program))
        };
        if !self.has_algorithms {
            return Ok(None);
        }
        // The first reads the program from the disk.
        for request in requests.iter().take(1) {
            issue(request)?;
        }
        let start = Instant::now();
        for request in requests {
            if !issue(request)? {
                return Ok(None);
            }
        }
        Ok(Some(requests.len() as f64 / start.elapsed().as_secs_f64()))
    }
}

fn cant_run(program: &Path) -> impl Fn(io::Error) -> Failure {
    move |error| Failure::NoOpenssl {
        program: program.display().to_string(),
        error,
    }
}

/// The version in the line that OpenSSL prints, and whether it is at least 3.5.
fn version(line: &str) -> Option<(&str, bool)> {
    let version = line.strip_prefix("OpenSSL ")?.split_whitespace().next()?;
    let mut numbers = version.split('.').map(|number| number.parse().ok());
    let number: (u32, u32) = (numbers.next()??, numbers.next()??);
    Some((version, number >= (3, 5)))
}

/// Reads the line of results, whose last three fields are operations a second: key generations, encapsulations
/// and decapsulations for a KEM, or key generations, signatures and verifications for signatures.
fn rates(output: &str) -> impl Iterator<Item = f64> {
    let results = |line: &'_ str| {
        let line = line
            .strip_prefix("+F9:")
            .or_else(|| line.strip_prefix("+F10:"))?;
        let fields: Option<Vec<f64>> = line.split(':').map(|field| field.parse().ok()).collect();
        match *fields? {
            [_, first, second, third] => Some([first, second, third]),
            _ => None,
        }
    };
    let rates = output.lines().find_map(results);
    rates.into_iter().flatten().take_while(|rate| *rate > 0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_read() {
        for (line, expected) in [
            (
                "OpenSSL 3.5.5 27 Jan 2026 (Library: …)",
                Some(("3.5.5", true)),
            ),
            ("OpenSSL 4.0.0-dev  (Library: …)", Some(("4.0.0-dev", true))),
            ("OpenSSL 3.0.19 27 Jan 2026", Some(("3.0.19", false))),
            ("LibreSSL 4.0.0", None),
            ("", None),
        ] {
            assert_eq!(version(line), expected, "{line}");
        }
    }

    #[test]
    fn results_are_read_of_kems_and_of_signatures() {
        let kem = "+DTP:ML-KEM-768:keygen:1\n+R15:19340:ML-KEM-768:1.01\n+F9:13:4.0:3.0:2.0\n";
        let signature = "+F10:10:800.000000:33.333333:500.000000\n";
        assert_eq!(rates(kem).collect::<Vec<_>>(), [4.0, 3.0, 2.0]);
        assert_eq!(
            rates(signature).collect::<Vec<_>>(),
            [800.0, 33.333333, 500.0]
        );
        for other in [
            "",
            "speed: Unknown algorithm\n",
            "+F10:1:0:0:0\n",
            "+F9:1:2\n",
        ] {
            assert_eq!(rates(other).count(), 0, "{other}");
        }
    }
}
