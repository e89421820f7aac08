//! How a test says that it does not run, because something is missing beside the repository or on this machine.
//!
//! It prints to the terminal, since the test harness shows what tests print only when they fail; and it notes the
//! reason for the last program of `cargo test --workspace`, `summary`, which prints all of them together.

use std::env;
use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::thread;

/// Says that a test is skipped, and why; the caller returns then.
///
/// # Panics
/// In CI (the environment variable `CI` is set and not empty, `0` or `false`), where a skipped test is a failed test.
pub fn skip(why: &str) {
    let in_ci = env::var("CI").is_ok_and(|value| !["", "0", "false"].contains(&value.as_str()));
    assert!(!in_ci, "skipping a test is a failure in CI: {why}");
    cannot_run(why);
}

/// Says that a test can't run on this machine, in CI neither; the caller returns then.
pub fn cannot_run(why: &str) {
    // The test harness names its threads after the tests.
    let thread = thread::current();
    let line = format!(
        "SKIPPED {}: {}\n",
        thread.name().unwrap_or("a test"),
        why.trim().replace('\n', " ")
    );
    // Nobody is told if there is no terminal, and nothing is noted where there are no files; the test passes anyway.
    let _ = io::stderr().lock().write_all(line.as_bytes());
    if let Some(notes) = notes() {
        let _ = note(&notes, &line);
    }
}

fn note(notes: &Path, line: &str) -> io::Result<()> {
    let mut file = OpenOptions::new().create(true).append(true).open(notes)?;
    file.write_all(line.as_bytes())
}

/// What was noted in this run of cargo, a line for each test. Forgets it, and what earlier runs have left.
pub fn all() -> Vec<String> {
    let Some(notes) = notes() else {
        return Vec::new();
    };
    let text = fs::read_to_string(&notes).unwrap_or_default();
    if let Some(folder) = notes.parent()
        && let Ok(files) = fs::read_dir(folder)
    {
        for file in files.flatten() {
            if file.file_name().to_string_lossy().starts_with(PREFIX) {
                // Another run may have removed it.
                let _ = fs::remove_file(file.path());
            }
        }
    }
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    lines.sort();
    lines.dedup();
    lines
}

const PREFIX: &str = "skipped-tests-of-";

/// A file in the target folder, named after the process that started this one: all test programs of one run have the
/// same.
fn notes() -> Option<PathBuf> {
    #[cfg(unix)]
    let run = std::os::unix::process::parent_id();
    #[cfg(not(unix))]
    let run = 0;
    let program = env::current_exe().ok()?;
    let profile = program.ancestors().nth(2)?;
    Some(profile.join(format!("{PREFIX}{run}")))
}
