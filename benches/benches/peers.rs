//! Measures every operation and whole handshakes beside the peers, and keeps the results
//! for the report.
#![forbid(unsafe_code)]

use core::error::Error;
use std::ffi::OsString;
use std::path::Path;
use std::process::ExitCode;
use std::{io, thread};

use benches::custody::{self, Custody};
use benches::ours::batches::Batch;
use benches::ours::documents::{self, Work};
use benches::ours::growth::{Growth, SIZES};
use benches::ours::keccak;
use benches::peers::{self, openssl, program};
use benches::schemes::ml_dsa;
use benches::schemes::set::{Operation, Set};
use benches::sources;
use benches::timing::results::{self, Group, Measured, Timing};
use benches::timing::{Effort, Row, measure, try_out};
use benches::tls::account;
use benches::tls::handshake::Pair;
#[cfg(target_os = "linux")]
use benches::tls::loopback;
use clap::Parser;
use serde::Serialize;

/// Measures operations and handshakes beside the peers.
#[derive(Parser)]
struct Options {
    /// Only tables whose names begin so, such as ML-KEM-768/encapsulation, or handshake.
    filters: Vec<String>,

    /// Only this implementation, for profiling; nothing is kept for the report.
    #[arg(long, value_name = "ROW")]
    only: Option<String>,

    /// Fewer samples, for a first look; nothing is kept for the report.
    #[arg(long)]
    quick: bool,

    /// What cargo says when it wants measurements, and not only to see that all runs.
    #[arg(long, hide = true)]
    bench: bool,

    /// Part of what cargo may say to a test.
    #[arg(long, hide = true)]
    test: bool,

    /// Be pqtls, with a command that this program measures.
    #[cfg(target_os = "linux")]
    #[arg(long, hide = true, num_args = 1.., allow_hyphen_values = true)]
    as_pqtls: Option<Vec<OsString>>,

    /// Be a server that this program measures: the provider, the table, the folder.
    #[cfg(target_os = "linux")]
    #[arg(long, hide = true, num_args = 3)]
    serve: Option<Vec<String>>,
}

impl Options {
    fn want(&self, table: &str) -> bool {
        self.filters.is_empty() || self.filters.iter().any(|filter| table.starts_with(filter))
    }

    /// The operations whose tables are wanted.
    fn wanted<O: Copy>(
        &self,
        operations: impl IntoIterator<Item = O>,
        table: impl Fn(O) -> String,
    ) -> Vec<O> {
        operations
            .into_iter()
            .filter(|operation| self.want(&table(*operation)))
            .collect()
    }

    /// Whether tables are wanted in which the peers have rows: all but those of keys in custody.
    fn wants_peers(&self) -> bool {
        let custody = |filter: &String| filter.starts_with("keystore");
        self.filters.is_empty() || !self.filters.iter().all(custody)
    }

    /// Whether to measure, and not only to see that everything runs.
    fn measures(&self) -> bool {
        self.bench && !self.test
    }

    /// Whether what is measured is for the report.
    fn keeps(&self) -> bool {
        self.measures() && !self.quick && self.only.is_none()
    }

    /// Whether programs are asked for what they measure of themselves.
    fn asks_programs(&self) -> bool {
        self.measures() && self.only.is_none()
    }

    /// What to do with a parameter set, which is made only if one of its tables is wanted;
    /// `reported` comes on top of what is measured.
    fn run_set<O: Operation + PartialEq>(
        &self,
        name: &str,
        make: impl FnOnce() -> Set<O>,
        reported: impl FnOnce() -> Vec<(O, Timing)>,
        sources: &str,
    ) -> Result<(), Box<dyn Error>> {
        let wanted = self.wanted(O::ALL.iter().copied(), |operation| operation.table(name));
        if wanted.is_empty() {
            return Ok(());
        }
        let set = make();
        set.check();
        let mut reported = match self.asks_programs() {
            true => reported(),
            false => Vec::new(),
        };
        for operation in wanted {
            let reported = reported
                .extract_if(.., |(reported, _)| *reported == operation)
                .map(|(_, timing)| timing)
                .next();
            self.run(set.rows(operation).collect(), reported, sources)?;
        }
        Ok(())
    }

    /// What to do with the rows of one or several tables; `reported` comes on top of the
    /// last one.
    fn run(
        &self,
        mut rows: Vec<Row<'_>>,
        reported: Option<Timing>,
        sources: &str,
    ) -> Result<(), Box<dyn Error>> {
        if let Some(only) = &self.only {
            rows.retain(|row| row.name == *only);
        }
        if !self.measures() {
            try_out(rows);
            return Ok(());
        }
        let mut groups = measure(rows, self.effort());
        if let Some(last) = groups.last_mut() {
            last.rows.extend(reported);
        }
        groups
            .iter()
            .try_for_each(|group| self.show(group, sources))
    }

    /// What to do with a table of keys in custody.
    fn run_custody(&self, custody: Custody, sources: &str) -> Result<(), Box<dyn Error>> {
        let mut rows = custody.rows()?;
        if let Some(only) = &self.only {
            rows.retain(|row| row.name == *only);
        }
        if !self.measures() {
            try_out(rows);
            return Ok(());
        }
        for mut group in measure(rows, custody.effort(self.effort())) {
            if self.asks_programs() {
                group.rows.extend(custody.reported(&group.rows)?);
            }
            self.show(&group, sources)?;
        }
        Ok(())
    }

    fn effort(&self) -> Effort {
        match self.quick || !self.measures() {
            true => Effort::QUICK,
            false => Effort::FULL,
        }
    }

    /// Prints a table, and keeps it for the report if it is a whole one.
    fn show(&self, group: &Group, sources: &str) -> Result<(), Box<dyn Error>> {
        print(group);
        if self.keeps() {
            keep(&results::folder()?, sources, &group.name, group)?;
        }
        Ok(())
    }
}

fn main() -> Result<ExitCode, Box<dyn Error>> {
    let options = Options::parse();
    #[cfg(target_os = "linux")]
    if let Some(command) = &options.as_pqtls {
        return Ok(custody::as_pqtls(command));
    }
    run(&options).map(|()| ExitCode::SUCCESS)
}

fn run(options: &Options) -> Result<(), Box<dyn Error>> {
    #[cfg(target_os = "linux")]
    if let Some([provider, table, folder]) = options.serve.as_deref() {
        return loopback::serve(provider, table, folder.as_ref());
    }
    if options.keeps() && options.wants_peers() && !cfg!(feature = "pqclean") {
        return Err(
            "PQClean is not compiled in, which the report wants: `cargo bench -p benches --features pqclean`, \
             or `--quick` for figures that are not kept"
                .into(),
        );
    }
    let sources = sources::hash(sources::repository())?;
    if options.measures() {
        if options.wants_peers() {
            program::missing()
                .iter()
                .for_each(|line| eprintln!("{line}"));
        }
        run_operations(options, &sources)?;
        return run_over_time(options, &sources);
    }
    // Nothing is measured, and the second part mostly waits.
    thread::scope(|scope| {
        let over_time =
            scope.spawn(|| run_over_time(options, &sources).map_err(|error| error.to_string()));
        run_operations(options, &sources)?;
        Ok(over_time.join().expect("it does not panic")?)
    })
}

/// Operations and handshakes, in this process.
fn run_operations(options: &Options, sources: &str) -> Result<(), Box<dyn Error>> {
    for step in options.wanted(keccak::Step::ALL, keccak::Step::table) {
        options.run(step.rows(), None, sources)?;
    }
    for (name, make) in peers::ML_KEM {
        options.run_set(name, make, Vec::new, sources)?;
    }
    let messages = match options.measures() {
        true => ml_dsa::MESSAGES,
        false => 1,
    };
    for (name, make) in peers::ML_DSA {
        options.run_set(name, || make(messages), Vec::new, sources)?;
    }
    for (name, make) in peers::SLH_DSA {
        // Unoptimised, the slow sets take minutes.
        if options.measures() || name.ends_with("128f") {
            options.run_set(name, make, || openssl::slh_dsa(name), sources)?;
        }
    }

    for batch in Batch::ALL {
        if options.want(&batch.table()) {
            options.run(batch.rows(), None, sources)?;
        }
    }

    for work in options.wanted(Work::ALL, Work::table) {
        let reported = match work {
            Work::Hashing if options.asks_programs() => openssl::sha512(documents::LEN),
            _ => None,
        };
        options.run(work.rows(), reported, sources)?;
    }

    let pairs = Pair::all(|combination| options.want(&combination.to_string()))?;
    for pair in &pairs {
        pair.check();
    }
    // All in turn, since tables are held against each other.
    options.run(pairs.iter().map(Pair::row).collect(), None, sources)?;

    for combination in options.wanted(account::COMBINATIONS, account::table) {
        let effort = options.effort();
        match account::measure(combination, effort)? {
            Some(account) if options.measures() => options.show(&account, sources)?,
            _ => {}
        }
    }
    Ok(())
}

/// Operations on many certificates, whose files are watched; keys in custody; connections between processes.
fn run_over_time(options: &Options, sources: &str) -> Result<(), Box<dyn Error>> {
    // Unoptimised, the largest would take minutes.
    let most = SIZES[if options.measures() { 2 } else { 1 }];
    for growth in Growth::ALL {
        if options.want(&growth.table()) {
            options.run(growth.rows(most), None, sources)?;
        }
    }
    if options.measures() && options.want(&Custody::Signing.table()) {
        custody::missing()
            .iter()
            .for_each(|line| eprintln!("{line}"));
    }
    for custody in options.wanted(Custody::ALL.iter().copied(), Custody::table) {
        options.run_custody(custody, sources)?;
    }
    #[cfg(target_os = "linux")]
    measure_loopback(options, sources)?;
    Ok(())
}

/// What processes do over sockets, and what Linux says that they take.
#[cfg(target_os = "linux")]
fn measure_loopback(options: &Options, sources: &str) -> Result<(), Box<dyn Error>> {
    let wanted = options.wanted(loopback::COMBINATIONS, loopback::table);
    if wanted.is_empty() {
        return Ok(());
    }
    let effort = match (options.measures(), options.quick) {
        (false, _) => loopback::Effort::TRY_OUT,
        (true, true) => loopback::Effort::QUICK,
        (true, false) => loopback::Effort::FULL,
    };
    let only = |row: &str| options.only.as_ref().is_none_or(|only| row == only);
    for table in loopback::measure(&wanted, effort, only)? {
        println!("{table}");
        if options.keeps() {
            keep(&loopback::folder()?, sources, &table.name, &table)?;
        }
    }
    Ok(())
}

/// Keeps a table for the report, with the hash of what it is of.
fn keep(folder: &Path, sources: &str, name: &str, table: &impl Serialize) -> io::Result<()> {
    let sources = sources.to_owned();
    results::save(folder, name, &Measured { sources, table })
}

/// The table, the fastest row first.
fn print(group: &Group) {
    println!("{}", group.name);
    let mut rows: Vec<_> = group.rows.iter().collect();
    rows.sort_by(|a, b| a.time.median.total_cmp(&b.time.median));
    for row in rows {
        let spread = (row.time.upper - row.time.lower) / row.time.median * 50.0;
        print!(
            "  {:<28}{:>12.2} µs ±{spread:>4.1} %",
            row.name,
            row.time.median / 1e3
        );
        if let Some(sides) = &row.sides {
            let (client, server) = (sides.client.median / 1e3, sides.server.median / 1e3);
            print!("   client {client:>8.2}  server {server:>8.2}");
        }
        println!();
    }
    println!();
}
