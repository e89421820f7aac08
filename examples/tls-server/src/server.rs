//! Accepts connections within limits of number and time, performs handshakes, serves HTTP, and shuts down in order.

use std::convert::Infallible;
use std::io;
use std::net::SocketAddr;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use hyper::Request;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use pq_x509::Certificate;
use rustls::CommonState;
use rustls::server::{Acceptor, ServerConnection};
use rustls_pq::{Negotiated, Offer, Refusal, ServerHandshake};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream, ToSocketAddrs};
use tokio::sync::{Semaphore, watch};
use tokio::task::{JoinError, JoinHandle, JoinSet};
use tokio::time::{sleep, timeout};
use tokio_rustls::server::TlsStream;
use tokio_rustls::{LazyConfigAcceptor, StartHandshake};
use tracing::{Instrument, debug, error, info, info_span, warn};

use crate::admission::{Admission, Handshaking, Shares};
use crate::answer::{Page, answer};
use crate::hello::Overheard;
use crate::{Summary, Tls};

/// A server that listens, until it is shut down or dropped.
#[derive(Debug)]
pub struct Server {
    local_addr: SocketAddr,
    stop: watch::Sender<()>,
    accepting: JoinHandle<Drained>,
}

impl Server {
    /// Listens on `address` and starts to serve. Port 0 lets the system choose one.
    ///
    /// # Errors
    ///
    /// The errors of the operating system, such as an address that is in use.
    pub async fn bind(address: impl ToSocketAddrs, tls: Tls, limits: Limits) -> io::Result<Self> {
        let listener = TcpListener::bind(address).await?;
        let local_addr = listener.local_addr()?;
        let (stop, stopped) = watch::channel(());
        Ok(Self {
            local_addr,
            stop,
            accepting: tokio::spawn(accept_until(stopped, listener, tls, limits)),
        })
    }

    /// The address that the server listens on.
    pub fn local_addr(&self) -> SocketAddr {
        self.local_addr
    }

    /// Stops accepting, lets running requests finish for up to [`Limits::grace`], and
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

/// How a shutdown went.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Drained {
    /// Connections that were cut off when the time of grace was over.
    pub cut_off: usize,
}

/// What bounds the time and memory that clients can take.
///
/// Here, an *address* is an IPv4 address, or the first 64 bits of an IPv6 address. If one address floods the
/// server, clients at other addresses are still served, provided that its share is less than all places. This
/// holds if the flood says nothing, never completes a handshake or keeps its connections. Handshakes that are
/// never completed make way for newer ones, however many addresses they come from. Connections past the
/// handshake make way for nobody: if they come from enough addresses, they can take all places until their
/// time is over.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Connections at a time. If all are past the handshake, others wait in the listener's backlog.
    pub connections: usize,
    /// Connections of one address at a time. If all are past the handshake, more are closed at once.
    pub connections_per_address: usize,
    /// Connections in the handshake at a time. One more closes the oldest of the address that has
    /// the most.
    pub handshakes: usize,
    /// Connections of one address in the handshake at a time. One more closes its oldest.
    pub handshakes_per_address: usize,
    /// The time for the TLS handshake.
    pub handshake: Duration,
    /// The time for the head of a request, counted from the end of the request before.
    pub request_head: Duration,
    /// The time for a connection as a whole.
    pub connection: Duration,
    /// The time for requests that run when the server shuts down.
    pub grace: Duration,
    /// How many bytes `GET /bytes/N` sends and `POST /bytes` takes at most, to measure throughput. By
    /// default 0: there are no such paths.
    pub bytes: u64,
}

/// How many bytes of a request are held before its head is complete; hyper takes three times as
/// many by default.
const MAX_REQUEST_HEAD: usize = 128 * 1024;

impl Default for Limits {
    fn default() -> Self {
        Self {
            connections: 1024,
            connections_per_address: 64,
            handshakes: 256,
            handshakes_per_address: 32,
            handshake: Duration::from_secs(10),
            request_head: Duration::from_secs(10),
            connection: Duration::from_secs(300),
            grace: Duration::from_secs(10),
            bytes: 0,
        }
    }
}

/// Accepts until `stopped` changes or its sender is gone.
async fn accept_until(
    mut stopped: watch::Receiver<()>,
    listener: TcpListener,
    tls: Tls,
    limits: Limits,
) -> Drained {
    let shares = Shares {
        connections: limits.connections.clamp(1, Semaphore::MAX_PERMITS),
        connections_per_source: limits.connections_per_address.max(1),
        handshakes: limits.handshakes.max(1),
        handshakes_per_source: limits.handshakes_per_address.max(1),
    };
    let admission = Arc::new(Admission::new(shares));
    // A connection that made way for another one keeps its descriptor until its task is over.
    let slots = Arc::new(Semaphore::new(shares.connections));
    let mut connections = JoinSet::new();
    loop {
        let (tcp, peer) = tokio::select! {
            accepted = accept(&listener) => accepted,
            Some(ended) = connections.join_next() => {
                report_panic(ended);
                continue;
            }
            _ = stopped.changed() => break,
        };
        let admit = async {
            let (handshaking, pushed_out) = admission.admit(peer.ip()).await?;
            let slot = slots.clone().acquire_owned().await;
            Some((
                handshaking,
                pushed_out,
                slot.expect("nobody closes the semaphore"),
            ))
        };
        let admitted = tokio::select! {
            admitted = admit => admitted,
            _ = stopped.changed() => break,
        };
        let Some((handshaking, pushed_out, slot)) = admitted else {
            // The client is told by a reset, after which the system has nothing to remember.
            if let Err(error) = tcp.set_zero_linger() {
                debug!(%error, "the client left first");
            }
            continue;
        };
        let connection = Connection {
            tls: tls.clone(),
            limits,
            stopped: stopped.clone(),
        };
        let serve = async move {
            let served = tokio::select! {
                served = connection.serve(tcp, handshaking) => served,
                () = pushed_out.wait() => Err(ConnectionError::PushedOut),
            };
            match served {
                Ok(()) => debug!("closed"),
                // The reason has been logged already, and not for each connection.
                Err(error @ ConnectionError::PushedOut) => debug!(%error, "closed"),
                Err(error) => info!(%error, "closed"),
            }
            drop(slot);
        };
        connections.spawn(serve.instrument(info_span!("connection", %peer)));
    }

    drop(listener);
    let drained = timeout(limits.grace, async {
        while let Some(ended) = connections.join_next().await {
            report_panic(ended);
        }
    });
    match drained.await {
        Ok(()) => Drained { cut_off: 0 },
        // Dropping the set aborts them.
        Err(_) => Drained {
            cut_off: connections.len(),
        },
    }
}

/// Waits for a client. It never fails: errors of accept(2) concern one client, or pass when
/// others leave and free their descriptors.
async fn accept(listener: &TcpListener) -> (TcpStream, SocketAddr) {
    let mut pause = Duration::from_millis(5);
    loop {
        match listener.accept().await {
            Ok(accepted) => return accepted,
            Err(error) if is_about_one_client(&error) => debug!(%error, "a client left early"),
            Err(error) => {
                warn!(%error, ?pause, "can't accept connections for now");
                sleep(pause).await;
                pause = (pause * 2).min(Duration::from_secs(1));
            }
        }
    }
}

fn is_about_one_client(error: &io::Error) -> bool {
    use io::ErrorKind::{ConnectionAborted, ConnectionReset, Interrupted};
    [ConnectionAborted, ConnectionReset, Interrupted].contains(&error.kind())
}

fn report_panic(ended: Result<(), JoinError>) {
    if let Err(error) = ended {
        error!(%error, "serving a connection failed");
    }
}

/// What it takes to serve one client.
struct Connection {
    tls: Tls,
    limits: Limits,
    stopped: watch::Receiver<()>,
}

impl Connection {
    async fn serve(self, tcp: TcpStream, handshaking: Handshaking) -> Result<(), ConnectionError> {
        // Answers are small: they should not wait for more to send.
        tcp.set_nodelay(true).map_err(ConnectionError::Handshake)?;
        let mut stopped = self.stopped.clone();

        let shaken = tokio::select! {
            shaken = timeout(self.limits.handshake, self.shake_hands(tcp)) => {
                shaken.map_err(|_| ConnectionError::HandshakeTimeout)?
            }
            // No request is running.
            _ = stopped.changed() => return Ok(()),
        };
        let (stream, negotiated) = match shaken {
            Ok(shaken) => shaken,
            // The reason is reported even if the server stops meanwhile.
            Err((error, tcp)) => {
                if let Some(tcp) = tcp {
                    close_gently(tcp).await;
                }
                return Err(error);
            }
        };

        // To the end of the connection.
        let _established = handshaking.complete().ok_or(ConnectionError::PushedOut)?;

        let page = page(stream.get_ref().1, &negotiated);
        info!(%negotiated, client = page.client_certificate, "connected");

        let service = service_fn(async |request: Request<Incoming>| {
            let (head, body) = request.into_parts();
            let response = answer(&head, body, &page, self.limits.bytes).await;
            info!(
                method = %head.method,
                path = head.uri.path(),
                status = response.status().as_u16(),
                "answered"
            );
            Ok::<_, Infallible>(response)
        });
        let mut http = pin!(
            http1::Builder::new()
                .max_buf_size(MAX_REQUEST_HEAD)
                .timer(TokioTimer::new())
                .header_read_timeout(self.limits.request_head)
                .serve_connection(TokioIo::new(stream), service)
        );
        let served = timeout(self.limits.connection, async {
            tokio::select! {
                served = http.as_mut() => served,
                _ = stopped.changed() => {
                    http.as_mut().graceful_shutdown();
                    http.await
                }
            }
        });
        Ok(served.await.map_err(|_| ConnectionError::TooLong)??)
    }

    /// Performs the handshake, and returns its result. If it fails, the alert has been sent, and the
    /// connection has still to be closed.
    async fn shake_hands(
        &self,
        tcp: TcpStream,
    ) -> Result<(TlsStream<TcpStream>, Negotiated), (ConnectionError, Option<TcpStream>)> {
        let tcp = Overheard::new(tcp);
        let mut acceptor = pin!(LazyConfigAcceptor::new(Acceptor::default(), tcp));
        let start = match acceptor.as_mut().await {
            Ok(start) => start,
            Err(error) => {
                let tcp = acceptor.take_io().map(|tcp| tcp.into_parts().0);
                return Err((ConnectionError::Handshake(error), tcp));
            }
        };

        let (tcp, offer) = start.io.into_parts();
        // There is no offer if `OfferReader` has refused what rustls accepts; the fuzz target `server` has
        // found no such case.
        let offer = offer.unwrap_or_else(|| Offer::of(&start.accepted.client_hello()));
        let start = StartHandshake::from_parts(start.accepted, tcp);
        let Tls {
            config,
            alternatives,
            identities,
            ..
        } = &self.tls;
        let mut handshake =
            ServerHandshake::begin_with_alternatives(offer, identities, config, alternatives);
        let mut verified = Ok(());
        let accept = start.into_stream_with(handshake.config(), |connection| {
            handshake.remember(connection);
            verified = self.tls.verify_resumed_client(&mut handshake, connection);
        });
        verified.map_err(|error| (ConnectionError::ResumedClient(error), None))?;
        match accept.into_fallible().await {
            Ok(mut stream) => {
                // With a HelloRetryRequest, the check above did not know yet that a session would be resumed.
                // The client has new tickets by now, but they will be refused in the same way.
                let connection = stream.get_ref().1;
                if let Err(error) = self.tls.verify_resumed_client(&mut handshake, connection) {
                    // Once the handshake is over rustls sends no alert but close_notify.
                    let _ = stream.shutdown().await;
                    let tcp = stream.into_inner().0;
                    return Err((ConnectionError::ResumedClient(error), Some(tcp)));
                }
                let negotiated = handshake.negotiated(stream.get_ref().1);
                Ok((stream, negotiated.expect("the handshake is complete")))
            }
            Err((error, tcp)) => {
                let refusal = handshake.refusal(&error);
                Err((ConnectionError::Refused(refusal), Some(tcp)))
            }
        }
    }
}

fn page(connection: &ServerConnection, negotiated: &Negotiated) -> Page {
    let scheme = negotiated.own.and_then(|own| own.scheme);
    Page {
        summary: Summary::new(negotiated, scheme, connection),
        server_name: connection.server_name().map(str::to_owned),
        client_certificate: client_subject(connection),
    }
}

/// The subject of the certificate that the client proved to own.
fn client_subject(connection: &CommonState) -> Option<String> {
    let leaf = connection.peer_certificates()?.first()?;
    Some(match Certificate::from_der(leaf) {
        Ok(certificate) => certificate.describe_subject(),
        Err(error) => format!("unreadable: {error}"),
    })
}

/// Closes a connection after the alert was sent. Closing at once, with bytes of the
/// client still unread, would reset the connection, and the client might never see the
/// alert.
async fn close_gently(mut tcp: TcpStream) {
    let closed = timeout(Duration::from_secs(1), async {
        tcp.shutdown().await?;
        let mut rest = [0; 1024];
        while tcp.read(&mut rest).await? > 0 {}
        io::Result::Ok(())
    });
    if let Ok(Err(error)) = closed.await {
        debug!(%error, "the client closed first");
    }
}

/// Why a connection ended before its time. None of these concerns other connections.
#[derive(Debug, thiserror::Error)]
enum ConnectionError {
    #[error("the handshake failed: {0}")]
    Handshake(#[source] io::Error),
    #[error("the handshake took too long")]
    HandshakeTimeout,
    #[error("a newer handshake took the place of this one")]
    PushedOut,
    #[error("the handshake failed: {0}")]
    Refused(#[source] Refusal),
    #[error("the certificate of a resumed session is no longer good: {0}")]
    ResumedClient(#[source] rustls::Error),
    #[error("{0}")]
    Http(#[from] hyper::Error),
    #[error("the connection lasted too long")]
    TooLong,
}
