//! Our endpoints as programs run them: rustls over TCP sockets on 127.0.0.1.

use alloc::sync::Arc;
use core::fmt;
use core::net::{Ipv4Addr, SocketAddr};
use core::ops::DerefMut;
use core::time::Duration;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::thread::{self, JoinHandle};
use std::time::Instant;

use rustls::pki_types::CertificateDer;
use rustls::{
    ClientConfig, ClientConnection, ConnectionCommon, HandshakeKind, NamedGroup, ServerConfig,
    ServerConnection, SideData,
};

use crate::openssl::TIME_LIMIT;
use crate::pki::server_name;

/// What an endpoint reports about a connection that worked.
#[derive(Debug)]
pub struct Report {
    /// The group of the key exchange.
    pub group: NamedGroup,
    /// Full, with a retry, or resumed.
    pub handshake: HandshakeKind,
    /// The peer's certificates, leaf first.
    pub peer_certificates: Vec<CertificateDer<'static>>,
    /// The line that the peer sent, without its line feed.
    pub received: String,
}

/// Why a connection did not work.
#[derive(Debug)]
pub enum Failure {
    /// rustls refused something, or was told that the peer did.
    Tls(rustls::Error),
    /// The socket failed, or the time was up.
    Io(io::Error),
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tls(err) => write!(f, "TLS: {err}"),
            Self::Io(err) => write!(f, "socket: {err}"),
        }
    }
}

impl From<io::Error> for Failure {
    /// rustls passes its own errors inside [`io::Error`].
    fn from(err: io::Error) -> Self {
        match err
            .get_ref()
            .and_then(|inner| inner.downcast_ref::<rustls::Error>())
        {
            Some(tls) => Self::Tls(tls.clone()),
            None => Self::Io(err),
        }
    }
}

/// Connects to `address` with `config`, expects the server `name`, sends `line` and
/// reads one line back.
///
/// # Errors
/// See [`Failure`].
///
/// # Panics
/// If `config` or `name` can't be used at all.
pub fn connect(
    config: &Arc<ClientConfig>,
    address: SocketAddr,
    name: &str,
    line: &str,
) -> Result<Report, Failure> {
    let connection = ClientConnection::new(Arc::clone(config), server_name(name))
        .expect("tests configure their clients well");
    let socket = TcpStream::connect(address)?;
    converse(connection, socket, |stream| {
        stream.get_mut().write_all(format!("{line}\n").as_bytes())?;
        read_line(stream)
    })
}

/// One of our servers, on a free port, in a thread of its own. It answers one line of
/// every client with that line reversed, as `s_server -rev` does.
#[derive(Debug)]
pub struct Server {
    address: SocketAddr,
    thread: JoinHandle<Vec<Result<Report, Failure>>>,
}

impl Server {
    /// Starts a server for that many connections, one after another.
    ///
    /// # Panics
    /// If it can't listen.
    pub fn start(config: Arc<ServerConfig>, connections: usize) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port is free");
        let address = listener.local_addr().expect("a listener has an address");
        let thread = thread::spawn(move || {
            (0..connections)
                .map(|_| serve(&config, accept(&listener)?))
                .collect()
        });
        Self { address, thread }
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Its reports about its connections, once all of them have ended.
    ///
    /// # Panics
    /// If its thread panicked.
    pub fn finish(self) -> Vec<Result<Report, Failure>> {
        self.thread.join().expect("the server does not panic")
    }

    /// Its reports about its connections, all of which must have worked.
    ///
    /// # Panics
    /// If one did not.
    #[track_caller]
    pub fn reports(self) -> Vec<Report> {
        self.finish()
            .into_iter()
            .map(|result| result.unwrap_or_else(|err| panic!("our server failed: {err}")))
            .collect()
    }
}

fn serve(config: &Arc<ServerConfig>, socket: TcpStream) -> Result<Report, Failure> {
    let connection =
        ServerConnection::new(Arc::clone(config)).expect("tests configure their servers well");
    converse(connection, socket, |stream| {
        let line = read_line(stream)?;
        let reversed: String = line.chars().rev().collect();
        stream
            .get_mut()
            .write_all(format!("{reversed}\n").as_bytes())?;
        Ok(line)
    })
}

type Stream<'a, C> = BufReader<rustls::Stream<'a, C, TcpStream>>;

/// Shakes hands, runs `exchange`, and closes the connection properly.
fn converse<C, S>(
    mut connection: C,
    mut socket: TcpStream,
    exchange: impl FnOnce(&mut Stream<'_, C>) -> io::Result<String>,
) -> Result<Report, Failure>
where
    C: DerefMut<Target = ConnectionCommon<S>>,
    S: SideData,
{
    socket.set_read_timeout(Some(TIME_LIMIT))?;
    socket.set_write_timeout(Some(TIME_LIMIT))?;
    socket.set_nodelay(true)?;

    let mut stream = BufReader::new(rustls::Stream::new(&mut connection, &mut socket));
    let exchanged = exchange(&mut stream);
    drop(stream);

    let exchanged = exchanged.map_err(|err| match verdict(&mut connection, &mut socket) {
        Some(verdict) => Failure::Tls(verdict),
        None => Failure::from(err),
    });
    if exchanged.is_ok() {
        connection.send_close_notify();
    }
    // The result is known by now, and the peer may be gone already.
    let _ = close(&mut connection, &mut socket);

    Ok(Report {
        received: exchanged?,
        group: connection
            .negotiated_key_exchange_group()
            .expect("the handshake is complete once data arrived")
            .name(),
        handshake: connection
            .handshake_kind()
            .expect("the handshake is complete once data arrived"),
        peer_certificates: connection
            .peer_certificates()
            .unwrap_or_default()
            .iter()
            .map(|certificate| certificate.clone().into_owned())
            .collect(),
    })
}

/// The error of rustls after all data that has arrived, if there is one. A socket that the peer
/// has reset fails to send, while the alert that says why can still be read.
fn verdict<S: SideData>(
    connection: &mut ConnectionCommon<S>,
    socket: &mut TcpStream,
) -> Option<rustls::Error> {
    loop {
        if let Err(err) = connection.process_new_packets() {
            return Some(err);
        }
        match connection.read_tls(socket) {
            Ok(0) | Err(_) => return None,
            Ok(_) => {}
        }
    }
}

/// Sends what is left to send, and closes the connection properly.
fn close<S: SideData>(
    connection: &mut ConnectionCommon<S>,
    socket: &mut TcpStream,
) -> io::Result<()> {
    while connection.wants_write() {
        connection.write_tls(socket)?;
    }
    // Closing a socket with unread bytes resets the connection, and the reset can
    // overtake the last data that we sent, such as an alert.
    socket.shutdown(Shutdown::Write)?;
    io::copy(&mut Read::take(socket, DRAIN_LIMIT), &mut io::sink()).map(|_| ())
}

fn read_line(stream: &mut impl BufRead) -> io::Result<String> {
    let mut line = String::new();
    stream.read_line(&mut line)?;
    match line.strip_suffix('\n') {
        Some(line) => Ok(line.to_owned()),
        None => Err(io::ErrorKind::UnexpectedEof.into()),
    }
}

/// Accepts one connection, or fails after the time limit: a blocking `accept` would
/// wait forever for a client that never comes.
fn accept(listener: &TcpListener) -> io::Result<TcpStream> {
    listener.set_nonblocking(true)?;
    let deadline = Instant::now() + TIME_LIMIT;
    loop {
        match listener.accept() {
            Ok((socket, _)) => {
                socket.set_nonblocking(false)?;
                return Ok(socket);
            }
            Err(err) if err.kind() == io::ErrorKind::WouldBlock && Instant::now() < deadline => {
                thread::sleep(POLL);
            }
            Err(err) => return Err(err),
        }
    }
}

const POLL: Duration = Duration::from_millis(3);
const DRAIN_LIMIT: u64 = 1 << 20;
