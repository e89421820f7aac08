//! The measurement. As in [`measure`](crate::timing::measure()), all take turns: a round is a sample of
//! each server and client of all tables.

mod client;
mod client_samples;
mod descriptors;
mod idle;
mod s_time;
mod serve;
mod server;
mod server_samples;
mod setup;

use core::error::Error;
use core::time::Duration;
use std::io;
use std::time::SystemTime;

use pq_core::arch::lift_limit;
use tokio::runtime::{Builder, Runtime};

pub use self::serve::serve;

use self::client_samples::ClientSamples;
use self::server::Implementation;
use self::server_samples::ServerSamples;
use self::setup::Setup;
use super::{AT_A_TIME, IDLE, Table, table};
use crate::machine::cores::Cores;
use crate::peers::openssl;
use crate::tls::handshake::{Combination, providers};

/// How much is measured.
#[derive(Clone, Copy, Debug)]
pub struct Effort {
    /// How often each server and client has its turn.
    pub rounds: u32,
    /// How long a turn's handshakes take, both one at a time and crowded.
    pub load: Duration,
    /// How many idle connections there are.
    pub idle: usize,
    /// How many bytes a turn downloads, and how many it uploads.
    pub bulk: u64,
}

impl Effort {
    /// The effort of published figures.
    pub const FULL: Self = Self {
        rounds: 5,
        load: Duration::from_millis(200),
        idle: IDLE,
        bulk: 256 << 20,
    };

    /// For a first look.
    pub const QUICK: Self = Self {
        rounds: 3,
        load: Duration::from_millis(100),
        idle: 1000,
        bulk: 64 << 20,
    };

    /// To check that everything runs.
    pub const TRY_OUT: Self = Self {
        rounds: 1,
        load: Duration::from_millis(1),
        idle: 20,
        bulk: 1 << 20,
    };
}

/// Measures servers and clients of some combinations, those whose names are `wanted`.
///
/// Servers are on one core and clients on another, if the machine has two.
///
/// # Errors
///
/// If a server or a client doesn't start, a handshake fails, or the operating system
/// refuses something.
pub fn measure(
    combinations: &[Combination],
    effort: Effort,
    wanted: impl Fn(&str) -> bool,
) -> Result<Vec<Table>, Box<dyn Error>> {
    // Rows of other tables hide backends, which also affects the clients in this process.
    lift_limit();
    let cores = Cores::choose()?;
    let _stay = cores.client.stay()?;
    let runtime = runtime()?;
    let implementations = implementations()?;
    let setups = combinations
        .iter()
        .map(|combination| Setup::new(*combination, effort.bulk))
        .collect::<Result<Vec<_>, _>>()?;

    let mut measured = Vec::new();
    for setup in &setups {
        let rows = || implementations.iter().filter(|row| wanted(row.name()));
        let servers = rows()
            .map(|row| ServerSamples::new(row, &implementations[0], setup, cores))
            .collect::<Result<Vec<_>, _>>()?;
        let clients = rows()
            .map(|row| ClientSamples::new(row, &implementations[0], setup, cores))
            .collect::<Result<Vec<_>, _>>()?;
        measured.push((setup, servers, clients));
    }
    for _ in 0..effort.rounds {
        for (_, servers, clients) in &mut measured {
            for server in servers {
                server.take_turn(&runtime, effort)?;
            }
            for client in clients {
                client.take_turn(&runtime, effort)?;
            }
        }
    }

    measured
        .into_iter()
        .map(|(setup, servers, clients)| {
            Ok(Table {
                name: table(setup.combination),
                servers: servers
                    .into_iter()
                    .map(|server| server.row(&runtime, effort))
                    .collect::<Result<_, _>>()?,
                clients: clients.into_iter().map(ClientSamples::row).collect(),
                cores_apart: cores.are_apart(),
                measured: SystemTime::now(),
            })
        })
        .collect()
}

/// Our implementation, whose client measures all servers and whose server serves all clients; rustls
/// with AWS-LC; and OpenSSL, if it is available.
fn implementations() -> Result<Vec<Implementation>, Box<dyn Error>> {
    let providers = providers()?;
    let ours = providers
        .iter()
        .map(|(name, _)| *name)
        .find(|name| name.starts_with("rustls-pq/"))
        .ok_or("none of our providers runs on this machine")?;
    let mut all = vec![
        Implementation::Rustls(ours),
        Implementation::Rustls("rustls/aws-lc-rs"),
    ];
    all.extend(openssl::find().map(|openssl| Implementation::OpenSsl {
        name: format!("OpenSSL {}", openssl.version),
        program: openssl.program,
    }));
    Ok(all)
}

/// A runtime with one thread.
fn runtime() -> io::Result<Runtime> {
    Builder::new_current_thread().enable_all().build()
}
