//! Measures all subjects and the planted leaks, and prints a table.
#![forbid(unsafe_code)]

use core::time::Duration;
use std::process::ExitCode;

use clap::Parser;
use timing::measure::{Subject, compare, compare_until_difference};
use timing::statistics::{Finding, THRESHOLD};
use timing::subjects;

/// Measures whether the time of pq-core's operations tells secrets apart
///
/// The exit status is 1 if it does, or if a planted leak is not found. PQ_CORE_BACKEND=portable (or AVX2) selects the
/// backend.
#[derive(Parser)]
struct Arguments {
    /// For how many seconds to measure each operation; longer if a difference shows
    #[arg(long, default_value_t = 20)]
    seconds: u64,
}

fn main() -> ExitCode {
    let time = Duration::from_secs(Arguments::parse().seconds);
    println!("| operation | inputs | times | difference | t | noticed from | |");
    println!("|---|---|---:|---:|---:|---:|---|");
    let mut is_as_expected = true;
    for mut subject in subjects::all() {
        let mut finding = compare(&mut *subject, time);
        if finding.is_difference() {
            // A real difference shows more clearly in more measurements; one by chance does not come again.
            finding = compare(&mut *subject, 4 * time);
        }
        is_as_expected &= !finding.is_difference();
        let verdict = match finding.is_difference() {
            false => "none seen",
            true => "**LEAKS**",
        };
        print(&*subject, &finding, verdict);
    }
    for mut subject in subjects::planted() {
        let finding = compare_until_difference(&mut *subject, time / 4);
        is_as_expected &= finding.is_difference();
        let verdict = match finding.is_difference() {
            false => "planted, **NOT FOUND**",
            true => "planted, found",
        };
        print(&*subject, &finding, verdict);
    }
    match is_as_expected {
        true => ExitCode::SUCCESS,
        false => ExitCode::FAILURE,
    }
}

fn print(subject: &dyn Subject, finding: &Finding, verdict: &str) {
    let [first, second] = subject.classes();
    println!(
        "| {} | {first}; {second} | {} | {:+.1} ns | {:+.1} of {THRESHOLD} | {:.1} ns | {verdict} |",
        subject.name(),
        finding.samples,
        finding.difference,
        finding.t,
        finding.noticeable,
    );
}
