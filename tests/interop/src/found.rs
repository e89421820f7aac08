//! The inputs that reviewers found, in the folder beside the checkout.
//!
//! They are not part of the project, so a test that lacks them says so and passes, also in CI.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;

use crate::openssl::TIME_LIMIT;
use crate::process::{Output, Process};
use crate::tell;

/// The folder `../shared/found`, and a program that runs in it.
#[derive(Debug)]
pub struct Found {
    folder: PathBuf,
    pqtls: &'static str,
}

/// A command of `pqtls` on inputs, and what has to come of it.
#[derive(Clone, Copy, Debug)]
pub struct Case {
    /// The arguments, split at white space; names of files are relative to the folder with the inputs.
    pub command: &'static str,
    /// The exit status.
    pub status: i32,
    /// A part of what the program prints.
    pub says: &'static str,
}

impl Found {
    /// The folder; `None` where there is none, which has been said then. `pqtls` is the path of the program.
    pub fn new(pqtls: &'static str) -> Option<Self> {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/found");
        if folder.is_dir() {
            return Some(Self { folder, pqtls });
        }
        let thread = thread::current();
        let test = thread.name().unwrap_or("a test");
        tell(&format!(
            "SKIPPED {test}: the inputs that reviewers found are not beside the checkout, in ../shared/found"
        ));
        None
    }

    /// The path of an input.
    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// The bytes of an input.
    ///
    /// # Panics
    /// If there is none of this name.
    pub fn read(&self, name: &str) -> Vec<u8> {
        std::fs::read(self.path(name)).unwrap_or_else(|err| panic!("can't read {name}: {err}"))
    }

    /// Runs `pqtls <line>` in the folder, to its end. The folder may be read-only: what a command writes has
    /// to go elsewhere.
    ///
    /// # Panics
    /// If it does not end.
    pub fn pqtls(&self, line: &str) -> Output {
        let mut command = Command::new(self.pqtls);
        command
            .current_dir(&self.folder)
            .args(line.split_whitespace())
            .env_remove("PQTLS_CA");
        Process::spawn(&mut command).finish(TIME_LIMIT)
    }

    /// Runs all cases, and reports all that do not end as they have to.
    ///
    /// # Panics
    /// If there are such cases.
    pub fn check(&self, cases: &[Case]) {
        let wrong: Vec<String> = cases
            .iter()
            .filter_map(|case| {
                let output = self.pqtls(case.command);
                let is_said =
                    output.stdout().contains(case.says) || output.stderr().contains(case.says);
                let is_right = output.code() == Some(case.status) && is_said;
                (!is_right).then(|| format!("{case:?}: {output}"))
            })
            .collect();
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    }
}
