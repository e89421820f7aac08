//! A server under measurement.

use core::error::Error;
use core::time::Duration;
use std::io;

use tokio::runtime::Runtime;

use super::client::Client;
use super::idle::idle;
use super::server::{Implementation, Server};
use super::setup::Setup;
use super::{AT_A_TIME, Effort};
use crate::machine::cores::Cores;
use crate::machine::process::Process;
use crate::timing::results::Quartiles;
use crate::tls::loopback::{Bulk, Latency, ServerRow};

/// A server and its measurements.
pub(super) struct ServerSamples<'a> {
    implementation: &'a Implementation,
    client_name: &'a str,
    setup: &'a Setup,
    cores: Cores,
    server: Server,
    client: Client,
    rates: Vec<f64>,
    server_times: Vec<f64>,
    client_times: Vec<f64>,
    alone: Vec<Duration>,
    crowded: Vec<Duration>,
    downloads: BulkSamples,
    /// `None` if the server accepts no uploads.
    uploads: Option<BulkSamples>,
}

impl<'a> ServerSamples<'a> {
    /// Starts the server, and makes a client for it that uses the implementation `client`.
    pub(super) fn new(
        implementation: &'a Implementation,
        client: &'a Implementation,
        setup: &'a Setup,
        cores: Cores,
    ) -> Result<Self, Box<dyn Error>> {
        let server = implementation.start(setup, cores.server)?;
        let client_name = client.name();
        Ok(Self {
            implementation,
            client_name,
            setup,
            cores,
            client: Client::new(setup.client(client_name)?, server.address),
            server,
            rates: Vec::new(),
            server_times: Vec::new(),
            client_times: Vec::new(),
            alone: Vec::new(),
            crowded: Vec::new(),
            downloads: BulkSamples::default(),
            uploads: match implementation {
                Implementation::Rustls(_) => Some(BulkSamples::default()),
                Implementation::OpenSsl { .. } => None,
            },
        })
    }

    /// Takes a sample of everything but memory.
    pub(super) fn take_turn(&mut self, runtime: &Runtime, effort: Effort) -> io::Result<()> {
        let alone = self.client.load(runtime, 1, effort.load)?;
        self.alone.extend(alone.handshakes);

        let before = self.server.process.cpu_time()?;
        let crowd = self.client.load(runtime, AT_A_TIME, effort.load)?;
        let server = self.server.process.cpu_time()? - before;
        let handshakes = crowd.handshakes.len() as f64;
        self.rates.push(handshakes / crowd.elapsed.as_secs_f64());
        self.server_times
            .push(server.as_secs_f64() * 1e9 / handshakes);
        self.client_times
            .push(crowd.cpu.as_secs_f64() * 1e9 / handshakes);
        self.crowded.extend(crowd.handshakes);

        let process = &self.server.process;
        self.downloads.take(process, effort.bulk, |bytes| {
            self.client.download(runtime, bytes)
        })?;
        if let Some(uploads) = &mut self.uploads {
            uploads.take(process, effort.bulk, |bytes| {
                self.client.upload(runtime, bytes)
            })?;
        }
        Ok(())
    }

    /// Stops this server, measures memory with a fresh one, and sums up.
    pub(super) fn row(
        self,
        runtime: &Runtime,
        effort: Effort,
    ) -> Result<ServerRow, Box<dyn Error>> {
        drop(self.server);
        Ok(ServerRow {
            name: self.implementation.name().to_owned(),
            rate: Quartiles::of(self.rates),
            server: Quartiles::of(self.server_times),
            client: Quartiles::of(self.client_times),
            alone: Latency::of(self.alone),
            crowded: Latency::of(self.crowded),
            idle: idle(
                self.implementation,
                self.client_name,
                self.setup,
                self.cores.server,
                runtime,
                effort.idle,
            )?,
            download: self.downloads.sum_up(),
            upload: self.uploads.map(BulkSamples::sum_up),
        })
    }
}

/// Transfers of many bytes.
#[derive(Default)]
struct BulkSamples {
    /// Bytes a second.
    rates: Vec<f64>,
    /// Bytes for a second of the server's CPU time.
    cpu: Vec<f64>,
}

impl BulkSamples {
    /// Takes a sample of a transfer of this number of bytes.
    fn take(
        &mut self,
        server: &Process,
        bytes: u64,
        transfer: impl FnOnce(u64) -> io::Result<Duration>,
    ) -> io::Result<()> {
        let before = server.cpu_time()?;
        let taken = transfer(bytes)?;
        let cpu = server.cpu_time()? - before;
        self.rates.push(bytes as f64 / taken.as_secs_f64());
        self.cpu.push(bytes as f64 / cpu.as_secs_f64());
        Ok(())
    }

    fn sum_up(self) -> Bulk {
        Bulk {
            rate: Quartiles::of(self.rates),
            cpu: Quartiles::of(self.cpu),
        }
    }
}
