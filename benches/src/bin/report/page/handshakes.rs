//! The section about handshakes through memory.

use core::error::Error;
use core::fmt::{self, Write};

use benches::tls::handshake::{Authentication, Combination};
use rustls_pq::Group as KeyExchange;

use crate::chart::{Bar, Chart, SIDES, Scale, Section, figure, time};
use crate::figures::tables::{Tables, fastest_first};
use crate::place::Place;

/// Appends the section, and draws its charts.
pub(crate) fn section(
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

In memory, without resumption, with TLS_AES_128_GCM_SHA256. The server sends one certificate. The client
verifies this certificate up to a root of the same algorithm, and the CertificateVerify. The two ends are
the same in every handshake, so the keys of root and leaf recur and are kept expanded, as between services
that talk to each other. A row names the provider on both sides: `rustls-pq/graviola` is this project over
graviola, `rustls/graviola` is graviola alone. OpenSSL is missing here: its programs do handshakes only
over sockets, whose cost would be in its figures alone. It is compared over TCP, below.

{}

{}

The light part of a bar is the server's.

| key exchange | certificates | provider | client, µs | server, µs | both, µs | handshakes a second: client | server |
|---|---|---|---|---|---|---|---|",
        place.image("Handshakes by key exchange", BY_KEY_EXCHANGE),
        place.image("Handshakes by certificate", BY_CERTIFICATE),
    )?;
    rows(page, tables)?;

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

/// Appends the rows of all combinations.
fn rows(page: &mut String, tables: &Tables) -> fmt::Result {
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
    Ok(())
}

/// A row of a page's table of handshakes.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Row {
    pub(crate) provider: String,
    /// What the client takes, in microseconds.
    pub(crate) client: f64,
    /// What the server takes, in microseconds.
    pub(crate) server: f64,
}

impl Row {
    /// Both sides, in microseconds.
    pub(crate) fn both(&self) -> f64 {
        self.client + self.server
    }
}

/// The rows of a page for a key exchange and an algorithm of certificates, the fastest first.
pub(crate) fn read(page: &str, group: KeyExchange, authentication: Authentication) -> Vec<Row> {
    let what = format!("| {group} | {authentication} | ");
    let mut lines = page.lines().skip_while(|line| !line.starts_with(&what));
    let first = lines.next().and_then(|line| line.strip_prefix(&what));
    let rest = lines.map_while(|line| line.strip_prefix("|  |  | "));
    let row = |line: &str| {
        let mut cells = line.split(" | ");
        Some(Row {
            provider: cells.next()?.to_owned(),
            client: cells.next()?.parse().ok()?,
            server: cells.next()?.parse().ok()?,
        })
    };
    first.into_iter().chain(rest).map_while(row).collect()
}

/// A chart of the combinations that have a heading.
fn by(tables: &Tables, title: &str, heading: impl Fn(&Combination) -> Option<String>) -> Chart {
    let sections = Combination::all().filter_map(|combination| {
        let heading = heading(&combination)?;
        let group = tables.table(&combination.to_string())?;
        Some(Section {
            heading,
            bars: fastest_first(group).map(Bar::of).collect(),
        })
    });
    Chart {
        title: title.to_owned(),
        unit: time,
        scale: Scale::OfSection,
        parts: SIDES,
        sections: sections.collect(),
    }
}
