//! A client under measurement.

use core::error::Error;
use std::io;
use std::path::Path;

use tokio::runtime::Runtime;

use super::client::Client;
use super::s_time::s_time;
use super::server::{Implementation, Server};
use super::setup::Setup;
use super::{AT_A_TIME, Effort};
use crate::machine::cores::{Core, Cores};
use crate::timing::results::Quartiles;
use crate::tls::loopback::ClientRow;

/// A client and its measurements.
pub(super) struct ClientSamples<'a> {
    name: &'a str,
    setup: &'a Setup,
    core: Core,
    server: Server,
    client: Kind<'a>,
    /// Nanoseconds for a handshake.
    times: Vec<f64>,
}

enum Kind<'a> {
    Rustls(Client),
    OpenSsl { program: &'a Path },
}

impl<'a> ClientSamples<'a> {
    /// Starts the server of `server` for the client.
    pub(super) fn new(
        implementation: &'a Implementation,
        server: &'a Implementation,
        setup: &'a Setup,
        cores: Cores,
    ) -> Result<Self, Box<dyn Error>> {
        let server = server.start(setup, cores.server)?;
        let client = match implementation {
            Implementation::Rustls(name) => {
                Kind::Rustls(Client::new(setup.client(name)?, server.address))
            }
            Implementation::OpenSsl { program, .. } => Kind::OpenSsl { program },
        };
        Ok(Self {
            name: implementation.name(),
            setup,
            core: cores.client,
            server,
            client,
            times: Vec::new(),
        })
    }

    /// Takes a sample.
    pub(super) fn take_turn(&mut self, runtime: &Runtime, effort: Effort) -> io::Result<()> {
        let time = match &self.client {
            Kind::Rustls(client) => {
                let load = client.load(runtime, AT_A_TIME, effort.load)?;
                load.cpu.as_secs_f64() / load.handshakes.len() as f64
            }
            Kind::OpenSsl { program } => {
                s_time(program, self.setup, &self.server, self.core)?.as_secs_f64()
            }
        };
        self.times.push(time * 1e9);
        Ok(())
    }

    pub(super) fn row(self) -> ClientRow {
        ClientRow {
            name: self.name.to_owned(),
            time: Quartiles::of(self.times),
        }
    }
}
