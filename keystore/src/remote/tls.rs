//! The transport over TCP and TLS, with connections that are kept.

use alloc::sync::Arc;
use core::fmt;
use core::time::Duration;
use std::io::{self, Read, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use rustls::pki_types::ServerName;
use rustls::{ClientConfig, ClientConnection, StreamOwned};

use super::error::TransportError;
use super::http::{self, Failure};
use super::transport::{Transport, TransportRequest, TransportResponse};

/// How a [`TlsTransport`] runs. The [default](Self::default) waits 2 seconds for a connection and 10 seconds for a
/// response, keeps 8 connections, and reads responses of 16 MiB.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct TlsTransportOptions {
    /// How long connecting may take, for each address of the server.
    pub connecting: Duration,
    /// How long a request may take after that, with TLS's handshake and a second try over a new connection.
    pub answering: Duration,
    /// How many connections are kept that nobody uses.
    pub kept: usize,
    /// The most bytes of a response's body.
    pub max_body_len: usize,
}

impl Default for TlsTransportOptions {
    fn default() -> Self {
        Self {
            connecting: Duration::from_secs(2),
            answering: Duration::from_secs(10),
            kept: 8,
            max_body_len: 16 * 1024 * 1024,
        }
    }
}

/// Sends requests over TLS, with whatever provider and certificates the configuration has. Connections are kept and used
/// again, one request at a time each.
pub struct TlsTransport {
    config: Arc<ClientConfig>,
    name: ServerName<'static>,
    /// The name of the host and the port.
    address: (String, u16),
    host: String,
    options: TlsTransportOptions,
    kept: Mutex<Vec<Connection>>,
}

impl fmt::Debug for TlsTransport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TlsTransport")
            .field("address", &self.address)
            .finish_non_exhaustive()
    }
}

type Connection = StreamOwned<ClientConnection, Timed>;

/// Longer bodies are refused by some servers, whose answer is lost if they end the connection while more of the body comes.
const LONG: usize = 256 * 1024;

/// A socket whose every wait ends at one time.
struct Timed {
    socket: TcpStream,
    until: Instant,
}

impl Timed {
    fn left(&self) -> io::Result<Duration> {
        let left = self.until.saturating_duration_since(Instant::now());
        match left.is_zero() {
            true => Err(io::ErrorKind::TimedOut.into()),
            false => Ok(left),
        }
    }
}

impl Read for Timed {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        self.socket.set_read_timeout(Some(self.left()?))?;
        self.socket.read(bytes)
    }
}

impl Write for Timed {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.socket.set_write_timeout(Some(self.left()?))?;
        self.socket.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.socket.flush()
    }
}

impl TlsTransport {
    /// A transport to a server, whose certificate has to be for this name. No connection is made yet.
    ///
    /// # Errors
    ///
    /// If the host is no name and no address.
    pub fn new(
        config: Arc<ClientConfig>,
        host: &str,
        port: u16,
        options: TlsTransportOptions,
    ) -> Result<Self, TransportError> {
        let name = ServerName::try_from(host.to_owned());
        let name = name.map_err(|error| TransportError::Tls(error.to_string()))?;
        Ok(Self {
            config,
            name,
            address: (host.into(), port),
            host: match host.contains(':') {
                true => format!("[{host}]:{port}"),
                false => format!("{host}:{port}"),
            },
            options,
            kept: Mutex::new(Vec::new()),
        })
    }

    fn take(&self) -> Option<Connection> {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.pop()
    }

    fn keep(&self, connection: Connection) {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.len() < self.options.kept {
            kept.push(connection);
        }
    }

    fn connect(&self, until: Instant) -> Result<Connection, TransportError> {
        let (host, port) = &self.address;
        let addresses = (host.as_str(), *port).to_socket_addrs();
        let mut last = io::ErrorKind::NotFound.into();
        for address in addresses.map_err(TransportError::Unreachable)? {
            match TcpStream::connect_timeout(&address, self.options.connecting) {
                Ok(socket) => {
                    socket
                        .set_nodelay(true)
                        .map_err(TransportError::Unreachable)?;
                    let connection = ClientConnection::new(self.config.clone(), self.name.clone());
                    let connection =
                        connection.map_err(|error| TransportError::Tls(error.to_string()))?;
                    return Ok(StreamOwned::new(connection, Timed { socket, until }));
                }
                Err(error) => last = error,
            }
        }
        Err(TransportError::Unreachable(last))
    }

    fn exchange(
        &self,
        mut connection: Connection,
        request: &TransportRequest<'_>,
    ) -> Result<TransportResponse, Failure> {
        let sent = http::write(&mut connection, &self.host, request);
        if let Err(Failure::Io(error)) = &sent
            && matches!(
                error.kind(),
                io::ErrorKind::BrokenPipe | io::ErrorKind::ConnectionReset
            )
        {
            return Err(Failure::Ended);
        }
        sent?;
        let received = http::read(&mut connection, self.options.max_body_len)?;
        if received.keeps {
            self.keep(connection);
        }
        Ok(received.response)
    }
}

impl Transport for TlsTransport {
    fn send(&self, request: &TransportRequest<'_>) -> Result<TransportResponse, TransportError> {
        let until = Instant::now() + self.options.answering;
        // A server closes connections that nobody uses, and a request may be on its way then. So only those that may
        // arrive twice go over a kept one; each kept one may be closed.
        while request.repeatable
            && let Some(mut connection) = self.take()
        {
            connection.sock.until = until;
            match self.exchange(connection, request) {
                Err(Failure::Ended) => {}
                exchanged => return Ok(exchanged?),
            }
        }
        let connection = self.connect(until)?;
        match self.exchange(connection, request) {
            Err(Failure::Ended) if request.body.len() > LONG => {
                Err(TransportError::Broken(io::Error::other(
                    "it took only a part of the request, which may be too long for it",
                )))
            }
            exchanged => Ok(exchanged?),
        }
    }
}
