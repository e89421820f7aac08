//! Serves one client: the handshake, then HTTP, within limits of time.

use std::convert::Infallible;
use std::io;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use hyper::Request;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::watch;
use tokio::time::timeout;
use tracing::{debug, info};

use super::error::ConnectionError;
use super::handshake::shake_hands;
use crate::admission::{Handshaking, Limits};
use crate::configuration::Tls;
use crate::http::{AnyHandler, Protection};

/// What it takes to serve one client.
#[derive(Clone)]
pub(crate) struct Connection {
    pub(crate) tls: Tls,
    pub(crate) limits: Limits,
    pub(crate) handler: Arc<dyn AnyHandler>,
    pub(crate) stopped: watch::Receiver<()>,
}

impl Connection {
    pub(crate) async fn serve(
        self,
        tcp: TcpStream,
        handshaking: Handshaking,
    ) -> Result<(), ConnectionError> {
        // Answers are small: they should not wait for more to send.
        tcp.set_nodelay(true).map_err(ConnectionError::Handshake)?;
        let mut stopped = self.stopped.clone();

        let shaken = tokio::select! {
            shaken = timeout(self.limits.handshake, shake_hands(&self.tls, tcp)) => {
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

        let protection = Arc::new(Protection::of(stream.get_ref().1, negotiated));
        info!(%negotiated, client = protection.client_certificate, "connected");

        let service = service_fn(async |request: Request<Incoming>| {
            let (method, uri) = (request.method().clone(), request.uri().clone());
            let handler = self.handler.clone();
            let response = handler.answer_any(request, protection.clone()).await;
            info!(
                %method,
                path = uri.path(),
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
}

/// How many bytes of a request are held before its head is complete; hyper takes three times as
/// many by default.
const MAX_REQUEST_HEAD: usize = 128 * 1024;

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
