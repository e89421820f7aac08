//! Handlers that get whole requests, and may block.

use std::sync::Arc;

use http_body_util::{BodyExt, Full};
use hyper::body::{Body, Bytes, Incoming};
use hyper::{Request, Response, StatusCode};
use tokio::sync::Semaphore;
use tokio::task::spawn_blocking;

use super::handler::Handler;
use super::protection::Protection;
use super::unread::close_if_unread;

/// Answers each request once its body is in memory, by a function that may block: it runs on a thread for that, so that no
/// other connection waits for it.
///
/// So many run at once as [`new`](Self::new) is told; others wait, and [`Limits::connection`](crate::Limits::connection) ends
/// their wait. With all connections, as many bodies are in memory as there are connections.
///
/// ```
/// use hyper::body::Bytes;
/// use hyper::{Request, Response, StatusCode};
/// use pq_serving::{Protection, WholeRequests};
///
/// let handler = WholeRequests::new(1 << 20, 16, |request: Request<Option<Bytes>>, _: &Protection| {
///     let mut response = Response::new(Bytes::new());
///     match request.body() {
///         Some(body) => *response.body_mut() = format!("{} bytes\n", body.len()).into(),
///         None => *response.status_mut() = StatusCode::PAYLOAD_TOO_LARGE,
///     }
///     response
/// });
/// # fn is_handler(_: impl pq_serving::Handler) {}
/// # is_handler(handler);
/// ```
#[derive(Debug)]
pub struct WholeRequests<F> {
    answer: Arc<F>,
    max_body_len: usize,
    places: Arc<Semaphore>,
}

impl<F> WholeRequests<F>
where
    F: Fn(Request<Option<Bytes>>, &Protection) -> Response<Bytes> + Send + Sync + 'static,
{
    /// Has `answer` get requests with bodies of at most this many bytes, and without those that are longer; at most
    /// `at_once` run at once.
    pub fn new(max_body_len: usize, at_once: usize, answer: F) -> Self {
        Self {
            answer: answer.into(),
            max_body_len,
            places: Semaphore::new(at_once.min(Semaphore::MAX_PERMITS)).into(),
        }
    }
}

impl<F> Handler for WholeRequests<F>
where
    F: Fn(Request<Option<Bytes>>, &Protection) -> Response<Bytes> + Send + Sync + 'static,
{
    type Body = Full<Bytes>;

    async fn answer(
        &self,
        request: Request<Incoming>,
        protection: Arc<Protection>,
    ) -> Response<Full<Bytes>> {
        let (head, mut body) = request.into_parts();
        let version = head.version;
        let whole = match read(&mut body, self.max_body_len).await {
            Ok(whole) => whole,
            Err(Broken) => return status(StatusCode::BAD_REQUEST),
        };
        let Ok(place) = self.places.clone().acquire_owned().await else {
            // It is never closed.
            return status(StatusCode::SERVICE_UNAVAILABLE);
        };
        let answer = self.answer.clone();
        let answering = spawn_blocking(move || {
            // It is free again when the thread is, also if nobody waits for the answer any more.
            let _place = place;
            answer(Request::from_parts(head, whole), &protection)
        });
        let mut response = match answering.await {
            Ok(response) => response.map(Full::new),
            Err(error) => {
                tracing::error!(%error, "a request has no answer");
                status(StatusCode::INTERNAL_SERVER_ERROR)
            }
        };
        close_if_unread(&mut response, version, &body);
        response
    }
}

fn status(status: StatusCode) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::<Bytes>::default());
    *response.status_mut() = status;
    response
}

/// The body ended too early.
struct Broken;

/// Reads a body to its end, or `None` if it has more bytes than this.
async fn read(body: &mut Incoming, max_len: usize) -> Result<Option<Bytes>, Broken> {
    // What is announced decides before anything is read.
    let is_long = |len: u64| usize::try_from(len).map_or(true, |len| len > max_len);
    if is_long(body.size_hint().lower()) {
        return Ok(None);
    }
    let mut whole = Vec::new();
    while let Some(frame) = body.frame().await {
        let Ok(data) = frame.map_err(|_| Broken)?.into_data() else {
            continue;
        };
        if data.len() > max_len - whole.len() {
            return Ok(None);
        }
        whole.extend_from_slice(&data);
    }
    Ok(Some(whole.into()))
}
