//! The kinds of sockets that can be listened on.

use tokio::net::TcpListener;

#[cfg(unix)]
use super::unix::UnixSocket;

#[derive(Debug)]
pub(super) enum Kind {
    Tcp(TcpListener),
    #[cfg(unix)]
    Unix(UnixSocket),
}
