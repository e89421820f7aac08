//! What a server is made of, before it listens.

use std::fmt;
use std::io;
use std::sync::Arc;

use tokio::net::ToSocketAddrs;
use tokio::sync::watch;

use super::descriptors::check_descriptors;
use super::server::Server;
use crate::admission::{Limits, RequestPlaces};
use crate::configuration::Tls;
use crate::connection::{Connection, ConnectionLog};
use crate::events::Observers;
use crate::http::{AnyHandler, Handler, Page};
#[cfg(feature = "metrics")]
use crate::metrics::Metrics;
use crate::sockets::Listener;

/// What a server is made of, before it listens: [`Server::builder`] begins one.
pub struct ServerBuilder {
    tls: Option<Tls>,
    limits: Limits,
    handler: Option<Arc<dyn AnyHandler>>,
    observers: Observers,
}

impl Server {
    /// Begins a server with a handler or limits of one's own.
    pub fn builder(tls: Tls) -> ServerBuilder {
        ServerBuilder::new(Some(tls))
    }

    /// Begins a server of plain HTTP/1.1, for what needs no protection: revocation lists and OCSP responses, which are signed,
    /// and which clients fetch before they trust anybody. Anybody between it and its clients reads and changes all else, so
    /// its [handler](ServerBuilder::handler) should have nothing more. [`Protection::negotiated`](crate::Protection::negotiated)
    /// tells the two apart.
    pub fn plain() -> ServerBuilder {
        ServerBuilder::new(None)
    }

    /// Listens on `address` and starts to serve [`Page`]. Port 0 lets the system choose one.
    ///
    /// # Errors
    ///
    /// The errors of the operating system, such as an address that is in use.
    pub async fn bind(address: impl ToSocketAddrs, tls: Tls, limits: Limits) -> io::Result<Self> {
        Self::builder(tls).limits(limits).bind(address).await
    }
}

impl ServerBuilder {
    fn new(tls: Option<Tls>) -> Self {
        Self {
            tls,
            limits: Limits::default(),
            handler: None,
            observers: Observers::default(),
        }
    }

    /// What bounds the time and memory that clients can take; by default [`Limits::default`].
    pub fn limits(self, limits: Limits) -> Self {
        Self { limits, ..self }
    }

    /// What answers requests; by default a [`Page`] with [`Limits::bytes`].
    pub fn handler(self, handler: impl Handler) -> Self {
        Self {
            handler: Some(Arc::new(handler)),
            ..self
        }
    }

    /// Counts what happens to the server's connections, and says whether it is ready.
    #[cfg(feature = "metrics")]
    pub fn metrics(self, metrics: &Metrics) -> Self {
        Self {
            observers: metrics.observers(),
            ..self
        }
    }

    /// Listens on `address` and starts to serve. Port 0 lets the system choose one.
    ///
    /// # Errors
    ///
    /// The errors of the operating system, such as an address that is in use.
    pub async fn bind(self, address: impl ToSocketAddrs) -> io::Result<Server> {
        self.listen(vec![Listener::bind(address).await?])
    }

    /// Serves on these sockets, which [`Listener::open`] has opened. Limits are for all of them together.
    ///
    /// Clients of a Unix socket have no address, so no share of the places is for each of them: who may connect is up to
    /// the socket's permissions.
    ///
    /// # Errors
    ///
    /// [`InvalidInput`](io::ErrorKind::InvalidInput) if there are none.
    pub fn listen(self, listeners: Vec<Listener>) -> io::Result<Server> {
        if listeners.is_empty() {
            return Err(io::Error::new(
                io::ErrorKind::InvalidInput,
                "a server needs a socket to listen on",
            ));
        }
        check_descriptors(&self.limits);
        let (stop, stopped) = watch::channel(());
        let connection = Connection {
            tls: self.tls,
            limits: self.limits,
            requests: Arc::new(RequestPlaces::new(
                self.limits.requests,
                self.limits.requests_per_address,
            )),
            handler: self.handler.unwrap_or_else(|| {
                Arc::new(Page {
                    bytes: self.limits.bytes,
                })
            }),
            observers: self.observers,
            log: ConnectionLog::default(),
            stopped,
        };
        Ok(Server::start(listeners, stop, connection))
    }
}

impl fmt::Debug for ServerBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Handlers are functions.
        f.debug_struct("ServerBuilder")
            .field("tls", &self.tls)
            .field("limits", &self.limits)
            .finish_non_exhaustive()
    }
}
