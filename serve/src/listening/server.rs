//! A server that listens: started, and shut down.

use std::net::{Ipv4Addr, SocketAddr};
#[cfg(feature = "signals")]
use std::time::Duration;

use tokio::sync::watch;
use tokio::task::JoinHandle;
use tracing::{error, info};

use super::accept::accept_until;
use crate::connection::Connection;
use crate::drain::Drained;
use crate::events::Event;
use crate::sockets::Listener;

/// A server that listens, until it is shut down or dropped.
#[derive(Debug)]
pub struct Server {
    local_addr: Option<SocketAddr>,
    listens_on: Vec<String>,
    #[cfg(feature = "signals")]
    grace: Duration,
    stop: watch::Sender<()>,
    accepting: JoinHandle<Drained>,
}

impl Server {
    pub(super) fn start(
        listeners: Vec<Listener>,
        stop: watch::Sender<()>,
        connection: Connection,
    ) -> Self {
        let listens_on: Vec<_> = listeners.iter().map(Listener::to_string).collect();
        info!(on = listens_on.join(", "), "listening");
        // Before anyone can ask. It goes with the future, however that ends.
        let serving = connection.observers.span(Event::Serving, Event::Ending);
        Self {
            local_addr: listeners.iter().find_map(Listener::tcp_address),
            listens_on,
            #[cfg(feature = "signals")]
            grace: connection.limits.grace,
            stop,
            accepting: tokio::spawn(accept_until(
                connection.stopped.clone(),
                listeners.into(),
                connection,
                serving,
            )),
        }
    }

    /// The address that the server listens on: of several, the first one with TCP. A server with Unix sockets alone has no
    /// address, and port 0.
    pub fn local_addr(&self) -> SocketAddr {
        self.local_addr
            .unwrap_or_else(|| (Ipv4Addr::UNSPECIFIED, 0).into())
    }

    /// All that the server listens on, in words: `127.0.0.1:8443`, `unix:/run/socket`.
    pub fn listens_on(&self) -> &[String] {
        &self.listens_on
    }

    /// The time that running requests have at the end.
    #[cfg(feature = "signals")]
    pub(super) fn grace(&self) -> Duration {
        self.grace
    }

    /// Says that it ends, accepts connections for [`Limits::lame_duck`](crate::Limits::lame_duck) nevertheless, then no more,
    /// lets running requests finish for up to [`Limits::grace`](crate::Limits::grace), and
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
