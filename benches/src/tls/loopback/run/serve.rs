//! The server of pq-serving, in the process that a measurement starts.

use core::error::Error;
use core::net::Ipv4Addr;
use core::time::Duration;
use std::path::Path;
use std::{fs, io};

use pq_serving::{Identity, Limits, Server, Tls};
use rustls::pki_types::PrivatePkcs8KeyDer;
use rustls_pq::identity::{Identities, IdentitySet};

use super::setup::{KEY, LEAF, provider};
use crate::tls::handshake::Combination;
use crate::tls::loopback::{IDLE, table};

/// Serves with a provider, in one thread, until standard input ends. Prints its address in the first
/// line.
///
/// # Errors
///
/// If there is no such provider or table, if no measurement made the folder, or if the operating system
/// refuses something.
pub fn serve(provider_name: &str, table_name: &str, folder: &Path) -> Result<(), Box<dyn Error>> {
    let combination = Combination::all()
        .find(|combination| table(*combination) == table_name)
        .ok_or("there is no such table")?;
    let provider = provider(provider_name, combination)?;
    let identity = Identity {
        chain: vec![fs::read(folder.join(LEAF))?.into()],
        key: PrivatePkcs8KeyDer::from(fs::read(folder.join(KEY))?).into(),
    };
    let identity = identity.check(&provider)?;
    let identities = Identities::new(IdentitySet::new().with_default(identity));
    let tls = Tls::with(provider.into(), identities.into(), None)?;

    let runtime = super::runtime()?;
    runtime.block_on(async {
        let server = Server::bind((Ipv4Addr::LOCALHOST, 0), tls, limits()).await?;
        println!("ACCEPT {}", server.local_addr());
        tokio::task::spawn_blocking(|| io::copy(&mut io::stdin(), &mut io::sink())).await??;
        Ok(())
    })
}

/// Limits that end no connection during the measurement.
fn limits() -> Limits {
    Limits {
        connections: 2 * IDLE,
        connections_per_address: 2 * IDLE,
        handshakes: 2 * IDLE,
        handshakes_per_address: 2 * IDLE,
        handshake: Duration::from_secs(60),
        request_head: Duration::from_secs(3600),
        connection: Duration::from_secs(3600),
        grace: Duration::ZERO,
        bytes: 1 << 40,
        ..Limits::default()
    }
}
