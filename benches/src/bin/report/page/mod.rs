//! The page: `BENCHMARKS.md`, or that of another machine.

pub(crate) mod environment;
mod loopback;

use core::error::Error;
use core::fmt::Write;
use std::fs;

use benches::ours::batches::{self, Batch};
use benches::ours::growth::{self, Growth};
use benches::ours::keccak::Step;
use benches::timing::results::{Group, Timing};
use benches::tls::handshake::{Authentication, Combination};
use rustls_pq::Group as KeyExchange;

use crate::chart::{Bar, Chart, Section, figure, time};
use crate::figures::floor::{EXPLAINED_ABOVE, PROFILED, floors};
use crate::figures::operations::{self, Column, Operation};
use crate::figures::tables::Tables;
use crate::goals::{asked, gain, handshakes, of_batch};
use crate::place::{Place, REFERENCE};

/// The page for a place, where its charts are drawn, too.
pub(crate) fn write(tables: &Tables, place: &Place) -> Result<String, Box<dyn Error>> {
    let mut page = String::new();
    introduction(&mut page, place)?;
    environment_section(&mut page, tables)?;
    goals_section(&mut page, tables, place)?;
    floors_section(&mut page, tables, place)?;
    for operation in operations::ALL {
        operation_section(&mut page, tables, operation, place)?;
    }
    batches_section(&mut page, tables)?;
    handshakes_section(&mut page, tables, place)?;
    loopback::section(&mut page, tables, place)?;
    growth_section(&mut page, tables)?;
    Ok(page)
}

fn introduction(page: &mut String, place: &Place) -> Result<(), Box<dyn Error>> {
    let (of_machine, argument) = match place.machine() {
        None => Default::default(),
        Some(name) => (format!(" on {name}"), format!(" -- --machine {name}")),
    };
    writeln!(
        page,
        "\
# Benchmarks{of_machine}

Every operation and whole TLS handshakes beside other people's implementations, on the same
inputs, in one run. Written by

    cargo bench -p benches && cargo run --profile bench -p benches --bin report{argument}

[benches/README.md]({}) says what exactly is measured, and who the peers
are. Times are medians of the thread's CPU time, samples of all rows of a table taken in turn.
A ratio is the peer's time divided by ours: above 1, ours is faster.",
        place.link("benches/README.md")
    )?;
    Ok(())
}

fn environment_section(page: &mut String, tables: &Tables) -> Result<(), Box<dyn Error>> {
    let measured = tables.measured().ok_or("nothing was measured")?;
    writeln!(page, "\n| | |\n|---|---|")?;
    for (what, which) in environment::describe(measured)? {
        writeln!(page, "{}", environment::row(what, &which))?;
    }
    Ok(())
}

fn goals_section(page: &mut String, tables: &Tables, place: &Place) -> Result<(), Box<dyn Error>> {
    page.push_str(
        "
## What is asked, and what was measured

The ratio to the fastest peer. With AVX2, AVX-512 is hidden from ours, and the peers' figures
are of code that stops at AVX2 (graviola's counts for decapsulation only: its matrix
sampler uses AVX-512, and a release build of it can't be told otherwise). Where a peer
can't keep a verifying key expanded, its verification from bytes takes part.
",
    );
    if place.machine().is_some() {
        not_asked_here(page, tables, place)?;
    }
    page.push_str(
        "
| operation | AVX-512: asked | measured | fastest peer | AVX2: asked | measured | fastest peer |
|---|---|---|---|---|---|---|
",
    );
    for asked in asked() {
        write!(
            page,
            "| {} {} ",
            asked.set,
            asked.operation.replace('-', " ")
        )?;
        for column in [Column::Avx512, Column::Avx2] {
            let Some(goal) = asked.goal(tables, column) else {
                continue;
            };
            let measured = match goal.measured {
                Some(ratio) if goal.is_met() => format!("**{ratio:.2}**"),
                Some(ratio) => format!("{ratio:.2} (missed)"),
                None => "–".to_owned(),
            };
            let peer = goal.peer.unwrap_or_else(|| "–".to_owned());
            write!(page, "| ≥ {:.2} | {measured} | {peer} ", goal.asked)?;
        }
        writeln!(page, "|")?;
    }

    page.push_str(
        "
For handshakes, the CPU time of client and server together, ours divided by the other's:

| ours | the other | asked | measured |
|---|---|---|---|
",
    );
    for goal in handshakes(tables) {
        let measured = match goal.measured {
            Some(ratio) if goal.is_met() => format!("**{ratio:.2}**"),
            Some(ratio) => format!("{ratio:.2} (missed)"),
            None => "–".to_owned(),
        };
        writeln!(
            page,
            "| {} | {} | ≤ {:.2} | {measured} |",
            goal.ours, goal.other, goal.asked
        )?;
    }
    Ok(())
}

/// Times that differ by more are not the same time.
const LONGER: f64 = 1.1;

/// Whose ratios they are; and why they are smaller with AVX-512, where the tables show it.
fn not_asked_here(page: &mut String, tables: &Tables, place: &Place) -> Result<(), Box<dyn Error>> {
    let reference = fs::read_to_string(place.file(REFERENCE))?;
    let cpu = environment::read(&reference, environment::CPU)
        .ok_or_else(|| format!("{REFERENCE} does not say what CPU it is about"))?;
    writeln!(
        page,
        "
The ratios are asked of another CPU, that of [{REFERENCE}]({}),
{cpu}. They stand here for comparison.",
        place.link(REFERENCE)
    )?;

    let (Some(eight), Some(few), Some(four)) = (
        tables.step(Step::All, Column::Avx512),
        tables.step(Step::Few, Column::Avx512),
        tables.step(Step::All, Column::Avx2),
    ) else {
        return Ok(());
    };
    if eight > LONGER * few {
        writeln!(
            page,
            "
They suppose that with AVX-512 eight permutations of Keccak take no longer than one. Here eight take
{eight:.0} ns, {:.2} times as long as up to four, {few:.0} ns; with AVX2 four take {four:.0} ns. So with
all lanes in use, AVX-512 has {:.2} times the throughput of AVX2.",
            eight / few,
            2.0 * four / eight
        )?;
    }
    Ok(())
}

fn floors_section(page: &mut String, tables: &Tables, place: &Place) -> Result<(), Box<dyn Error>> {
    let (Some(eight), Some(few)) = (
        tables.step(Step::All, Column::Avx512),
        tables.step(Step::Few, Column::Avx512),
    ) else {
        return Ok(());
    };
    let longer = match eight > LONGER * few {
        true => " A step of more\nlanes takes longer, which is part of what is above the floor.",
        false => "",
    };
    let (profiled, heading, rule) = match place.machine() {
        None => (
            format!(
                "\nAbove {EXPLAINED_ABOVE} times the floor, the last column says where the time goes, by profiles of\n\
                 ML-KEM-768 and ML-DSA-65 of {PROFILED}.\n"
            ),
            " where it goes |",
            "---|",
        ),
        Some(_) => Default::default(),
    };
    writeln!(
        page,
        "
## The floor

With AVX-512 eight permutations in eight lanes take {eight:.0} ns, and up to four {few:.0} ns. What an
operation takes at least is its longest chain of permutations of which each needs the one
before, each in the shorter time, all others in the lanes beside; and then there is arithmetic.
Signing counts the expected number of attempts, one after the other.{longer}
{profiled}
| operation | chain | floor | ours | times the floor |{heading}
|---|---|---|---|---|{rule}"
    )?;
    for floor in floors(tables) {
        write!(
            page,
            "| {} {} | {} | {} | {} | {:.2} |",
            floor.set,
            floor.operation.replace('-', " "),
            floor.permutations,
            time(floor.floor / 1e3),
            time(floor.ours / 1e3),
            floor.ratio(),
        )?;
        match place.machine() {
            None => writeln!(page, " {} |", floor.rest())?,
            Some(_) => writeln!(page)?,
        }
    }
    Ok(())
}

fn operation_section(
    page: &mut String,
    tables: &Tables,
    operation: &Operation,
    place: &Place,
) -> Result<(), Box<dyn Error>> {
    let heading = operation.heading;
    writeln!(page, "\n## {heading}\n\n{}\n", operation.what)?;
    writeln!(page, "{}\n", place.image(heading, &operation.chart()))?;
    writeln!(
        page,
        "In parentheses: as a multiple of ours in the column.\n"
    )?;
    writeln!(page, "| set | implementation | AVX-512 | AVX2 | portable |")?;
    writeln!(page, "|---|---|---|---|---|")?;

    let mut sections = Vec::new();
    for set in operation.sets {
        let Some(group) = tables.table(&operation.table(set)) else {
            continue;
        };
        write!(page, "| {set} | **pq-core** ")?;
        for column in Column::ALL {
            match group.row(&column.ours()) {
                Some(row) => write!(page, "| **{}** ", time(row.time.median / 1e3))?,
                None => write!(page, "| – ")?,
            }
        }
        writeln!(page, "|")?;
        for peer in fastest_first(group).filter(|row| !is_ours(&row.name)) {
            write!(page, "| | {} ", peer.name)?;
            for column in Column::ALL {
                let ours = group.row(&column.ours());
                match ours.filter(|_| column.counts(&group.name, &peer.name)) {
                    Some(ours) => {
                        let ratio = peer.time.median / ours.time.median;
                        write!(page, "| {} ({ratio:.2}) ", time(peer.time.median / 1e3))?;
                    }
                    None => write!(page, "| – ")?,
                }
            }
            writeln!(page, "|")?;
        }
        sections.push(Section {
            heading: (*set).to_owned(),
            bars: fastest_first(group).map(bar).collect(),
        });
    }
    if sections
        .iter()
        .any(|section| section.bars.iter().any(|bar| bar.label == "graviola"))
        && !operation.name.starts_with("decapsulation")
    {
        writeln!(
            page,
            "\ngraviola's figure is of code that samples with AVX-512; in the column AVX2 it does not count."
        )?;
    }
    Chart {
        title: heading.to_owned(),
        unit: time,
        sections,
    }
    .write(&place.charts().join(operation.chart()))
}

fn batches_section(page: &mut String, tables: &Tables) -> Result<(), Box<dyn Error>> {
    writeln!(
        page,
        "
## Batches

{} operations over different keys in one call, which share the lanes, beside the same operations
one by one: the time of one operation, from bytes to bytes where keys are not in memory, and how
many times the throughput a batch has. What is asked is asked with AVX-512.

| operation | asked | AVX-512: single | batch | times | AVX2: single | batch | times | portable: times |
|---|---|---|---|---|---|---|---|---|",
        batches::SIZE
    )?;
    for batch in Batch::ALL {
        let goal = of_batch(tables, batch);
        let asked = match &goal {
            Some(goal) => format!("≥ {:.2}", goal.asked),
            None => "–".to_owned(),
        };
        let operation = batch.operation.replace('-', " ");
        write!(page, "| {} {operation} | {asked} ", batch.set)?;
        for column in Column::ALL {
            if column != Column::Portable {
                for row in [batches::one_by_one, batches::together] {
                    match tables.median(&batch.table(), &row(column.heading())) {
                        Some(median) => write!(page, "| {} ", time(median / 1e3))?,
                        None => write!(page, "| – ")?,
                    }
                }
            }
            let goal = goal.as_ref().filter(|_| column == Column::Avx512);
            match (gain(tables, batch, column), goal) {
                (Some(gain), Some(goal)) if goal.is_met() => write!(page, "| **{gain:.2}** ")?,
                (Some(gain), Some(_)) => write!(page, "| {gain:.2} (missed) ")?,
                (Some(gain), None) => write!(page, "| {gain:.2} ")?,
                (None, _) => write!(page, "| – ")?,
            }
        }
        writeln!(page, "|")?;
    }
    Ok(())
}

fn handshakes_section(
    page: &mut String,
    tables: &Tables,
    place: &Place,
) -> Result<(), Box<dyn Error>> {
    const BY_KEY_EXCHANGE: &str = "handshakes-by-key-exchange.svg";
    const BY_CERTIFICATE: &str = "handshakes-by-certificate.svg";
    writeln!(
        page,
        "
## TLS 1.3 handshakes

In memory, without resumption; TLS_AES_128_GCM_SHA256; the server sends one certificate, and the
client verifies it up to a root of the same algorithm, and the CertificateVerify. Handshakes
repeat with the same two ends, so that the keys of root and leaf come back and are kept
expanded, as between services that speak with each other. A row says who provides the
cryptography on both sides: `rustls-pq/graviola` is this project over graviola,
`rustls/graviola` is graviola alone. OpenSSL is missing here: its program handshakes only over
sockets, whose cost would be in its figure and in nobody else's; it has its place in the next
section.

{}

{}

The light part of a bar is the server's.

| key exchange | certificates | provider | client, µs | server, µs | both, µs | clients a second | servers a second |
|---|---|---|---|---|---|---|---|",
        place.image("Handshakes by key exchange", BY_KEY_EXCHANGE),
        place.image("Handshakes by certificate", BY_CERTIFICATE),
    )?;
    for combination in Combination::all() {
        let Some(group) = tables.table(&combination.to_string()) else {
            continue;
        };
        let mut what = format!("{} | {}", combination.group, combination.authentication);
        for row in fastest_first(group) {
            let Some(sides) = &row.sides else { continue };
            let (client, server) = (sides.client.median, sides.server.median);
            writeln!(
                page,
                "| {what} | {} | {} | {} | {} | {:.0} | {:.0} |",
                row.name,
                figure(client / 1e3),
                figure(server / 1e3),
                figure(row.time.median / 1e3),
                1e9 / client,
                1e9 / server,
            )?;
            what = " | ".to_owned();
        }
    }

    by(
        tables,
        "Handshakes with ML-DSA-65 certificates, client and server",
        |combination| {
            (combination.authentication == Authentication::MlDsa65)
                .then(|| combination.group.to_string())
        },
    )
    .write(&place.charts().join(BY_KEY_EXCHANGE))?;
    by(
        tables,
        "Handshakes with X25519MLKEM768, client and server",
        |combination| {
            (combination.group == KeyExchange::X25519MLKEM768)
                .then(|| combination.authentication.to_string())
        },
    )
    .write(&place.charts().join(BY_CERTIFICATE))
}

fn growth_section(page: &mut String, tables: &Tables) -> Result<(), Box<dyn Error>> {
    let sizes = growth::SIZES.map(growth::row).join(" | ");
    writeln!(
        page,
        "
## What grows

What operations take that look something up, by how many there are to look through.

| operation | {sizes} |
|---|---|---|---|"
    )?;
    for growth in Growth::ALL {
        write!(page, "| {} ", growth.what)?;
        for size in growth::SIZES {
            match tables.median(&growth.table(), &growth::row(size)) {
                Some(median) => write!(page, "| {} ", time(median / 1e3))?,
                None => write!(page, "| – ")?,
            }
        }
        writeln!(page, "|")?;
    }
    Ok(())
}

/// A chart of those combinations that have a heading.
fn by(tables: &Tables, title: &str, heading: impl Fn(&Combination) -> Option<String>) -> Chart {
    let sections = Combination::all().filter_map(|combination| {
        let heading = heading(&combination)?;
        let group = tables.table(&combination.to_string())?;
        Some(Section {
            heading,
            bars: fastest_first(group).map(bar).collect(),
        })
    });
    Chart {
        title: title.to_owned(),
        unit: time,
        sections: sections.collect(),
    }
}

fn fastest_first(group: &Group) -> impl Iterator<Item = &Timing> {
    let mut rows: Vec<_> = group.rows.iter().collect();
    rows.sort_by(|a, b| a.time.median.total_cmp(&b.time.median));
    rows.into_iter()
}

fn bar(row: &Timing) -> Bar {
    let parts = match &row.sides {
        Some(sides) => vec![sides.client.median, sides.server.median],
        None => vec![row.time.median],
    };
    Bar {
        label: row.name.clone(),
        parts: parts
            .into_iter()
            .map(|nanoseconds| nanoseconds / 1e3)
            .collect(),
        ours: is_ours(&row.name),
    }
}

/// Whether a row is this project's.
pub(crate) fn is_ours(name: &str) -> bool {
    name.starts_with("pq-core/") || name.starts_with("rustls-pq/")
}
