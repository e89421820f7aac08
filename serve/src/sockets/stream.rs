//! An accepted connection, and who is at its other end.

use std::fmt;
use std::io::{self, IoSlice};
use std::net::SocketAddr;
use std::pin::Pin;
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
#[cfg(unix)]
use tokio::net::UnixStream;

/// An accepted connection.
#[derive(Debug)]
pub(crate) enum Socket {
    Tcp(TcpStream),
    #[cfg(unix)]
    Unix(UnixStream),
}

/// Who is at the other end of a connection.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Peer {
    Tcp(SocketAddr),
    /// A process of this machine.
    #[cfg_attr(not(unix), expect(dead_code, reason = "there are none"))]
    Unix,
}

impl Peer {
    /// The address, if there is one.
    pub(crate) fn address(self) -> Option<SocketAddr> {
        match self {
            Self::Tcp(address) => Some(address),
            Self::Unix => None,
        }
    }
}

impl fmt::Display for Peer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tcp(address) => write!(f, "{address}"),
            Self::Unix => f.write_str("unix"),
        }
    }
}

impl Socket {
    /// Answers are small: they should not wait for more to send.
    pub(crate) fn send_at_once(&self) -> io::Result<()> {
        match self {
            Self::Tcp(tcp) => tcp.set_nodelay(true),
            #[cfg(unix)]
            Self::Unix(_) => Ok(()),
        }
    }

    /// Tells the client by a reset that it was refused, after which the system has nothing to remember.
    pub(crate) fn refuse(self) -> io::Result<()> {
        match self {
            Self::Tcp(tcp) => tcp.set_zero_linger(),
            #[cfg(unix)]
            Self::Unix(_) => Ok(()),
        }
    }
}

/// Calls a method of whichever socket this is.
macro_rules! of_either {
    ($socket:expr, $method:ident($($argument:expr),*)) => {
        match $socket.get_mut() {
            Socket::Tcp(tcp) => Pin::new(tcp).$method($($argument),*),
            #[cfg(unix)]
            Socket::Unix(unix) => Pin::new(unix).$method($($argument),*),
        }
    };
}

impl AsyncRead for Socket {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        of_either!(self, poll_read(context, buffer))
    }
}

impl AsyncWrite for Socket {
    fn poll_write(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        of_either!(self, poll_write(context, bytes))
    }

    // rustls writes an alert with what is still to be sent before it, and tries once.
    fn poll_write_vectored(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        pieces: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        of_either!(self, poll_write_vectored(context, pieces))
    }

    fn is_write_vectored(&self) -> bool {
        true
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        of_either!(self, poll_flush(context))
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        of_either!(self, poll_shutdown(context))
    }
}
