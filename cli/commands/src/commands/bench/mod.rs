//! How fast this program is here, by itself and beside OpenSSL.
//!
//! `rows` says what is measured, and `measure` how. `issuing` is the row of the CA, `documents` the rows of
//! signed and encrypted files, and `openssl` the comparison. `findings` has the results, which `page` shows as text.
//!
//! It may use the rest of its [room](super), and what that room may use.

mod backends;
mod documents;
mod findings;
mod issuing;
mod machine;
mod measure;
mod openssl;
mod page;
mod rows;

use core::time::Duration;
use std::env;
use std::path::PathBuf;

use pq_keys::encoding::rfc3339;
use pq_x509::pki_types::UnixTime;

use self::backends::Backend;
pub(super) use self::backends::check_environment;
use self::findings::{Findings, Measured};
use self::machine::Machine;
use self::measure::{Clock, Series, TURNS, Timing};
use self::openssl::Openssl;
use self::rows::Row;
use crate::exit_status::ExitStatus;
use crate::failure::Failure;
use crate::progress;
use crate::report;

/// Measure how fast this program is on this machine
///
/// It measures single calls of each operation of each algorithm on one core, with each set of instructions that
/// the operation is written for and this CPU has. Then it measures how many certificates a CA issues from
/// requests, from files to files in one process. If documents are named, it also measures how fast "pqtls cms"
/// signs, verifies, encrypts and decrypts them, in a process for each.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// Measure only what has one of these in its name, such as ML-KEM-768, signing, "ML-DSA-65 verification",
    /// issuing or documents
    #[arg(value_name = "WHAT")]
    filters: Vec<String>,

    /// Also measure documents, and the SLH-DSA sets with small signatures: these take minutes
    #[arg(long)]
    all: bool,

    /// How many seconds to measure each operation with each set of instructions
    #[arg(long, value_name = "SECONDS", value_parser = seconds, default_value = "0.5")]
    time: Duration,

    /// Compare with "openssl speed", which takes a second for each operation, "openssl x509 -req" and "openssl
    /// cms"
    #[arg(long)]
    compare: bool,

    /// OpenSSL's program to compare with, version 3.5 or later [default: openssl on the path]
    #[arg(long, value_name = "PROGRAM", requires = "compare")]
    openssl: Option<PathBuf>,

    /// How large documents are, in MiB
    #[arg(long, value_name = "MIB", value_parser = clap::value_parser!(u64).range(1..=65536), default_value = "256")]
    size: u64,

    /// The folder in which a CA and documents are made and removed [default: the one for temporary files]
    #[arg(long = "in", value_name = "DIR")]
    above: Option<PathBuf>,
}

const EXAMPLES: &str = "\
Examples:
  $ pqtls bench ML-DSA-65 --time 0.01 > bench.md
  $ pqtls bench ML-KEM-768 issuing --time 0.01 --json > bench.json
  $ pqtls bench documents --size 1 > documents.md
With OpenSSL 3.5 or later:
  pqtls bench --compare --openssl /opt/openssl/bin/openssl > bench.md";

pub(crate) fn run(arguments: &Arguments, json: bool) -> Result<ExitStatus, Failure> {
    let wanted = Wanted::by(arguments)?;
    let openssl = match (arguments.compare, &arguments.openssl) {
        (true, Some(program)) => Some(Openssl::find(program)?),
        (true, None) => Some(Openssl::find("openssl".as_ref())?),
        (false, _) => None,
    };
    let findings = measure(arguments, &wanted, openssl)?;
    report::print(&findings, json)?;
    Ok(ExitStatus::Done)
}

/// What is to be measured.
struct Wanted {
    rows: Vec<Row>,
    issuing: bool,
    documents: bool,
}

impl Wanted {
    fn by(arguments: &Arguments) -> Result<Self, Failure> {
        let filters: Vec<String> = arguments
            .filters
            .iter()
            .map(|filter| filter.to_ascii_lowercase())
            .collect();
        let passes = |name: &str| {
            let name = name.to_ascii_lowercase();
            filters.is_empty() || filters.iter().any(|filter| name.contains(filter))
        };
        let is_named = |row: &Row| {
            let name = row.algorithm.name().to_ascii_lowercase();
            filters.iter().any(|filter| filter.contains(&name))
        };
        let wanted = Self {
            rows: Row::all()
                .filter(|row| passes(&row.name()))
                .filter(|row| arguments.all || !row.is_slow() || is_named(row))
                .collect(),
            issuing: passes(&issuing::name()),
            documents: (arguments.all || !filters.is_empty()) && passes(documents::NAME),
        };
        match wanted.rows.is_empty() && !wanted.issuing && !wanted.documents {
            true => Err(Failure::NothingToMeasure(arguments.filters.join(", "))),
            false => Ok(wanted),
        }
    }
}

fn measure(
    arguments: &Arguments,
    wanted: &Wanted,
    openssl: Option<Openssl>,
) -> Result<Findings, Failure> {
    on_one_core();
    let clock = Clock::new();
    let backends = backends::all();
    let others = usize::from(wanted.issuing) + usize::from(wanted.documents);
    let progress = progress::of_things(wanted.rows.len() + others);
    let mut operations: Vec<Measured> = Vec::new();
    let mut speed = Vec::new();
    for row in &wanted.rows {
        progress.set_message(row.name());
        let timings = measure_row(row, &backends, arguments.time, clock)?;
        if let Some(openssl) = &openssl
            && operations
                .last()
                .is_none_or(|last| last.row.algorithm != row.algorithm)
        {
            speed = openssl.speed(*row)?;
        }
        operations.push(Measured::new(*row, timings, &speed));
        progress.inc(1);
    }
    let above = arguments.above.clone().unwrap_or_else(env::temp_dir);
    let issuing = match wanted.issuing {
        true => {
            progress.set_message(issuing::name());
            Some(issuing::measure(
                &above,
                arguments.time,
                &backends,
                openssl.as_ref(),
            )?)
        }
        false => None,
    };
    let documents = match wanted.documents {
        true => {
            progress.inc(1);
            progress.set_message(documents::NAME);
            Some(documents::measure(
                &above,
                arguments.size,
                openssl.as_ref(),
            )?)
        }
        false => None,
    };
    drop(progress);
    Ok(Findings {
        version: env!("CARGO_PKG_VERSION"),
        measured: rfc3339(UnixTime::now()),
        machine: Machine::this(&backends),
        openssl,
        operations,
        issuing,
        documents,
    })
}

/// An operation on each backend. All have the same keys, and take turns.
fn measure_row(
    row: &Row,
    backends: &[Backend],
    time: Duration,
    clock: Clock,
) -> Result<Vec<(&'static str, Timing)>, Failure> {
    let mut call = row.prepare()?;
    let mut all: Vec<Series> = backends.iter().map(|_| Series::default()).collect();
    for _ in 0..TURNS {
        for (backend, series) in backends.iter().zip(&mut all) {
            backend.choose();
            series.take_turn(&mut call, time / TURNS, clock)?;
        }
    }
    backends::choose_best();
    let names = backends.iter().map(|backend| backend.name);
    Ok(names.zip(all.into_iter().map(Series::timing)).collect())
}

/// Limits SLH-DSA to one core: it would make keys and sign on all cores. Nothing else here does so.
fn on_one_core() {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1);
    // This fails only if threads were started before, and no other command was run.
    let _ = pool.use_current_thread().build_global();
}

/// Reads a number of seconds, which need not be whole.
fn seconds(text: &str) -> Result<Duration, String> {
    let seconds: Option<f64> = text.parse().ok();
    seconds
        .filter(|seconds| (0.001..=600.0).contains(seconds))
        .map(Duration::from_secs_f64)
        .ok_or_else(|| "write a number from 0.001 to 600, such as 0.5".into())
}
