//! The load: connections in one thread, a given number at a time.

use alloc::sync::Arc;
use core::net::SocketAddr;
use core::time::Duration;
use std::io;
use std::time::Instant;

use rustls::ClientConfig;
use rustls::pki_types::ServerName;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::runtime::Runtime;
use tokio::task::JoinSet;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

use crate::timing::sampler::add_time;
use crate::tls::handshake::NAME;

/// Connects to one server.
#[derive(Clone)]
pub(super) struct Client {
    connector: TlsConnector,
    address: SocketAddr,
}

impl Client {
    pub(super) fn new(config: Arc<ClientConfig>, address: SocketAddr) -> Self {
        Self {
            connector: config.into(),
            address,
        }
    }

    /// Makes handshakes for this time with `at_a_time` workers, each of which makes at least one.
    pub(super) fn load(
        &self,
        runtime: &Runtime,
        at_a_time: usize,
        time: Duration,
    ) -> io::Result<Load> {
        let start = Instant::now();
        let mut cpu = Duration::ZERO;
        let handshakes = add_time(&mut cpu, || {
            runtime.block_on(async {
                let mut workers = JoinSet::new();
                for _ in 0..at_a_time {
                    workers.spawn(self.clone().shake_hands_until(start + time));
                }
                let mut handshakes = Vec::new();
                while let Some(worker) = workers.join_next().await {
                    handshakes.extend(worker??);
                }
                io::Result::Ok(handshakes)
            })
        })?;
        Ok(Load {
            elapsed: start.elapsed(),
            cpu,
            handshakes,
        })
    }

    async fn shake_hands_until(self, end: Instant) -> io::Result<Vec<Duration>> {
        let mut handshakes = Vec::new();
        loop {
            let start = Instant::now();
            let tls = self.connect().await?;
            handshakes.push(start.elapsed());
            leave(tls).await?;
            if Instant::now() >= end {
                return Ok(handshakes);
            }
        }
    }

    /// Opens this number of connections and leaves them idle.
    pub(super) fn open(
        &self,
        runtime: &Runtime,
        connections: usize,
    ) -> io::Result<Vec<TlsStream<TcpStream>>> {
        runtime.block_on(async {
            let mut open = Vec::with_capacity(connections);
            let mut opening = JoinSet::new();
            for _ in 0..connections {
                let client = self.clone();
                opening.spawn(async move { client.connect().await });
                if opening.len() == super::AT_A_TIME
                    && let Some(opened) = opening.join_next().await
                {
                    open.push(opened??);
                }
            }
            while let Some(opened) = opening.join_next().await {
                open.push(opened??);
            }
            Ok(open)
        })
    }

    /// Downloads this number of bytes over one connection. Returns the time from the request to the last
    /// byte.
    pub(super) fn download(&self, runtime: &Runtime, bytes: u64) -> io::Result<Duration> {
        runtime.block_on(async {
            let mut tls = self.connect().await?;
            let request = format!("GET /bytes/{bytes} HTTP/1.0\r\nHost: {NAME}\r\n\r\n");
            let start = Instant::now();
            tls.write_all(request.as_bytes()).await?;
            tls.flush().await?;
            let mut buffer = vec![0; 1 << 16];
            let mut received = 0;
            // This counts the few bytes of the head, too, which were not requested.
            while received < bytes {
                match tls.read(&mut buffer).await? {
                    0 => return Err(io::ErrorKind::UnexpectedEof.into()),
                    more => received += more as u64,
                }
            }
            let taken = start.elapsed();
            while tls.read(&mut buffer).await? > 0 {}
            tls.get_ref().0.set_zero_linger()?;
            Ok(taken)
        })
    }

    /// Sends this number of zeros over one connection. Returns the time from the request to the answer
    /// that they have arrived.
    pub(super) fn upload(&self, runtime: &Runtime, bytes: u64) -> io::Result<Duration> {
        runtime.block_on(async {
            let mut tls = self.connect().await?;
            let request =
                format!("POST /bytes HTTP/1.0\r\nHost: {NAME}\r\nContent-Length: {bytes}\r\n\r\n");
            let zeros = [0; 1 << 16];
            let start = Instant::now();
            tls.write_all(request.as_bytes()).await?;
            let mut left = bytes;
            while left > 0 {
                let piece = zeros.len().min(usize::try_from(left).unwrap_or(usize::MAX));
                tls.write_all(&zeros[..piece]).await?;
                left -= piece as u64;
            }
            tls.flush().await?;
            let mut answer = String::new();
            tls.read_to_string(&mut answer).await?;
            let taken = start.elapsed();
            tls.get_ref().0.set_zero_linger()?;
            match answer.ends_with(&format!("\r\n\r\n{bytes}\n")) {
                true => Ok(taken),
                false => Err(io::Error::other(format!("not all has arrived: {answer}"))),
            }
        })
    }

    async fn connect(&self) -> io::Result<TlsStream<TcpStream>> {
        let tcp = TcpStream::connect(self.address).await?;
        tcp.set_nodelay(true)?;
        let name = ServerName::try_from(NAME).map_err(io::Error::other)?;
        self.connector.connect(name, tcp).await
    }
}

/// The results of a load.
pub(super) struct Load {
    pub(super) elapsed: Duration,
    /// The client's CPU time.
    pub(super) cpu: Duration,
    /// How long each handshake took.
    pub(super) handshakes: Vec<Duration>,
}

/// Ends a connection, and waits until the server has ended it, too. A reset then leaves no port that
/// can't be used for a minute.
async fn leave(mut tls: TlsStream<TcpStream>) -> io::Result<()> {
    let (tcp, connection) = tls.get_mut();
    tcp.set_zero_linger()?;
    connection.send_close_notify();
    tls.flush().await?;
    let mut rest = [0; 64];
    while tls.read(&mut rest).await? > 0 {}
    Ok(())
}
