//! The measurements, for the report.

use core::fmt;
use core::time::Duration;
use std::io;
use std::path::PathBuf;
use std::time::SystemTime;

use serde::{Deserialize, Serialize};

use crate::timing::results::{self, Quartiles};

/// Servers and clients of one combination, measured together.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct Table {
    /// Such as `loopback/X25519MLKEM768/ML-DSA-65`.
    pub name: String,
    /// When the measurement ended.
    pub measured: SystemTime,
    /// Whether server and client had a core each; otherwise they shared one.
    pub cores_apart: bool,
    /// In the order in which they were measured, all with the same client.
    pub servers: Vec<ServerRow>,
    /// In the order in which they were measured, all with the same server.
    pub clients: Vec<ClientRow>,
}

/// Writes the table for the terminal.
impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}", self.name)?;
        for row in &self.servers {
            write!(
                f,
                "  {:<20}{:>6.0} a second  server {:>6.1} µs  client {:>6.1} µs  p99 {:>7.1} µs, \
                 crowded {:>8.1} µs  down {:>5.0} MiB/s",
                row.name,
                row.rate.median,
                row.server.median / 1e3,
                row.client.median / 1e3,
                row.alone.p99 / 1e3,
                row.crowded.p99 / 1e3,
                row.download.rate.median / MEBIBYTE,
            )?;
            if let Some(upload) = &row.upload {
                write!(f, "  up {:>5.0} MiB/s", upload.rate.median / MEBIBYTE)?;
            }
            match &row.idle {
                Idle::Bytes(bytes) => writeln!(f, "  idle {:>5.1} KiB", bytes / 1024.0)?,
                Idle::Unknown(why) => writeln!(f, "  idle: {why}")?,
            }
        }
        for row in &self.clients {
            let time = row.time.median / 1e3;
            writeln!(f, "  {:<20}as the client {time:>6.1} µs", row.name)?;
        }
        Ok(())
    }
}

/// The bytes of a mebibyte.
pub const MEBIBYTE: f64 = 1048576.0;

/// The measurements of a server, with the same client for all servers.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct ServerRow {
    /// The implementation's name.
    pub name: String,
    /// Handshakes a second, [`AT_A_TIME`](super::AT_A_TIME) at a time.
    pub rate: Quartiles,
    /// The server's CPU time for one handshake, in nanoseconds.
    pub server: Quartiles,
    /// The client's CPU time for one handshake, in nanoseconds.
    pub client: Quartiles,
    /// From the client's first packet to its last of the handshake, one at a time.
    pub alone: Latency,
    /// The same, [`AT_A_TIME`](super::AT_A_TIME) at a time.
    pub crowded: Latency,
    /// The server's memory for an idle connection.
    pub idle: Idle,
    /// From server to client.
    pub download: Bulk,
    /// From client to server, if the server accepts uploads.
    pub upload: Option<Bulk>,
}

/// Many bytes over one connection.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct Bulk {
    /// Bytes a second.
    pub rate: Quartiles,
    /// Bytes for a second of the server's CPU time.
    pub cpu: Quartiles,
}

/// The measurements of a client, with the same server for all clients.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct ClientRow {
    /// The implementation's name.
    pub name: String,
    /// The client's CPU time for a handshake, in nanoseconds.
    pub time: Quartiles,
}

/// How long handshakes took, in nanoseconds.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Serialize)]
pub struct Latency {
    /// Half of them took at most this.
    pub p50: f64,
    /// 95 of a hundred.
    pub p95: f64,
    /// 99 of a hundred.
    pub p99: f64,
}

impl Latency {
    /// The percentiles of some handshakes.
    ///
    /// # Panics
    ///
    /// If there are none.
    pub fn of(mut handshakes: Vec<Duration>) -> Self {
        handshakes.sort();
        let percentile = |percent: usize| {
            let rank = (handshakes.len() * percent).div_ceil(100);
            handshakes[rank - 1].as_secs_f64() * 1e9
        };
        Self {
            p50: percentile(50),
            p95: percentile(95),
            p99: percentile(99),
        }
    }
}

/// Memory of idle connections.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub enum Idle {
    /// Bytes for each.
    Bytes(f64),
    /// Why there is no figure.
    Unknown(String),
}

/// Where tables are kept for the report.
///
/// # Errors
///
/// Those of [`results::folder()`].
pub fn folder() -> io::Result<PathBuf> {
    Ok(results::folder()?.with_file_name("measured-loopback"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_of_those_that_were_measured() {
        let handshakes = (1..=200).rev().map(Duration::from_nanos).collect();
        let expected = Latency {
            p50: 100.0,
            p95: 190.0,
            p99: 198.0,
        };
        let latency = Latency::of(handshakes);
        for (measured, expected) in [
            (latency.p50, expected.p50),
            (latency.p95, expected.p95),
            (latency.p99, expected.p99),
        ] {
            assert!((measured - expected).abs() < 1e-3, "{measured}");
        }
    }

    #[test]
    fn one_handshake_is_every_percentile() {
        let latency = Latency::of(vec![Duration::from_secs(1)]);
        assert_eq!((latency.p50, latency.p99), (1e9, 1e9));
    }
}
