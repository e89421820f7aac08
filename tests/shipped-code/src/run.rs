//! Runs of the program under valgrind.

use core::error::Error;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::report::{Site, sites};

/// What valgrind can run. It knows no AVX-512, which it hides from programs.
pub(crate) const BACKENDS: [&str; 2] = ["portable", "AVX2"];

/// The operations of the program, whose source says what is secret in each.
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

/// The one that is nothing but mistakes.
pub(crate) const PLANTED: &str = "planted";

/// An operation on a backend, and where memcheck found that time depends on a secret.
#[derive(Clone)]
pub(crate) struct Run {
    pub(crate) backend: &'static str,
    pub(crate) operation: &'static str,
    pub(crate) sites: Vec<Site>,
}

/// Runs a program.
pub(crate) struct Runner {
    root: PathBuf,
    /// What is preloaded.
    poison: PathBuf,
    report: PathBuf,
}

impl Runner {
    /// Compiles what is preloaded.
    pub(crate) fn new(root: &Path, folder: &Path) -> Result<Self, Box<dyn Error>> {
        let poison = folder.join("poison.so");
        let source = root.join("tests/shipped-code/src/poison.c");
        let status = Command::new("cc")
            .args(["-shared", "-fPIC", "-O1", "-o"])
            .args([&poison, &source])
            .status();
        if !status.is_ok_and(|status| status.success()) {
            return Err("install a C compiler, and valgrind with its headers".into());
        }
        Ok(Self {
            root: root.into(),
            poison,
            report: folder.join("report.xml"),
        })
    }

    /// Every operation on every backend.
    pub(crate) fn run_all(&self, program: &Path) -> Result<Vec<Run>, Box<dyn Error>> {
        let runs = BACKENDS.into_iter().flat_map(|backend| {
            let run = move |operation| self.run(program, backend, operation);
            OPERATIONS.into_iter().map(run)
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
            .output()?;
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
