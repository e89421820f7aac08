//! Servers that run for as long as challenges are shown, with as many connections and as much time for each as that takes.

use alloc::sync::Arc;
use core::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use core::time::Duration;
use std::io::ErrorKind;

use pq_acme::objects::ChallengeKind;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio::task::JoinHandle;
use tokio::time::{sleep, timeout};

use super::error::ShowingError;

/// Connections at a time; more wait.
const CONNECTIONS: usize = 64;

/// What systems without IPv6 say: EADDRNOTAVAIL, EAFNOSUPPORT.
const NO_IPV6: [ErrorKind; 2] = [ErrorKind::AddrNotAvailable, ErrorKind::Unsupported];

/// How long a connection may last.
const LIMIT: Duration = Duration::from_secs(30);

/// A server that ends when this is dropped.
#[derive(Debug)]
pub struct Listening(JoinHandle<()>);

impl Drop for Listening {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// Serves connections to an address, each by `serve`.
pub(super) async fn listen<F>(
    address: SocketAddr,
    kind: ChallengeKind,
    serve: impl Fn(TcpStream) -> F + Send + 'static,
) -> Result<Listening, ShowingError>
where
    F: Future<Output = ()> + Send + 'static,
{
    let mut listener = TcpListener::bind(address).await;
    // Where there is no IPv6, all addresses are those of IPv4.
    if address.ip() == IpAddr::V6(Ipv6Addr::UNSPECIFIED)
        && matches!(&listener, Err(error) if NO_IPV6.contains(&error.kind()))
    {
        listener = TcpListener::bind((Ipv4Addr::UNSPECIFIED, address.port())).await;
    }
    let listener = listener.map_err(|error| ShowingError::Listen {
        kind,
        address,
        error,
    })?;
    let places = Arc::new(Semaphore::new(CONNECTIONS));
    Ok(Listening(tokio::spawn(async move {
        loop {
            let Ok(place) = places.clone().acquire_owned().await else {
                return;
            };
            match listener.accept().await {
                Ok((stream, _)) => {
                    let served = timeout(LIMIT, serve(stream));
                    tokio::spawn(async move {
                        // Whoever takes longer has not asked for a challenge.
                        let _ = served.await;
                        drop(place);
                    });
                }
                // Such as that there are no descriptors left.
                Err(_) => sleep(Duration::from_millis(100)).await,
            }
        }
    })))
}
