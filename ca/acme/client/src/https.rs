//! Requests over TLS, one after the other, within bounds.

use alloc::sync::Arc;
use core::fmt;
use core::time::Duration;
use std::io;

use http_body_util::{BodyExt, Full, Limited};
use hyper::body::{Bytes, Incoming};
use hyper::client::conn::http1::{self, SendRequest};
use hyper::header::{
    ACCEPT, CONTENT_TYPE, HOST, HeaderMap, HeaderValue, LOCATION, RETRY_AFTER, USER_AGENT,
};
use hyper_util::rt::TokioIo;
use pq_acme::client::{Answer, Method, Request};
use pq_acme::jws;
use pq_serving::client::Target;
use rustls::ClientConfig;
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_rustls::TlsConnector;

/// How long a request may take, with the connection.
const LIMIT: Duration = Duration::from_secs(30);

/// How long one address of a server may take to accept a connection.
const CONNECTING: Duration = Duration::from_secs(7);

/// The most bytes of an answer: chains of SLH-DSA have some hundreds of kilobytes.
const MAX_BODY: usize = 1 << 20;

/// The most bytes of an answer's head.
const MAX_HEAD: usize = 64 << 10;

/// Sends requests. A connection is kept for the next one.
pub struct Https {
    connector: TlsConnector,
    agent: HeaderValue,
    kept: Option<(String, SendRequest<Full<Bytes>>)>,
}

/// Why there is no answer.
#[derive(Debug, thiserror::Error)]
#[error("{what}")]
pub struct NoAnswer {
    what: String,
    is_final: bool,
    is_untrusted: bool,
}

impl NoAnswer {
    fn passing(what: impl fmt::Display) -> Self {
        Self {
            what: what.to_string(),
            is_final: false,
            is_untrusted: false,
        }
    }

    fn lasting(what: impl fmt::Display) -> Self {
        Self {
            is_final: true,
            ..Self::passing(what)
        }
    }

    /// Trying again is of no use.
    pub fn is_final(&self) -> bool {
        self.is_final
    }

    /// None of the roots vouches for the server's certificate.
    pub fn is_untrusted(&self) -> bool {
        self.is_untrusted
    }
}

impl fmt::Debug for Https {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Https").finish_non_exhaustive()
    }
}

impl Https {
    /// Connects as this configuration says, but for the protocol, which is HTTP/1.1. `agent` is what the program calls itself,
    /// such as `server/1.2` (RFC 8555, section 6.1).
    pub fn new(mut config: ClientConfig, agent: &'static str) -> Self {
        config.alpn_protocols = vec![b"http/1.1".into()];
        Self {
            connector: TlsConnector::from(Arc::new(config)),
            agent: HeaderValue::from_static(agent),
            kept: None,
        }
    }

    /// Sends a request, and waits for its answer for 30 seconds.
    ///
    /// # Errors
    ///
    /// [`NoAnswer`] says why there is none.
    pub async fn send(&mut self, request: &Request) -> Result<Answer, NoAnswer> {
        let target: Target = request.url.parse().map_err(|error| {
            NoAnswer::lasting(format_args!(
                "the URL {:?} is of no use: {error}",
                request.url
            ))
        })?;
        let answer = timeout(LIMIT, self.exchange(&target, request)).await;
        answer.unwrap_or_else(|_| {
            let seconds = LIMIT.as_secs();
            Err(NoAnswer::passing(format_args!(
                "no answer within {seconds} s"
            )))
        })
    }

    async fn exchange(&mut self, target: &Target, request: &Request) -> Result<Answer, NoAnswer> {
        let authority = target.authority();
        let kept = self.kept.take().filter(|(of, _)| *of == authority);
        let mut kept = kept.map(|(_, sender)| sender);
        // A server closes connections that nobody uses. What it hasn't got can be sent once more.
        if let Some(sender) = &mut kept
            && sender.ready().await.is_err()
        {
            kept = None;
        }
        let mut sender = match kept {
            Some(sender) => sender,
            None => self.connect(target).await?,
        };
        let (method, accept) = match request.method {
            Method::Get => ("GET", request.accept),
            Method::Head => ("HEAD", request.accept),
            Method::Post => ("POST", request.accept),
        };
        let mut sent = hyper::Request::builder()
            .method(method)
            .uri(&target.path)
            .header(HOST, &authority)
            .header(USER_AGENT, &self.agent)
            .header(ACCEPT, accept);
        if request.body.is_some() {
            sent = sent.header(CONTENT_TYPE, jws::CONTENT_TYPE);
        }
        let body = request.body.clone().unwrap_or_default();
        let sent = sent.body(Full::from(body)).map_err(NoAnswer::lasting)?;
        let (head, body) = sender
            .send_request(sent)
            .await
            .map_err(|error| NoAnswer::passing(said(&error)))?
            .into_parts();
        let body = read(body).await?;
        self.kept = Some((authority, sender));
        let header = |name: &str| text(&head.headers, name);
        Ok(Answer {
            status: head.status.as_u16(),
            replay_nonce: header("replay-nonce"),
            location: header(LOCATION.as_str()),
            retry_after: header(RETRY_AFTER.as_str()),
            body,
        })
    }

    async fn connect(&self, target: &Target) -> Result<SendRequest<Full<Bytes>>, NoAnswer> {
        let host = target.server_name.to_str().into_owned();
        let addresses = tokio::net::lookup_host((host.as_str(), target.port)).await;
        let addresses = addresses.map_err(NoAnswer::passing)?;
        let mut tcp = Err(NoAnswer::passing(format_args!("{host} has no address")));
        for address in addresses {
            // One that is dead leaves time for the next one.
            match timeout(CONNECTING, TcpStream::connect(address)).await {
                Ok(Ok(connected)) => {
                    tcp = Ok(connected);
                    break;
                }
                Ok(Err(error)) => tcp = Err(NoAnswer::passing(format_args!("{address}: {error}"))),
                Err(_) => tcp = Err(NoAnswer::passing(format_args!("{address} does not answer"))),
            }
        }
        let tcp = tcp?;
        // It only makes requests faster.
        let _ = tcp.set_nodelay(true);
        let tls = self.connector.connect(target.server_name.clone(), tcp);
        let tls = tls.await.map_err(of_handshake)?;
        let (sender, connection) = http1::Builder::new()
            .max_buf_size(MAX_HEAD)
            .handshake(TokioIo::new(tls))
            .await
            .map_err(|error| NoAnswer::passing(said(&error)))?;
        // What goes wrong there is the answer's error, too.
        tokio::spawn(async { drop(connection.await) });
        Ok(sender)
    }
}

/// A certificate that is not trusted is none a minute later, either.
fn of_handshake(error: io::Error) -> NoAnswer {
    let inner = error.get_ref().and_then(|error| error.downcast_ref());
    match inner {
        Some(rustls::Error::InvalidCertificate(why)) => NoAnswer {
            is_untrusted: true,
            ..NoAnswer::lasting(format_args!(
                "the server's certificate is not trusted ({why})"
            ))
        },
        Some(other) => NoAnswer::lasting(other),
        None => NoAnswer::passing(error),
    }
}

async fn read(body: Incoming) -> Result<Vec<u8>, NoAnswer> {
    let body = Limited::new(body, MAX_BODY).collect().await;
    body.map(|body| body.to_bytes().into())
        .map_err(NoAnswer::passing)
}

/// The first value of a header.
fn text(headers: &HeaderMap, name: &str) -> Option<String> {
    let value = headers.get(name)?.to_str().ok()?;
    Some(value.to_owned())
}

/// hyper's errors have their causes in `source()`.
fn said(error: &hyper::Error) -> String {
    match core::error::Error::source(error) {
        Some(cause) => format!("{error}: {cause}"),
        None => error.to_string(),
    }
}
