//! The page of a machine, a file for each kind of section.
//!
//! Uses [`goals`](crate::goals) and [`figures`].

mod account;
mod batches;
pub(crate) mod environment;
mod floors;
pub(crate) mod goals;
mod growth;
pub(crate) mod handshakes;
mod loopback;
mod operations;

use core::error::Error;
use core::fmt::Write;

use crate::figures;
use crate::figures::tables::Tables;
use crate::goals::class::Class;
use crate::place::Place;

/// The text of the page for a place. Also draws its charts there.
pub(crate) fn write(tables: &Tables, place: &Place) -> Result<String, Box<dyn Error>> {
    let measured = tables.measured().zip(tables.sources());
    let (measured, sources) = measured.ok_or("nothing was measured")?;
    let class = Class::of(tables)?;

    let mut page = String::new();
    introduction(&mut page, place)?;
    writeln!(page, "\n| | |\n|---|---|")?;
    for (what, which) in environment::describe(tables, class, measured, sources)? {
        writeln!(page, "{}", environment::row(what, &which))?;
    }
    goals::section(&mut page, tables, class)?;
    if let Some(column) = class.column() {
        floors::section(&mut page, tables, column)?;
    }
    for operation in figures::operations::ALL {
        operations::section(&mut page, tables, operation, place)?;
    }
    batches::section(&mut page, tables, class)?;
    handshakes::section(&mut page, tables, place)?;
    account::section(&mut page, tables)?;
    loopback::section(&mut page, tables, place)?;
    growth::section(&mut page, tables)?;
    Ok(page)
}

fn introduction(page: &mut String, place: &Place) -> Result<(), Box<dyn Error>> {
    let machine = place.machine();
    writeln!(
        page,
        "\
# Benchmarks on {machine}

Every operation and whole TLS handshakes, compared with other implementations on the same inputs, in one
run. Written by

    cargo bench -p benches --features pqclean,wolfssl,openssl-4 && cargo run --profile bench -p benches --bin report -- --machine {machine}

[benches/README.md]({}) says what exactly is measured, and which peers
there are. Times are medians of the thread's CPU time; the rows of a table take turns, a sample each.
A ratio is the peer's time divided by ours: above 1, ours is faster.",
        place.link("benches/README.md")
    )?;
    Ok(())
}
