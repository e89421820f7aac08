//! A server's memory for idle connections.

use core::error::Error;
use core::time::Duration;
use std::thread;
use std::time::Instant;

use tokio::runtime::Runtime;

use super::client::Client;
use super::server::Implementation;
use super::setup::Setup;
use super::{AT_A_TIME, descriptors};
use crate::machine::cores::Core;
use crate::tls::loopback::Idle;

/// Opens this number of connections to a fresh server, and divides the growth of its resident memory by
/// it.
pub(super) fn idle(
    implementation: &Implementation,
    client_name: &str,
    setup: &Setup,
    core: Core,
    runtime: &Runtime,
    connections: usize,
) -> Result<Idle, Box<dyn Error>> {
    if let Implementation::OpenSsl { .. } = implementation {
        let why = "s_server serves one connection at a time";
        return Ok(Idle::Unknown(why.into()));
    }
    // Both this process and the server need them, and a few for everything else.
    let needed = connections as u64 + 100;
    if let Some(limit) = descriptors::raise().filter(|limit| *limit < needed) {
        return Ok(Idle::Unknown(format!(
            "{connections} connections need {needed} descriptors, and a process may have {limit}"
        )));
    }

    let server = implementation.start(setup, core)?;
    let client = Client::new(setup.client(client_name)?, server.address);
    let at_first = server.process.descriptors()?;
    // Excludes memory that only the first connections take.
    client.load(runtime, AT_A_TIME, WARM_UP)?;
    // The server may not have closed their connections yet.
    let start = Instant::now();
    while server.process.descriptors()? > at_first && start.elapsed() < SETTLED {
        thread::sleep(Duration::from_millis(5));
    }
    let descriptors = server.process.descriptors()?;
    let before = server.process.resident()?;
    let open = client.open(runtime, connections)?;
    // The server may not have read the client's last packets yet.
    thread::sleep(SETTLED);
    let after = server.process.resident()?;
    if server.process.descriptors()? < descriptors + open.len() {
        return Err("the server has closed connections".into());
    }
    let grown = after.saturating_sub(before);
    // The side that closes first has to remember the connection. Let it be the server: its port isn't
    // needed again.
    drop(server);
    Ok(Idle::Bytes(grown as f64 / open.len() as f64))
}

const WARM_UP: Duration = Duration::from_millis(100);
const SETTLED: Duration = Duration::from_millis(300);
