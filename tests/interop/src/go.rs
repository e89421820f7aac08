//! Go: programs of this package's folder `judges`, built without the network, and where Go's own sources are.
//!
//! It is the `go` on `PATH`, or of its toolchains the one that the environment variable `GOTOOLCHAIN` names, such as
//! `go1.27.3`, if that is there.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

use testing::skipped::cannot_run;

use crate::skip;

/// Builds the program in `judges/NAME.go` into the folder, with a Go 1.`minor` or later.
///
/// `None` without Go, which is a failure in CI, and with an earlier one.
///
/// # Panics
/// If it can't be compiled.
pub fn build(name: &str, minor: u32, folder: &Path) -> Option<PathBuf> {
    if !is_there(minor) {
        return None;
    }
    let program = folder.join(format!("judge-{name}"));
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("judges/{name}.go"));
    let status = go()
        .args(["build", "-o"])
        .args([&program, &source])
        .current_dir(folder)
        .status()
        .expect("it ran before");
    assert!(status.success(), "compiling {} failed", source.display());
    Some(program)
}

/// The folder of the sources of a Go 1.`minor` or later; `None` as [`build`] has it.
pub fn sources(minor: u32) -> Option<PathBuf> {
    is_there(minor).then(|| {
        Path::new(said(&["env", "GOROOT"])?.trim())
            .join("src")
            .into()
    })?
}

fn go() -> Command {
    let mut command = Command::new("go");
    if env::var_os("GOTOOLCHAIN").is_none() {
        command.env("GOTOOLCHAIN", "local");
    }
    command.env("GOPROXY", "off");
    command
}

fn said(options: &[&str]) -> Option<String> {
    let output = go().args(options).output().ok()?;
    let is_well = output.status.success();
    is_well.then(|| String::from_utf8(output.stdout).expect("Go writes UTF-8"))
}

/// Whether there is a Go of this version or later.
fn is_there(minor: u32) -> bool {
    let Some(version) = said(&["env", "GOVERSION"]) else {
        skip("Go is missing; Debian has it in the package golang-go");
        return false;
    };
    let found = version.trim().strip_prefix("go1.");
    let found = found.and_then(|rest| {
        rest.split(|c: char| !c.is_ascii_digit())
            .next()?
            .parse()
            .ok()
    });
    let is_late = found.is_some_and(|found: u32| found >= minor);
    if !is_late {
        cannot_run(&format!(
            "this needs Go 1.{minor}, and there is {}; GOTOOLCHAIN names another one",
            version.trim()
        ));
    }
    is_late
}
