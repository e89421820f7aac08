//! A server that listens: started, and shut down.

use std::io;
use std::net::SocketAddr;
#[cfg(feature = "signals")]
use std::time::Duration;

use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tracing::error;

use super::accept::accept_until;
use crate::connection::Connection;
use crate::drain::Drained;

/// A server that listens, until it is shut down or dropped.
#[derive(Debug)]
pub struct Server {
    local_addr: SocketAddr,
    #[cfg(feature = "signals")]
    grace: Duration,
    stop: watch::Sender<()>,
    accepting: JoinHandle<Drained>,
}

impl Server {
    pub(super) fn start(
        listener: TcpListener,
        stop: watch::Sender<()>,
        connection: Connection,
    ) -> io::Result<Self> {
        Ok(Self {
            local_addr: listener.local_addr()?,
            #[cfg(feature = "signals")]
            grace: connection.limits.grace,
            stop,
            accepting: tokio::spawn(accept_until(
                connection.stopped.clone(),
                listener,
                connection,
            )),
        })
    }

    /// The address that the server listens on.
    pub fn local_addr(&self) -> SocketAddr {
        self.local_addr
    }

    /// The time that running requests have at the end.
    #[cfg(feature = "signals")]
    pub(super) fn grace(&self) -> Duration {
        self.grace
    }

    /// Stops accepting, lets running requests finish for up to [`Limits::grace`](crate::Limits::grace), and
    /// then closes what is left.
    pub async fn shutdown(self) -> Drained {
        let Self {
            stop, accepting, ..
        } = self;
        drop(stop);
        accepting.await.unwrap_or_else(|error| {
            error!(%error, "the accept loop failed");
            Drained { cut_off: 0 }
        })
    }
}
