//! What was found, in Markdown that can be read as it is.
//!
//! It uses `findings` and what these consist of.

mod table;

use core::fmt::{self, Write};

use self::table::Table;
use super::documents::{Documents, Rate};
use super::findings::{Findings, Measured};
use super::issuing::{Issuing, OnBackend, Rates};
use super::measure::Timing;
use crate::report::Report;

impl Report for Findings {
    const SCHEMA: &'static str = "bench/2";
}

impl fmt::Display for Findings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        tables(f, self)
    }
}

fn tables(to: &mut impl Write, findings: &Findings) -> fmt::Result {
    to.write_str("# How fast pqtls is\n\n")?;
    machine(to, findings)?;
    for rows in by_family(findings) {
        let family = rows[0].row.family();
        write!(to, "\n## {family}\n\n{}", operations(rows, findings))?;
    }
    if !findings.operations.is_empty() {
        to.write_str(OF_OPERATIONS)?;
    }
    if findings.has_speed() {
        to.write_str(OF_OPENSSL)?;
    }
    if let Some(issuing) = &findings.issuing {
        certificates(to, issuing)?;
    }
    match &findings.documents {
        Some(found) => documents(to, found, findings),
        None => Ok(()),
    }
}

/// The rows of each family, such as ML-DSA.
fn by_family(findings: &Findings) -> impl Iterator<Item = &[Measured]> {
    let is_one = |one: &Measured, next: &Measured| one.row.family() == next.row.family();
    findings.operations.chunk_by(is_one)
}

const OF_OPERATIONS: &str = "
p50 / p95 / p99 of single calls on one core, by the clock: half of the calls took no longer than the first
figure, and 95 % and 99 % no longer than the others. A dash means that there were too few calls. Keys are
in memory, and randomness comes from the operating system, as in other programs.
";

const OF_OPENSSL: &str = "
OpenSSL's figure is the mean that `openssl speed -elapsed` found. The last column is that figure divided by
pqtls's mean with the first set of instructions.
";

/// The machine and the programs.
fn machine(to: &mut impl Write, findings: &Findings) -> fmt::Result {
    let machine = &findings.machine;
    writeln!(to, "* CPU: {}", machine.cpu)?;
    writeln!(to, "* instructions: {}", machine.instructions.join(", "))?;
    writeln!(to, "* system: {}, {} cores", machine.system, machine.cores)?;
    writeln!(to, "* pqtls: {}", findings.version)?;
    if let Some(openssl) = &findings.openssl {
        let reservation = match openssl.has_algorithms {
            true => "",
            false => ", which has none of these algorithms; 3.5 is the first that does",
        };
        writeln!(to, "* OpenSSL: {}{reservation}", openssl.version)?;
    }
    writeln!(to, "* measured: {}", findings.measured)
}

fn operations(rows: &[Measured], findings: &Findings) -> Table {
    let backends = rows[0]
        .backends
        .iter()
        .map(|backend| backend.name.to_owned());
    let mut head = vec!["p50 / p95 / p99".to_owned()];
    head.extend(backends);
    if let Some(openssl) = findings.openssl.as_ref().filter(|_| findings.has_speed()) {
        head.push(format!("OpenSSL {}", openssl.version));
        head.push("times".into());
    }
    let width = head.len();
    let mut table = Table::new(head);
    for one in rows {
        let mut row = vec![one.row.name()];
        row.extend(one.backends.iter().map(|backend| spread(&backend.timing)));
        if let Some(openssl) = &one.openssl {
            row.push(duration(openssl.mean));
            row.push(format!("{:.1}", openssl.times));
        }
        row.resize(width, dash());
        table.row(row);
    }
    table
}

fn certificates(to: &mut impl Write, issuing: &Issuing) -> fmt::Result {
    let algorithm = issuing.algorithm;
    let backends = &issuing.backends;
    let names = backends.iter().map(|backend| backend.name);
    let mut table = Table::new(["certificates a second"].into_iter().chain(names));
    let mut row = |what: &str, figure: &dyn Fn(&OnBackend) -> String| {
        table.row([what.into()].into_iter().chain(backends.iter().map(figure)));
    };
    row("verifying and signing alone", &|on| {
        count(on.primitives_per_second)
    });
    type Way = fn(&OnBackend) -> &Rates;
    let ways: [(&str, Way); 2] = [
        ("one file to one", |on| &on.one_file),
        ("a file each", |on| &on.many_files),
    ];
    for (name, rates) in ways {
        row(&format!("and reading and writing, {name}"), &|on| {
            count(rates(on).with_files_per_second)
        });
        row(&format!("`pqtls ca sign`, {name}"), &|on| {
            with_percent(rates(on).per_second, rates(on).percent)
        });
        row("the same, by CPU time", &|on| {
            let Rates {
                per_second_of_cpu,
                percent_of_cpu,
                ..
            } = rates(on);
            let figures = per_second_of_cpu.zip(*percent_of_cpu);
            figures.map_or_else(dash, |(rate, percent)| with_percent(rate, percent))
        });
    }
    if let Some(openssl) = &issuing.openssl {
        let (first, others) = (
            count(openssl.per_second),
            backends.iter().skip(1).map(|_| dash()),
        );
        let name = "`openssl x509 -req` for each".into();
        table.row([name, first].into_iter().chain(others));
    }
    let place = issuing.file_system.as_deref().unwrap_or("a disk");
    let (requests, rounds) = (issuing.requests, issuing.rounds);
    write!(
        to,
        "\n## Certificates of {algorithm}\n\n{table}\n\
         `pqtls ca sign` with {requests} requests, in one process and from files to files, on {place}: the \
         median\nof {rounds} runs. It verifies each request, asks the policy, signs, records the certificate \
         in the CA's\nledger, and writes it, with the issuing CA's at the end of each file. In brackets is the \
         percentage of\nthe rate of verifying and signing alone, measured in the same runs.\n"
    )?;
    match &issuing.openssl {
        Some(openssl) => writeln!(
            to,
            "With a file each, this is {:.0} times the rate of `openssl x509 -req`, a process for each of {} \
             requests.",
            openssl.times, openssl.requests
        ),
        None => Ok(()),
    }
}

fn documents(to: &mut impl Write, found: &Documents, findings: &Findings) -> fmt::Result {
    let openssl = findings.openssl.as_ref();
    let head = [
        "MB/s",
        "in memory",
        "of raw speed",
        "pqtls",
        "by CPU time",
        "MiB",
    ];
    let mut head: Vec<String> = head.map(String::from).into();
    if let Some(openssl) = openssl {
        head.extend([
            format!("OpenSSL {}", openssl.version),
            "by CPU time".into(),
            "MiB".into(),
            "times".into(),
        ]);
    }
    let figure = |figure: Option<f64>| figure.map_or_else(dash, count);
    let mut table = Table::new(head);
    for one in &found.operations {
        let ours = &one.pqtls;
        let percent = one.percent_of_alone;
        let mut row = vec![
            one.name.to_owned(),
            count(by_cpu(&one.in_memory)),
            percent.map_or_else(dash, |percent| format!("{percent:.1} %")),
            count(ours.per_second),
            figure(ours.per_second_of_cpu),
            figure(ours.peak_mebibytes),
        ];
        if openssl.is_some() {
            let theirs = one.openssl.as_ref();
            let cpu = theirs.and_then(|theirs| theirs.per_second_of_cpu);
            let times = ours
                .per_second_of_cpu
                .zip(cpu)
                .map(|(ours, cpu)| ours / cpu);
            row.extend([
                figure(theirs.map(|theirs| theirs.per_second)),
                figure(cpu),
                figure(theirs.and_then(|theirs| theirs.peak_mebibytes)),
                figure(times),
            ]);
        }
        table.row(row);
    }
    let place = found.file_system.as_deref().unwrap_or("a disk");
    write!(
        to,
        "\n## Documents of {} MiB\n\n{table}\n\
         In memory: by pq-cms in one process, without files. Of raw speed: the percentage of the speed of the \
         hash\nfunction alone, {} MB/s, or of the cipher alone, as the provider has it for TLS, {} MB/s, \
         measured in turn.\n\n\
         Then by `pqtls cms`, a process for each, from file to file on {place}: the medians of three runs. \
         The time\nby the clock includes waiting until files are on the disk; CPU time includes the kernel's, \
         for reading and\nwriting them. MiB: the most memory that the program used. \
         Signatures are by {} over {},\nwith the content in the message; encryption is by {} for one \
         recipient, {}.\n",
        found.mebibytes,
        count(by_cpu(&found.hash)),
        found
            .aead
            .as_ref()
            .map_or_else(dash, |aead| count(by_cpu(aead))),
        found.signature,
        found.digest,
        found.cipher,
        found.recipient,
    )?;
    match openssl {
        Some(_) => to.write_str(
            "`openssl cms` does the same, and streams what it writes; the last column is by CPU time.\n",
        ),
        None => Ok(()),
    }
}

/// In a second of CPU time, where that is known.
fn by_cpu(rate: &Rate) -> f64 {
    rate.per_second_of_cpu.unwrap_or(rate.per_second)
}

/// The percentiles of a row, in the unit of the first.
fn spread(timing: &Timing) -> String {
    let (unit, in_a_unit) = unit(timing.p50);
    let figures = [Some(timing.p50), timing.p95, timing.p99].map(|figure| match figure {
        Some(nanoseconds) => digits(nanoseconds / in_a_unit),
        None => dash(),
    });
    format!("{} {unit}", figures.join(" / "))
}

fn duration(nanoseconds: f64) -> String {
    let (unit, in_a_unit) = unit(nanoseconds);
    format!("{} {unit}", digits(nanoseconds / in_a_unit))
}

/// The unit for a duration, and its nanoseconds.
fn unit(nanoseconds: f64) -> (&'static str, f64) {
    match nanoseconds {
        ..1e6 => ("µs", 1e3),
        ..1e9 => ("ms", 1e6),
        _ => ("s", 1e9),
    }
}

/// Three digits, or all in front of the point.
fn digits(number: f64) -> String {
    match number {
        ..9.995 => format!("{number:.2}"),
        ..99.95 => format!("{number:.1}"),
        _ => format!("{number:.0}"),
    }
}

/// A number a second, with its percentage of another.
fn with_percent(rate: f64, percent: f64) -> String {
    format!("{} ({percent:.0} %)", count(rate))
}

/// Where there is no figure.
fn dash() -> String {
    "–".into()
}

/// A number a second: whole, or of three digits.
fn count(number: f64) -> String {
    match number {
        ..99.95 => digits(number),
        _ => format!("{:.0}", number),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_have_three_digits() {
        for (nanoseconds, text) in [
            (1_234.0, "1.23 µs"),
            (9_996.0, "10.0 µs"),
            (99_960.0, "100 µs"),
            (999_000.0, "999 µs"),
            (1_500_000.0, "1.50 ms"),
            (2e9, "2.00 s"),
        ] {
            assert_eq!(duration(nanoseconds), text);
        }
    }
}
