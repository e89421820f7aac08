//! The section about servers over TCP.

use core::error::Error;
use core::fmt::Write;

use benches::tls::loopback::{
    AT_A_TIME, Bulk, COMBINATIONS, IDLE, Idle, MEBIBYTE, ServerRow, Table, table as name,
};

use crate::chart::{Bar, Chart, Section, figure, time};
use crate::figures::operations::is_ours;
use crate::figures::tables::Tables;
use crate::place::Place;

/// Appends the section, and draws its charts.
pub(crate) fn section(
    page: &mut String,
    tables: &Tables,
    place: &Place,
) -> Result<(), Box<dyn Error>> {
    let measured: Vec<Shown<'_>> = COMBINATIONS
        .iter()
        .filter_map(|combination| {
            Some(Shown {
                what: format!("{} | {}", combination.group, combination.authentication),
                heading: format!("{}, {}", combination.group, combination.authentication),
                table: tables.loopback(&name(*combination))?,
            })
        })
        .collect();
    if measured.is_empty() {
        return Ok(());
    }
    introduction(page, &measured, place)?;
    handshakes(page, &measured, place)?;
    latencies(page, &measured, place)?;
    connections(page, &measured, place)?;
    clients(page, &measured)?;
    for (file, chart) in drawn(&measured) {
        chart.write(&place.charts().join(file))?;
    }
    Ok(())
}

/// A table, and what it is called on the page.
struct Shown<'a> {
    /// Two columns of the page's tables.
    what: String,
    /// In charts.
    heading: String,
    table: &'a Table,
}

fn introduction(
    page: &mut String,
    measured: &[Shown<'_>],
    place: &Place,
) -> Result<(), Box<dyn Error>> {
    let apart = measured.iter().all(|shown| shown.table.cores_apart);
    let cores = match apart {
        true => {
            "The server has a core for itself, and so has the client: the rate is that of the \
             slower one."
        }
        false => "Server and client shared one core.",
    };
    writeln!(
        page,
        "
## Over TCP

The [example server]({}) in a process of its own, with our provider or with
rustls's own (all else is the same code), and `openssl s_server -WWW`; connections come over the
loopback interface from one thread of another process, for all servers with our provider.
{cores}

Handshakes are full ones with TLS_AES_128_GCM_SHA256, {AT_A_TIME} at a time; two tickets follow, which
nobody uses, and the connection ends. Here CPU times are those of the process with all that the
operating system does for it, in contrast to the tables above: sockets, the event loop, and
what a server sets up for a connection. Loopback delivers a packet at the expense of who
sends it. s_server has no event loop: it takes one connection after the other, and others wait.",
        place.link("examples/tls-server")
    )?;
    let has_openssl = measured.iter().any(|shown| {
        let mut rows = shown.table.servers.iter();
        rows.any(|row| row.name.starts_with("OpenSSL"))
    });
    if !has_openssl {
        writeln!(
            page,
            "\nOpenSSL is missing: there was no program of version 3.5 or later."
        )?;
    }
    Ok(())
}

fn handshakes(
    page: &mut String,
    measured: &[Shown<'_>],
    place: &Place,
) -> Result<(), Box<dyn Error>> {
    writeln!(
        page,
        "
{}

The light part of a bar is the client's.

| key exchange | certificates | server | handshakes a second | server, CPU µs | client, CPU µs | a second of one server core |
|---|---|---|---|---|---|---|",
        place.image("CPU time of handshakes over TCP", HANDSHAKES)
    )?;
    for (what, row) in server_rows(measured) {
        writeln!(
            page,
            "| {what} | {} | {:.0} | {} | {} | {:.0} |",
            row.name,
            row.rate.median,
            figure(row.server.median / 1e3),
            figure(row.client.median / 1e3),
            1e9 / row.server.median,
        )?;
    }
    Ok(())
}

fn latencies(
    page: &mut String,
    measured: &[Shown<'_>],
    place: &Place,
) -> Result<(), Box<dyn Error>> {
    write!(
        page,
        "
From the client's first packet to the last that it sends of the handshake: one connection at a
time, and {AT_A_TIME} at a time, which leave no core idle.

{}

The dark part of a bar is the median of {AT_A_TIME} at a time, the whole of it p99.

| key exchange | certificates | server | one: p50, µs | p95 | p99 | {AT_A_TIME}: p50, µs | p95 | p99 |
|---|---|---|---|---|---|---|---|---|
",
        place.image("Latency of handshakes over TCP", LATENCY)
    )?;
    for (what, row) in server_rows(measured) {
        write!(page, "| {what} | {} ", row.name)?;
        for latency in [row.alone, row.crowded] {
            for nanoseconds in [latency.p50, latency.p95, latency.p99] {
                write!(page, "| {} ", figure(nanoseconds / 1e3))?;
            }
        }
        writeln!(page, "|")?;
    }
    Ok(())
}

fn connections(
    page: &mut String,
    measured: &[Shown<'_>],
    place: &Place,
) -> Result<(), Box<dyn Error>> {
    write!(
        page,
        "
What the server's resident memory grows by with {IDLE} connections that have said nothing since the
handshake, divided by them; the kernel's buffers are not in it. And many bytes over one connection: a
download of zeros, which the example server makes up, and s_server reads from a file without
blocks; and an upload, which the example server counts. s_server takes none: it has no figure
there.

{}

{}

{}

| key exchange | certificates | server | KiB for an idle connection | download, MiB/s | MiB for a second of server CPU | upload, MiB/s | MiB for a second of server CPU |
|---|---|---|---|---|---|---|---|
",
        place.image("Memory of idle connections", MEMORY),
        place.image("Download over one connection", DOWNLOAD),
        place.image("Upload over one connection", UPLOAD)
    )?;
    let mut reasons = Vec::new();
    for (what, row) in server_rows(measured) {
        let idle = match &row.idle {
            Idle::Bytes(bytes) => figure(bytes / 1024.0),
            Idle::Unknown(why) => {
                let reason = format!("{}: {why}.", row.name);
                if !reasons.contains(&reason) {
                    reasons.push(reason);
                }
                "–".to_owned()
            }
        };
        write!(page, "| {what} | {} | {idle} ", row.name)?;
        for bulk in [Some(&row.download), row.upload.as_ref()] {
            match bulk {
                Some(Bulk { rate, cpu }) => {
                    let [rate, cpu] = [rate, cpu].map(|bytes| bytes.median / MEBIBYTE);
                    write!(page, "| {rate:.0} | {cpu:.0} ")?;
                }
                None => write!(page, "| – | – ")?,
            }
        }
        writeln!(page, "|")?;
    }
    for reason in reasons {
        writeln!(page, "\n{reason}")?;
    }
    Ok(())
}

fn clients(page: &mut String, measured: &[Shown<'_>]) -> Result<(), Box<dyn Error>> {
    page.push_str(
        "
And clients, with our server for all of them. `openssl s_time` makes one connection after the other,
verifies the chain (whatever comes of that), but no name, and its own start is in its figure.

| key exchange | certificates | client | CPU µs | a second of one client core |
|---|---|---|---|---|
",
    );
    for shown in measured {
        let mut rows: Vec<_> = shown.table.clients.iter().collect();
        rows.sort_by(|a, b| a.time.median.total_cmp(&b.time.median));
        for (number, row) in rows.iter().enumerate() {
            writeln!(
                page,
                "| {} | {} | {} | {:.0} |",
                if number == 0 { &shown.what } else { " | " },
                row.name,
                figure(row.time.median / 1e3),
                1e9 / row.time.median,
            )?;
        }
    }
    Ok(())
}

/// The servers, those that take the least time first, and what stands left of them.
fn server_rows<'a>(
    measured: &'a [Shown<'_>],
) -> impl Iterator<Item = (&'a str, &'a ServerRow)> + 'a {
    measured.iter().flat_map(|shown| {
        let rows = fastest_first(shown.table).into_iter().enumerate();
        rows.map(|(number, row)| {
            let what = if number == 0 { &shown.what } else { " | " };
            (what, row)
        })
    })
}

fn fastest_first(table: &Table) -> Vec<&ServerRow> {
    let mut rows: Vec<_> = table.servers.iter().collect();
    rows.sort_by(|a, b| a.server.median.total_cmp(&b.server.median));
    rows
}

const HANDSHAKES: &str = "loopback-handshakes.svg";
const LATENCY: &str = "loopback-latency.svg";
const MEMORY: &str = "loopback-memory.svg";
const DOWNLOAD: &str = "loopback-download.svg";
const UPLOAD: &str = "loopback-upload.svg";

/// The charts, with the names of their files.
fn drawn(measured: &[Shown<'_>]) -> [(&'static str, Chart); 5] {
    let microseconds = |nanoseconds: f64| nanoseconds / 1e3;
    let rate = |mebibytes: f64| format!("{mebibytes:.0} MiB/s");
    [
        (
            HANDSHAKES,
            chart(
                measured,
                "CPU time of handshakes over TCP, server and client",
                time,
                |row| {
                    Some(vec![
                        microseconds(row.server.median),
                        microseconds(row.client.median),
                    ])
                },
            ),
        ),
        (
            LATENCY,
            chart(
                measured,
                "Latency of handshakes over TCP, p50 and p99",
                time,
                |row| {
                    let crowded = row.crowded;
                    Some(vec![
                        microseconds(crowded.p50),
                        microseconds(crowded.p99 - crowded.p50),
                    ])
                },
            ),
        ),
        (
            MEMORY,
            chart(
                measured,
                "Memory of an idle connection",
                |kibibytes| format!("{} KiB", figure(kibibytes)),
                |row| match row.idle {
                    Idle::Bytes(bytes) => Some(vec![bytes / 1024.0]),
                    Idle::Unknown(_) => None,
                },
            ),
        ),
        (
            DOWNLOAD,
            chart(measured, "Download over one connection", rate, |row| {
                Some(vec![row.download.rate.median / MEBIBYTE])
            }),
        ),
        (
            UPLOAD,
            chart(measured, "Upload over one connection", rate, |row| {
                Some(vec![row.upload.as_ref()?.rate.median / MEBIBYTE])
            }),
        ),
    ]
}

fn chart(
    measured: &[Shown<'_>],
    title: &str,
    unit: fn(f64) -> String,
    parts: impl Fn(&ServerRow) -> Option<Vec<f64>>,
) -> Chart {
    let sections = measured.iter().map(|shown| Section {
        heading: shown.heading.clone(),
        bars: fastest_first(shown.table)
            .into_iter()
            .filter_map(|row| {
                Some(Bar {
                    label: row.name.clone(),
                    parts: parts(row)?,
                    ours: is_ours(&row.name),
                })
            })
            .collect(),
    });
    Chart {
        title: title.to_owned(),
        unit,
        sections: sections.collect(),
    }
}
