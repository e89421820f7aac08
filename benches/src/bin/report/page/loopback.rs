//! The section about servers over TCP.

use core::error::Error;
use core::fmt::Write;

use benches::tls::loopback::{
    AT_A_TIME, Bulk, COMBINATIONS, IDLE, Idle, MEBIBYTE, ServerRow, Table, table as name,
};

use crate::chart::{Bar, Chart, Scale, Section, figure, time};
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

/// A table, and its names on the page.
struct Shown<'a> {
    /// Two columns of the page's tables.
    what: String,
    /// The heading in charts.
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
        true => "Server and client have a core each, so the slower one determines the rate.",
        false => "Server and client shared one core.",
    };
    writeln!(
        page,
        "
## Over TCP

The [server of pq-serving]({}) in its own process, with our provider or with rustls's own
(the rest is the same code), and `openssl s_server -WWW`. Connections come over the loopback interface
from one thread of another process, which uses our provider for all servers.
{cores}

Handshakes are full ones with TLS_AES_128_GCM_SHA256, {AT_A_TIME} at a time. The server then sends two
tickets, which nobody uses, and the connection ends. Here CPU times are those of the whole process,
including the operating system's work for it. So, unlike the tables above, they include sockets, the event
loop, and what a server sets up for a connection. On loopback the sender of a packet pays for its delivery.
s_server has no event loop: it serves one connection after the other, and the others wait.",
        place.link("serve")
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

| key exchange | certificates | server | handshakes a second | server, CPU µs | client, CPU µs | handshakes a second of server CPU |
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
From the client's first packet to its last packet of the handshake, with one connection at a time and
with {AT_A_TIME} at a time, which leave no core idle.

{}

The dark part of a bar is the median with {AT_A_TIME} at a time, the whole bar is p99.

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
Memory of an idle connection: the growth of the server's resident memory with {IDLE} connections that
are silent after the handshake, divided by their number, without the kernel's buffers. And many bytes
over one connection: a download of zeros, which our server generates and s_server reads from a
sparse file, and an upload, which our server counts. s_server accepts no uploads, so it has no
figure there.

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
Clients, all with our server. `openssl s_time` makes one connection after the other. It verifies the
chain but ignores the result, checks no name, and its figure includes its own start.

| key exchange | certificates | client | CPU µs | handshakes a second of client CPU |
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

/// The servers, the fastest first, each with the cells to its left.
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
        scale: Scale::OfSection,
        parts: &[],
        sections: sections.collect(),
    }
}
