//! Writes the page of a machine and its charts from the measurements of `cargo bench -p benches --features pqclean`.
//! It also writes what follows from all pages: `BENCHMARKS.md`, README's figures and chart, and the first lines of
//! pages that are older than the code.
//!
//! ```text
//! overview ─→ page ─→ goals ─→ figures
//! ```
//!
//! A room may use the rooms to its right. In addition `page` uses `chart` and `place`, `overview` uses
//! `chart` and `place`, and `chart` uses `figures`.
//!
//! Usage: `cargo run --profile bench -p benches --bin report -- --machine NAME`, or with `--date-pages` or
//! `--check`. The profile only saves compiling the peers again.
#![forbid(unsafe_code)]

extern crate alloc;

mod chart;
mod figures;
mod goals;
mod overview;
mod page;
mod place;

use core::error::Error;
use std::fs;
use std::io::ErrorKind;
use std::process::ExitCode;

use benches::sources;
use benches::timing::results;
use benches::tls::loopback;
use clap::{Args, Parser};

use self::figures::tables::Tables;
use self::place::{Name, Place};

/// Writes a machine's page from its measurements, and what follows from all pages.
#[derive(Parser)]
struct Options {
    #[command(flatten)]
    task: Task,
}

#[derive(Args)]
#[group(required = true, multiple = false)]
struct Task {
    /// Write benches/machines/NAME/README.md from the measurements on this machine; fail if a table
    /// is missing, or if a ratio misses the goal of its class of CPU
    #[arg(long, value_name = "NAME")]
    machine: Option<Name>,

    /// Write into the first line of each page how old it is, if the code has changed since
    #[arg(long)]
    date_pages: bool,

    /// Fail if a page is older than the code and doesn't say so
    #[arg(long)]
    check: bool,
}

fn main() -> ExitCode {
    match run(Options::parse().task) {
        Ok(failures) if failures.is_empty() => ExitCode::SUCCESS,
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

/// Does the task, and returns what is wrong.
fn run(task: Task) -> Result<Vec<String>, Box<dyn Error>> {
    let root = sources::repository();
    if task.check {
        let stale = overview::stale(root)?.into_iter().map(|page| {
            format!(
                "{page}: the code has changed, but the page doesn't say so; run \
                 `cargo run -p benches --bin report -- --date-pages`"
            )
        });
        return Ok(stale.collect());
    }
    let mut failures = Vec::new();
    if let Some(machine) = task.machine {
        let tables = measured()?;
        let place = Place::of(root, machine);
        fs::create_dir_all(place.charts())?;
        fs::write(place.page(), page::write(&tables, &place)?)?;
        failures.extend(tables.missing());
        failures.extend(goals::missed(&tables));
    }
    overview::write(root)?;
    Ok(failures)
}

/// The tables of the last run.
fn measured() -> Result<Tables, Box<dyn Error>> {
    let folder = results::folder()?;
    let groups = match results::load(&folder) {
        Err(error) if error.kind() == ErrorKind::NotFound => {
            let folder = folder.display();
            return Err(format!(
                "{folder}: {error}; run `cargo bench -p benches --features pqclean` first"
            )
            .into());
        }
        loaded => loaded?,
    };
    let loopback = match results::load(&loopback::folder()?) {
        Err(error) if error.kind() == ErrorKind::NotFound => Vec::new(),
        loaded => loaded?,
    };
    Ok(Tables::of_one_run(groups, loopback))
}
