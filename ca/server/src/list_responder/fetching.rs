//! A list at a URL, over plain HTTP (RFC 5280 section 4.2.1.13): within bounds of time and length.

use core::time::Duration;
use std::io;

use http_body_util::{BodyExt, Empty, Limited};
use hyper::body::Bytes;
use hyper::client::conn::http1;
use hyper::header::{ETAG, HOST, HeaderValue, IF_NONE_MATCH, USER_AGENT};
use hyper::{Request, StatusCode, Uri};
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;
use tokio::time::timeout;

/// The most bytes of a list.
pub(super) const MAX_LEN: usize = 64 << 20;
/// How long fetching may take.
const TIME: Duration = Duration::from_secs(60);

/// A list that was fetched.
pub(super) struct Fetched {
    pub(super) body: Bytes,
    pub(super) tag: Option<HeaderValue>,
}

/// Fetches it, unless it is the one with this tag.
pub(super) async fn fetch(url: &Uri, tag: Option<&HeaderValue>) -> io::Result<Option<Fetched>> {
    let fetching = timeout(TIME, fetch_in_time(url, tag)).await;
    fetching.map_err(|_| io::Error::new(io::ErrorKind::TimedOut, "it takes too long"))?
}

async fn fetch_in_time(url: &Uri, tag: Option<&HeaderValue>) -> io::Result<Option<Fetched>> {
    let host = url.host().unwrap_or_default();
    let address = host.trim_start_matches('[').trim_end_matches(']');
    let tcp = TcpStream::connect((address, url.port_u16().unwrap_or(80))).await?;
    let (mut sender, connection) = http1::handshake(TokioIo::new(tcp))
        .await
        .map_err(io::Error::other)?;
    let driving = tokio::spawn(connection);
    let path = url.path_and_query().map_or("/", |path| path.as_str());
    let authority = url.authority().map_or("", |authority| authority.as_str());
    let mut request = Request::get(path).header(HOST, authority).header(
        USER_AGENT,
        concat!("pq-ca-server/", env!("CARGO_PKG_VERSION")),
    );
    if let Some(tag) = tag {
        request = request.header(IF_NONE_MATCH, tag);
    }
    let request = request.body(Empty::<Bytes>::new());
    let answer = sender
        .send_request(request.map_err(io::Error::other)?)
        .await
        .map_err(io::Error::other)?;
    let fetched = match answer.status() {
        StatusCode::OK => {
            let tag = answer.headers().get(ETAG).cloned();
            let body = Limited::new(answer.into_body(), MAX_LEN).collect().await;
            let body = body.map_err(io::Error::other)?.to_bytes();
            Ok(Some(Fetched { body, tag }))
        }
        StatusCode::NOT_MODIFIED if tag.is_some() => Ok(None),
        status => Err(io::Error::other(format!("the server answers {status}"))),
    };
    driving.abort();
    fetched
}
