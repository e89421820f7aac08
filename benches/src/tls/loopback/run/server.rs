//! Servers for the measurement.

use core::net::SocketAddr;
use std::path::PathBuf;
use std::process::Command;
use std::{env, io};

use super::setup::{KEY, LEAF, OPENSSL_CONF, Setup};
use crate::machine::cores::Core;
use crate::machine::process::Process;
use crate::tls::loopback::table;

/// A running server.
pub(super) struct Server {
    pub(super) process: Process,
    pub(super) address: SocketAddr,
}

/// An implementation of TLS.
#[derive(Clone)]
pub(super) enum Implementation {
    /// The server of pq-serving, with the provider of this name.
    Rustls(&'static str),
    /// `openssl s_server`.
    OpenSsl {
        /// The name with its version.
        name: String,
        program: PathBuf,
    },
}

impl Implementation {
    pub(super) fn name(&self) -> &str {
        match self {
            Self::Rustls(name) => name,
            Self::OpenSsl { name, .. } => name,
        }
    }

    /// Starts a server of its own.
    pub(super) fn start(&self, setup: &Setup, core: Core) -> io::Result<Server> {
        let mut command = match self {
            Self::Rustls(name) => {
                let mut command = Command::new(env::current_exe()?);
                command
                    .args(["--serve", name, &table(setup.combination)])
                    .arg(setup.folder());
                command
            }
            Self::OpenSsl { program, .. } => {
                let mut command = Command::new(program);
                command
                    .current_dir(setup.folder())
                    .env("OPENSSL_CONF", setup.folder().join(OPENSSL_CONF))
                    .args(["s_server", "-accept", "127.0.0.1:0", "-WWW"])
                    .args(["-cert", LEAF, "-key", KEY]);
                command
            }
        };
        let mut process = Process::start(&mut command, core, setup.folder())?;
        let address =
            process.address(|line| line.strip_prefix("ACCEPT ")?.trim_end().parse().ok())?;
        Ok(Server { process, address })
    }
}
