//! Connections to whoever is asked: to addresses that were looked up once and judged, never to a name.

use core::fmt;
use core::net::{IpAddr, SocketAddr};
use core::time::Duration;

use pq_acme::problem::ProblemType;
use tokio::net::TcpStream;
use tokio::time::timeout;

use super::Validator;
use super::outcome::{Refusal, Steps, Verdict};

/// Addresses of a name that are tried.
const MAX_TRIED: usize = 4;

impl Validator {
    /// Connects to a host: to the first of its addresses that may be asked, and answers.
    pub(super) async fn connect(
        &self,
        host: &Host<'_>,
        port: u16,
        steps: &mut Steps,
    ) -> Result<(TcpStream, SocketAddr), Verdict> {
        let found = match host {
            Host::Address(address) => vec![*address],
            Host::Name(name) => self.resolver.addresses(name, steps).await?,
        };
        let mut allowed = Vec::new();
        let mut forbidden = None;
        for address in found {
            match self.addresses.check(address) {
                Ok(address) => allowed.push(address),
                Err(refused) => {
                    steps.add(refused);
                    forbidden = Some(refused);
                }
            }
        }
        if let (true, Some(forbidden)) = (allowed.is_empty(), forbidden) {
            let detail = match host {
                Host::Address(_) => forbidden.to_string(),
                Host::Name(name) => {
                    format!("{name} leads to an address that is refused: {forbidden}")
                }
            };
            return Err(Refusal::new(ProblemType::RejectedIdentifier, detail).into());
        }
        let mut last = String::new();
        for address in allowed.into_iter().take(MAX_TRIED) {
            let address = SocketAddr::new(address, port);
            match dial(address, self.limits.connect).await {
                Ok(connection) => {
                    steps.add(format!("connected to {address}"));
                    return Ok((connection, address));
                }
                Err(error) => {
                    last = format!("{address} can't be reached: {error}");
                    steps.add(&last);
                }
            }
        }
        let detail = format!(
            "{host}, port {port}: {last}; is a server running there, and does a firewall let this CA in?"
        );
        Err(Refusal::new(ProblemType::Connection, detail).into())
    }
}

async fn dial(address: SocketAddr, limit: Duration) -> Result<TcpStream, String> {
    match timeout(limit, TcpStream::connect(address)).await {
        Ok(Ok(connection)) => {
            // It only makes requests faster.
            let _ = connection.set_nodelay(true);
            Ok(connection)
        }
        Ok(Err(error)) => Err(error.to_string()),
        Err(_) => Err(format!("no connection within {} s", limit.as_secs_f32())),
    }
}

/// Whom to connect to.
pub(super) enum Host<'a> {
    Name(&'a str),
    Address(IpAddr),
}

impl fmt::Display for Host<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Name(name) => f.write_str(name),
            Self::Address(address) => address.fmt(f),
        }
    }
}
