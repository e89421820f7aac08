//! Writes `BENCHMARKS.md` and its charts from what `cargo bench -p benches` measured; or, of
//! another machine than the reference one, its page in `benches/machines/`.
//!
//! Fails where a table is missing or older than the others, and on the reference machine where
//! a ratio that this project holds itself to is missed; the page is written all the same.
//!
//! Usage: `cargo run --profile bench -p benches --bin report [-- --machine NAME]`. (The
//! profile only saves compiling the peers once more.)
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

use benches::timing::results;
use clap::Parser;

use self::figures::tables::Tables;
use self::place::{MACHINES, Name, Place, REFERENCE};

/// Writes the page of what was measured, and its charts.
#[derive(Parser)]
struct Options {
    /// The page is benches/machines/NAME/README.md, of a machine that has another CPU than
    /// the ratios are asked of: those that it misses are no failure [default: BENCHMARKS.md]
    #[arg(long, value_name = "NAME")]
    machine: Option<Name>,
}

fn main() -> ExitCode {
    match report(Options::parse()) {
        Ok(report) => report.print(),
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

/// What is wrong with what was measured.
struct Report {
    /// Tables and figures that there should be.
    missing: Vec<String>,
    /// Ratios.
    missed: Vec<String>,
    /// Whether those are asked of this machine.
    is_reference: bool,
}

impl Report {
    fn print(&self) -> ExitCode {
        for line in &self.missing {
            eprintln!("FAILED {line}");
        }
        let verdict = match self.is_reference {
            true => "FAILED",
            false => "missed, but not asked of this machine:",
        };
        for line in &self.missed {
            eprintln!("{verdict} {line}");
        }
        if self.missing.is_empty() {
            println!("Everything was measured.");
        }
        if self.missed.is_empty() {
            println!("Every ratio is met.");
        }
        match self.missing.is_empty() && (self.missed.is_empty() || !self.is_reference) {
            true => ExitCode::SUCCESS,
            false => ExitCode::FAILURE,
        }
    }
}

/// Writes the page and the charts, and the list of machines.
fn report(options: Options) -> Result<Report, Box<dyn Error>> {
    let folder = results::folder()?;
    let groups = match results::load(&folder) {
        Err(error) if error.kind() == ErrorKind::NotFound => {
            let folder = folder.display();
            return Err(format!("{folder}: {error}; run `cargo bench -p benches` first").into());
        }
        loaded => loaded?,
    };
    let loopback = match results::load(&benches::tls::loopback::folder()?) {
        Err(error) if error.kind() == ErrorKind::NotFound => Vec::new(),
        loaded => loaded?,
    };
    let tables = Tables::of_one_run(groups, loopback);

    let place = Place::of(options.machine)?;
    fs::create_dir_all(place.charts())?;
    fs::write(place.page(), page::write(&tables, &place)?)?;

    let reference = place.file(REFERENCE);
    let page = fs::read_to_string(&reference)?;
    let others = overview::find(&place.file(MACHINES))?;
    fs::write(reference, overview::listed(&page, &others))?;

    Ok(Report {
        missing: tables.missing(),
        missed: goals::missed(&tables),
        is_reference: place.machine().is_none(),
    })
}
