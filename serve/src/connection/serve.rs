//! Serves one client: the handshake, then HTTP, within limits of time.

use std::future;
use std::io;
use std::net::SocketAddr;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use hyper_util::server::graceful::GracefulConnection;
use rustls_pq::Negotiated;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::sync::watch;
use tokio::time::{sleep, timeout};
use tracing::{debug, info, warn};

use super::deadlines::Deadlines;
use super::error::ConnectionError;
use super::handshake::shake_hands;
use super::requests::{Idle, Requests};
#[cfg(feature = "http2")]
use super::streams::Streams;
use super::versions::http1;
#[cfg(feature = "http2")]
use super::versions::http2;
use crate::admission::{Handshaking, Limits, RequestPlaces};
use crate::configuration::Tls;
use crate::events::{Event, Observers};
use crate::http::{AnyHandler, Protection};
use crate::lines::{LineLimit, reason, start};
use crate::sockets::Socket;

/// What it takes to serve one client.
#[derive(Clone)]
pub(crate) struct Connection {
    /// None for a server of plain HTTP.
    pub(crate) tls: Option<Tls>,
    pub(crate) limits: Limits,
    pub(crate) requests: Arc<RequestPlaces>,
    pub(crate) handler: Arc<dyn AnyHandler>,
    pub(crate) observers: Observers,
    pub(crate) log: ConnectionLog,
    pub(crate) stopped: watch::Receiver<()>,
}

/// The lines about each connection, of which there are too many under a flood.
#[derive(Clone, Debug, Default)]
pub(crate) struct ConnectionLog {
    connected: Arc<LineLimit>,
    closed: Arc<LineLimit>,
    /// Those whose handshakes the server couldn't sign, so that no flood of others hides them.
    not_signed: Arc<LineLimit>,
}

impl ConnectionLog {
    fn connected(&self, negotiated: &Negotiated, client: Option<&str>) {
        if let Some(left_out) = self.connected.next_line() {
            let left_out = (left_out > 0).then_some(left_out);
            info!(%negotiated, client = client.map(start), left_out, "connected");
        }
    }

    /// A connection has ended before its time.
    pub(crate) fn closed(&self, error: &ConnectionError) {
        if error.is_of_signer() {
            if let Some(left_out) = self.not_signed.next_line() {
                let left_out = (left_out > 0).then_some(left_out);
                warn!(
                    error = reason(error),
                    left_out, "closed, as the server could not sign"
                );
            }
            return;
        }
        if let Some(left_out) = self.closed.next_line() {
            let left_out = (left_out > 0).then_some(left_out);
            info!(error = reason(error), left_out, "closed");
        }
    }
}

impl Connection {
    pub(crate) async fn serve(
        self,
        socket: Socket,
        peer: Option<SocketAddr>,
        handshaking: Handshaking,
    ) -> Result<(), ConnectionError> {
        socket.send_at_once().map_err(ConnectionError::Handshake)?;
        let Some(tls) = &self.tls else {
            return self.serve_plain(socket, peer, handshaking).await;
        };
        let mut stopped = self.stopped.clone();

        let shaken = tokio::select! {
            shaken = timeout(self.limits.handshake, shake_hands(tls, socket)) => {
                shaken.map_err(|_| ConnectionError::HandshakeTimeout)?
            }
            // No request is running.
            _ = stopped.changed() => return Ok(()),
        };
        let (stream, negotiated) = match shaken {
            Ok(shaken) => shaken,
            // The reason is reported even if the server stops meanwhile.
            Err((error, socket)) => {
                if let Some(socket) = socket {
                    close_gently(socket).await;
                }
                return Err(error);
            }
        };

        // To the end of the connection.
        let _established = handshaking.complete().ok_or(ConnectionError::PushedOut)?;

        let protection = Arc::new(Protection::of(stream.get_ref().1, negotiated, peer));
        self.observers.tell(Event::Handshake(&negotiated));
        self.log
            .connected(&negotiated, protection.client_certificate.as_deref());

        let requests = Requests::new(
            self.handler.clone(),
            self.requests.clone(),
            protection,
            self.observers.clone(),
        );
        let (idle, deadlines) = (requests.idle(), requests.deadlines());
        #[cfg(feature = "http2")]
        if stream.get_ref().1.alpn_protocol() == Some(HTTP2) {
            let service = service_fn(move |request| requests.clone().answer(request));
            let streams = Streams::default();
            let http = http2(streams.spawner()).serve_connection(TokioIo::new(stream), service);
            // Besides its requests, a client may send anything, or nothing.
            let head = Some(self.limits.request_head);
            return self.serve_until_stopped(http, idle, deadlines, head).await;
        }
        let service = service_fn(move |request| requests.clone().answer(request));
        let http = http1(&self.limits).serve_connection(TokioIo::new(stream), service);
        self.serve_until_stopped(http, idle, deadlines, None).await
    }

    /// Serves plain HTTP, of which only version 1 can do without ALPN.
    async fn serve_plain(
        self,
        socket: Socket,
        peer: Option<SocketAddr>,
        handshaking: Handshaking,
    ) -> Result<(), ConnectionError> {
        let _established = handshaking.complete().ok_or(ConnectionError::PushedOut)?;
        debug!("connected without TLS");
        let requests = Requests::new(
            self.handler.clone(),
            self.requests.clone(),
            Arc::new(Protection::none(peer)),
            self.observers.clone(),
        );
        let (idle, deadlines) = (requests.idle(), requests.deadlines());
        let service = service_fn(move |request| requests.clone().answer(request));
        let http = http1(&self.limits).serve_connection(TokioIo::new(socket), service);
        self.serve_until_stopped(http, idle, deadlines, None).await
    }

    /// Serves requests until the client, a limit or the end of the server ends the connection. `head` is the time
    /// for the head of a request, if it is measured here: hyper does so for HTTP/1.1 only.
    async fn serve_until_stopped<H>(
        self,
        http: H,
        mut idle: Idle,
        deadlines: Deadlines,
        head: Option<Duration>,
    ) -> Result<(), ConnectionError>
    where
        H: GracefulConnection<Error = hyper::Error>,
    {
        let mut http = pin!(http);
        let mut stopped = self.stopped;
        let served = timeout(self.limits.connection, async {
            tokio::select! {
                served = http.as_mut() => return served,
                _ = stopped.changed() => {}
                () = idle_for(&mut idle, head) => {}
                // Whoever is told early begins the next request elsewhere, and it isn't cut off.
                () = sleep(self.limits.connection / 10 * 9) => {}
            }
            http.as_mut().graceful_shutdown();
            tokio::select! {
                served = http => served,
                // A client that doesn't answer, or has begun a head, is not waited for if no request is running.
                () = idle.since(FAREWELL) => Ok(()),
            }
        });
        tokio::select! {
            served = served => Ok(served.map_err(|_| ConnectionError::TooLong)??),
            () = deadlines.passed() => Err(ConnectionError::NotTaken),
        }
    }
}

/// The name of HTTP/2 in ALPN.
#[cfg(feature = "http2")]
const HTTP2: &[u8] = b"h2";

/// The time for a client to take the last bytes, and to acknowledge the end of its connection with HTTP/2.
const FAREWELL: Duration = Duration::from_secs(3);

async fn idle_for(idle: &mut Idle, time: Option<Duration>) {
    match time {
        Some(time) => idle.since(time).await,
        None => future::pending().await,
    }
}

/// Closes a connection after the alert was sent. Closing at once, with bytes of the
/// client still unread, would reset the connection, and the client might never see the
/// alert.
async fn close_gently(mut socket: Socket) {
    let closed = timeout(Duration::from_secs(1), async {
        socket.shutdown().await?;
        let mut rest = [0; 1024];
        while socket.read(&mut rest).await? > 0 {}
        io::Result::Ok(())
    });
    if let Ok(Err(error)) = closed.await {
        debug!(%error, "the client closed first");
    }
}
