//! Writes `BENCHMARKS.md` and its charts from what `cargo bench -p benches` measured.
//!
//! Fails where a ratio that this project holds itself to is missed, and where a table is
//! missing or older than the others; the page is written all the same.
//!
//! Usage: `cargo run --profile bench -p benches --bin report`. (The profile only saves
//! compiling the peers once more.)
#![forbid(unsafe_code)]

extern crate alloc;

mod chart;
mod environment;
mod floor;
mod goals;
mod loopback;
mod operations;
mod page;
mod tables;

use core::error::Error;
use std::fs;
use std::io::ErrorKind;
use std::path::Path;
use std::process::ExitCode;

use benches::results;

use self::tables::Tables;

fn main() -> ExitCode {
    match report() {
        Ok(failures) if failures.is_empty() => {
            println!("Everything was measured, and every ratio is met.");
            ExitCode::SUCCESS
        }
        Ok(failures) => {
            for failure in failures {
                eprintln!("FAILED {failure}");
            }
            ExitCode::FAILURE
        }
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

/// Writes the page and the charts, and returns what is wrong.
fn report() -> Result<Vec<String>, Box<dyn Error>> {
    let folder = results::folder()?;
    let groups = results::load(&folder).map_err(|error| {
        format!(
            "{}: {error}; run `cargo bench -p benches` first",
            folder.display()
        )
    })?;
    let loopback = match results::load(&benches::loopback::folder()?) {
        Err(error) if error.kind() == ErrorKind::NotFound => Vec::new(),
        loaded => loaded?,
    };
    let tables = Tables::of_one_run(groups, loopback);

    let root = Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .ok_or("the crate is in a workspace")?;
    let charts = root.join("benches").join("charts");
    fs::create_dir_all(&charts)?;
    fs::write(root.join("BENCHMARKS.md"), page::write(&tables, &charts)?)?;

    let mut failures = tables.missing();
    failures.extend(goals::failures(&tables));
    Ok(failures)
}
