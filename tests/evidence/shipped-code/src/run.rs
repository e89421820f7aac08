//! Runs the program under valgrind.

use core::error::Error;
use std::fs::{self, File};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::build::Build;
use crate::report::{Site, sites};

/// The backends that valgrind can run. It does not know AVX-512, and hides it from programs.
pub(crate) const BACKENDS: [&str; 2] = ["portable", "AVX2"];

/// The operations of the program. Its source says what is secret in each.
pub(crate) const OPERATIONS: [&str; 10] = [
    "ml-kem-768 generate",
    "ml-kem-768 encapsulate",
    "ml-kem-768 decapsulate",
    "ml-dsa-44 generate",
    "ml-dsa-44 sign, secret vectors",
    "ml-dsa-44 sign, secret mask",
    "slh-dsa-sha2-128f generate",
    "slh-dsa-sha2-128f sign, SK.seed",
    "slh-dsa-sha2-128f sign, SK.prf",
    PLANTED,
];

/// Operations of other sets, for their differences: another η₁, η and γ₁, and SHAKE. They run in one build only, with
/// cargo's release profile, since they take as long as the others.
pub(crate) const OF_OTHER_SETS: [&str; 9] = [
    "ml-kem-512 generate",
    "ml-kem-512 encapsulate",
    "ml-kem-512 decapsulate",
    "ml-dsa-65 generate",
    "ml-dsa-65 sign, secret vectors",
    "ml-dsa-65 sign, secret mask",
    "slh-dsa-shake-128f generate",
    "slh-dsa-shake-128f sign, SK.seed",
    "slh-dsa-shake-128f sign, SK.prf",
];

/// The operation that contains only mistakes.
pub(crate) const PLANTED: &str = "planted";

/// An operation on a backend, and the sites where memcheck found that time depends on a secret.
#[derive(Clone)]
pub(crate) struct Run {
    pub(crate) backend: &'static str,
    pub(crate) operation: &'static str,
    pub(crate) sites: Vec<Site>,
}

/// Runs a program under valgrind.
pub(crate) struct Runner {
    root: PathBuf,
    /// The library to preload.
    poison: PathBuf,
    report: PathBuf,
}

impl Runner {
    /// Compiles the library to preload.
    pub(crate) fn new(root: &Path, folder: &Path) -> Result<Self, Box<dyn Error>> {
        let poison = folder.join("poison.so");
        let source = root.join("tests/evidence/shipped-code/src/poison.c");
        let status = Command::new("cc")
            .args(["-shared", "-fPIC", "-O1", "-o"])
            .args([&poison, &source])
            .status()
            .map_err(|error| starting("cc", "a C compiler", &error))?;
        if !status.success() {
            return Err("poison.c does not compile; it needs valgrind's headers".into());
        }
        Ok(Self {
            root: root.into(),
            poison,
            report: folder.join("report.xml"),
        })
    }

    /// Runs every operation of this build on every backend.
    pub(crate) fn run_all(&self, build: Build, program: &Path) -> Result<Vec<Run>, Box<dyn Error>> {
        let others = OF_OTHER_SETS.iter().filter(|_| build.is_cargos());
        let operations: Vec<_> = OPERATIONS.iter().chain(others).copied().collect();
        let runs = BACKENDS.into_iter().flat_map(|backend| {
            let run = move |operation: &&'static str| self.run(program, backend, operation);
            operations.iter().map(run)
        });
        runs.collect()
    }

    fn run(
        &self,
        program: &Path,
        backend: &'static str,
        operation: &'static str,
    ) -> Result<Run, Box<dyn Error>> {
        let output = Command::new("valgrind")
            .args([
                "--quiet",
                "--error-limit=no",
                "--num-callers=50",
                "--xml=yes",
            ])
            .arg(format!("--xml-file={}", self.report.display()))
            .arg(program)
            .arg(operation)
            .stdin(File::open("/dev/zero")?)
            .env("LD_PRELOAD", &self.poison)
            .env("PQ_CORE_BACKEND", backend)
            .output()
            .map_err(|error| starting("valgrind", "valgrind", &error))?;
        let stdout = String::from_utf8_lossy(&output.stdout);
        if !output.status.success() || stdout.trim_end() != backend {
            let stderr = String::from_utf8_lossy(&output.stderr);
            return Err(format!("{operation} on {backend} failed: {stdout}{stderr}").into());
        }
        let report = fs::read_to_string(&self.report)?;
        Ok(Run {
            backend,
            operation,
            sites: sites(&report, &self.root)?,
        })
    }
}

/// Why a program did not start, and what to do about it.
fn starting(program: &str, package: &str, error: &io::Error) -> String {
    match error.kind() {
        ErrorKind::NotFound => format!("{program} was not found: install {package}"),
        _ => format!("{program} did not start: {error}"),
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Error, ErrorKind};

    use super::starting;

    #[test]
    fn what_to_install_is_said() {
        let missing = starting("valgrind", "valgrind", &ErrorKind::NotFound.into());
        assert_eq!(missing, "valgrind was not found: install valgrind");
        let other = starting("cc", "a C compiler", &Error::other("no memory"));
        assert_eq!(other, "cc did not start: no memory");
    }
}
