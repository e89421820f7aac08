//! A socket to listen on, and the address that names it.

use std::fmt;
use std::io;
use std::net::SocketAddr;
#[cfg(unix)]
use std::path::PathBuf;
use std::str::FromStr;

use tokio::net::{TcpListener, TcpSocket, ToSocketAddrs, lookup_host};

use super::inherited;
use super::kind::Kind;
#[cfg(unix)]
use super::unix::UnixSocket;

/// Where to listen.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum ListenAddress {
    /// An address and a port, `127.0.0.1:8443`. Port 0 lets the system choose one.
    Tcp(SocketAddr),
    /// A Unix socket, `unix:PATH` or `unix:PATH,MODE`. The mode is octal; without one, it is 600, for the same user alone.
    #[cfg(unix)]
    Unix {
        /// The socket's file.
        path: PathBuf,
        /// The permissions of the file.
        mode: u32,
    },
    /// The sockets that the process was given by its starter, as systemd does: `systemd` for all of them, `systemd:NAME` for
    /// those with this name (FileDescriptorName).
    Inherited(Option<String>),
}

impl FromStr for ListenAddress {
    type Err = ListenAddressError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if text == "systemd" {
            return Ok(Self::Inherited(None));
        }
        if let Some(name) = text.strip_prefix("systemd:") {
            return Ok(Self::Inherited(Some(name.into())));
        }
        #[cfg(unix)]
        if let Some(unix) = text.strip_prefix("unix:") {
            let (path, mode) = match unix.rsplit_once(',') {
                Some((path, mode)) => (path, u32::from_str_radix(mode, 8).ok()),
                None => (unix, Some(0o600)),
            };
            let mode = mode.filter(|mode| *mode <= 0o777 && !path.is_empty());
            return Ok(Self::Unix {
                path: path.into(),
                mode: mode.ok_or(ListenAddressError)?,
            });
        }
        let address = text.parse().map_err(|_| ListenAddressError)?;
        Ok(Self::Tcp(address))
    }
}

impl fmt::Display for ListenAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tcp(address) => write!(f, "{address}"),
            #[cfg(unix)]
            Self::Unix { path, .. } => write!(f, "unix:{}", path.display()),
            Self::Inherited(None) => f.write_str("systemd"),
            Self::Inherited(Some(name)) => write!(f, "systemd:{name}"),
        }
    }
}

/// What is no address to listen on.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[error("give an address with a port such as 127.0.0.1:8443, unix:PATH, unix:PATH,MODE or systemd")]
pub struct ListenAddressError;

/// A socket that a server can listen on. Dropping it ends that; the file of a Unix socket that it made is removed.
#[derive(Debug)]
pub struct Listener(pub(super) Kind);

impl Listener {
    /// Listens. An [inherited](ListenAddress::Inherited) address is for one socket or more, any other for one.
    ///
    /// The first inherited one removes LISTEN_FDS and LISTEN_PID from the environment, if they are for this process, so that no child takes
    /// the sockets for its own. On Unix, nothing may use the environment at the same time but by `std::env`: open such
    /// addresses before there are threads of C code that do.
    ///
    /// # Errors
    ///
    /// The errors of the operating system, such as an address that is in use; or that no socket was inherited.
    pub async fn open(address: &ListenAddress) -> io::Result<Vec<Self>> {
        let kind = match address {
            ListenAddress::Tcp(address) => Kind::Tcp(listen(*address)?),
            #[cfg(unix)]
            ListenAddress::Unix { path, mode } => Kind::Unix(UnixSocket::bind(path, *mode).await?),
            ListenAddress::Inherited(name) => {
                let kinds = inherited::take(name.as_deref())?.into_iter();
                return Ok(kinds.map(Self).collect());
            }
        };
        Ok(vec![Self(kind)])
    }

    /// Listens on the first of the addresses that can be listened on.
    pub(crate) async fn bind(addresses: impl ToSocketAddrs) -> io::Result<Self> {
        let mut refused = io::Error::new(
            io::ErrorKind::InvalidInput,
            "there is no address of this name",
        );
        for address in lookup_host(addresses).await? {
            match listen(address) {
                Ok(tcp) => return Ok(tcp.into()),
                Err(error) => refused = error,
            }
        }
        Err(refused)
    }

    /// Logs which inherited sockets nobody has asked for, once all addresses are listened on.
    #[cfg(feature = "command-line")]
    pub(crate) fn warn_of_rest() {
        #[cfg(all(unix, feature = "systemd"))]
        inherited::warn_of_rest();
    }

    /// The address of TCP.
    pub(crate) fn tcp_address(&self) -> Option<SocketAddr> {
        match &self.0 {
            Kind::Tcp(tcp) => tcp.local_addr().ok(),
            #[cfg(unix)]
            Kind::Unix(_) => None,
        }
    }
}

/// Listens, with room for more clients that wait than tokio's 128: as many as connections by default.
fn listen(address: SocketAddr) -> io::Result<TcpListener> {
    const WAITING: u32 = 1024;

    let socket = match address {
        SocketAddr::V4(_) => TcpSocket::new_v4(),
        SocketAddr::V6(_) => TcpSocket::new_v6(),
    }?;
    // As tokio does: elsewhere it would let others take the address.
    if cfg!(unix) {
        socket.set_reuseaddr(true)?;
    }
    socket.bind(address)?;
    socket.listen(WAITING)
}

impl From<TcpListener> for Listener {
    fn from(tcp: TcpListener) -> Self {
        Self(Kind::Tcp(tcp))
    }
}

impl fmt::Display for Listener {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Kind::Tcp(tcp) => match tcp.local_addr() {
                Ok(address) => write!(f, "{address}"),
                Err(error) => write!(f, "{error}"),
            },
            #[cfg(unix)]
            Kind::Unix(unix) => write!(f, "{unix}"),
        }
    }
}
