//! Handlers that get whole requests, and may block.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use http_body_util::{BodyExt, Full};
use hyper::body::{Body, Bytes, Incoming};
use hyper::http::request::Parts;
use hyper::{Request, Response, StatusCode};
use tokio::task::spawn_blocking;
use tokio::time::timeout;

use super::handler::Handler;
use super::protection::Protection;
use super::shares::Shares;
use super::unread::close_if_unread;

/// How many bytes of bodies there are at a time, if nothing else is said.
const BODIES_LEN: usize = 64 * 1024 * 1024;

/// How long a request waits until its body may be read.
const WAIT: Duration = Duration::from_secs(10);

/// How long its body may take to arrive, since its room is held for so long.
const ARRIVAL: Duration = Duration::from_secs(60);

/// Answers each request once its body is in memory, by a function that may block: it runs on a thread for that, so that no
/// other connection waits for it.
///
/// So many run at once as [`new`](Self::new) is told; others wait, and [`Limits::connection`](crate::Limits::connection) ends
/// their wait. All bodies that are read or worked on have at most 64 MiB together, or what [`bodies_len`](Self::bodies_len)
/// says, but at least twice the most of one body: a request whose body has no room waits 10 seconds for it, and is answered
/// with 503 then, and one whose body takes longer than a minute to arrive with 408. Before that, the server holds of bodies
/// what [`Limits`](crate::Limits) says.
///
/// With [`only_for`](Self::only_for), who sends a request is known before its body is read. Each of them has at most half of
/// the places and half of the bytes.
///
/// ```
/// use hyper::body::Bytes;
/// use hyper::{Request, Response, StatusCode};
/// use pq_serving::{Client, Protection, WholeRequests};
///
/// let answer = |request: Request<Option<Bytes>>, _: &Protection, _: &Client| {
///     let mut response = Response::new(Bytes::new());
///     match request.body() {
///         Some(body) => *response.body_mut() = format!("{} bytes\n", body.len()).into(),
///         None => *response.status_mut() = StatusCode::PAYLOAD_TOO_LARGE,
///     }
///     response
/// };
/// let handler = WholeRequests::new(1 << 20, 16, answer);
/// # fn is_handler(_: impl pq_serving::Handler) {}
/// # is_handler(handler);
/// ```
pub struct WholeRequests<F> {
    answer: Arc<F>,
    max_body_len: usize,
    who: Option<Box<Who>>,
    places: Shares,
    bytes: Shares,
}

type Who = dyn Fn(&Parts, &Protection) -> Result<String, Box<Response<Bytes>>> + Send + Sync;

impl<F> fmt::Debug for WholeRequests<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WholeRequests")
            .field("max_body_len", &self.max_body_len)
            .finish_non_exhaustive()
    }
}

/// The client of a request that is being answered.
#[derive(Debug)]
pub struct Client(Arc<AtomicBool>);

impl Client {
    /// Whether it is gone, so that nobody waits for the answer. Long work asks this now and then.
    pub fn is_gone(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// Says that the client is gone when it is dropped.
struct Leaving(Arc<AtomicBool>);

impl Drop for Leaving {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

impl<F> WholeRequests<F>
where
    F: Fn(Request<Option<Bytes>>, &Protection, &Client) -> Response<Bytes> + Send + Sync + 'static,
{
    /// Has `answer` get requests with bodies of at most this many bytes, and without those that are longer; at most
    /// `at_once` run at once.
    pub fn new(max_body_len: usize, at_once: usize, answer: F) -> Self {
        Self {
            answer: answer.into(),
            max_body_len,
            who: None,
            places: Shares::new(at_once, 1),
            bytes: Shares::new(BODIES_LEN, max_body_len),
        }
    }

    /// How many bytes all bodies may have together that are read or worked on at a time. It is at least as long as one body.
    pub fn bodies_len(self, len: usize) -> Self {
        Self {
            bytes: Shares::new(len, self.max_body_len),
            ..self
        }
    }

    /// Asks of each request's head who sends it. If `who` gives a response, the request is answered by it, and its body isn't
    /// read. It must not block.
    pub fn only_for(
        self,
        who: impl Fn(&Parts, &Protection) -> Result<String, Box<Response<Bytes>>>
        + Send
        + Sync
        + 'static,
    ) -> Self {
        Self {
            who: Some(Box::new(who)),
            ..self
        }
    }

    async fn reply(
        &self,
        head: Parts,
        body: &mut Incoming,
        protection: Arc<Protection>,
    ) -> Response<Bytes> {
        let client = match self.who.as_ref().map(|who| who(&head, &protection)) {
            Some(Err(response)) => return *response,
            Some(Ok(client)) => Some(client),
            None => None,
        };
        let client = client.as_deref();
        let room = match self.room(body) {
            // There is none, or it is too long and not read.
            None | Some(0) => None,
            Some(room) => match timeout(WAIT, self.bytes.take(client, room)).await {
                Ok(Some(room)) => Some(room),
                _ => return status(StatusCode::SERVICE_UNAVAILABLE),
            },
        };
        let whole = match timeout(ARRIVAL, read(body, self.max_body_len)).await {
            Ok(Ok(whole)) => whole,
            Ok(Err(Broken)) => return status(StatusCode::BAD_REQUEST),
            Err(_) => return status(StatusCode::REQUEST_TIMEOUT),
        };
        let Some(place) = self.places.take(client, 1).await else {
            // There are always some.
            return status(StatusCode::SERVICE_UNAVAILABLE);
        };
        let answer = self.answer.clone();
        let is_gone = Arc::new(AtomicBool::new(false));
        let _leaving = Leaving(is_gone.clone());
        let answering = spawn_blocking(move || {
            // They are free again when the thread is, also if nobody waits for the answer any more.
            let _held = (place, room);
            let request = Request::from_parts(head, whole);
            answer(request, &protection, &Client(is_gone))
        });
        answering.await.unwrap_or_else(|error| {
            tracing::error!(%error, "a request has no answer");
            status(StatusCode::INTERNAL_SERVER_ERROR)
        })
    }

    /// How many bytes a body may take in memory: what is announced, or as many as it may have. `None` if that is too many.
    fn room(&self, body: &Incoming) -> Option<usize> {
        let size = body.size_hint();
        let len = |len: u64| {
            usize::try_from(len)
                .ok()
                .filter(|len| *len <= self.max_body_len)
        };
        len(size.lower())?;
        match size.upper() {
            Some(upper) => len(upper),
            None => Some(self.max_body_len),
        }
    }
}

impl<F> Handler for WholeRequests<F>
where
    F: Fn(Request<Option<Bytes>>, &Protection, &Client) -> Response<Bytes> + Send + Sync + 'static,
{
    type Body = Full<Bytes>;

    async fn answer(
        &self,
        request: Request<Incoming>,
        protection: Arc<Protection>,
    ) -> Response<Full<Bytes>> {
        let (head, mut body) = request.into_parts();
        let version = head.version;
        let response = self.reply(head, &mut body, protection).await;
        let mut response = response.map(Full::new);
        close_if_unread(&mut response, version, &body);
        response
    }
}

fn status(status: StatusCode) -> Response<Bytes> {
    let mut response = Response::new(Bytes::new());
    *response.status_mut() = status;
    response
}

/// The body ended too early.
struct Broken;

/// Reads a body to its end, or `None` if it has more bytes than this.
async fn read(body: &mut Incoming, max_len: usize) -> Result<Option<Bytes>, Broken> {
    // What is announced decides before anything is read.
    let size = body.size_hint();
    let announced = match usize::try_from(size.lower()) {
        Ok(len) if len <= max_len => len,
        _ => return Ok(None),
    };
    let mut whole = Vec::with_capacity(announced);
    while let Some(frame) = body.frame().await {
        let Ok(data) = frame.map_err(|_| Broken)?.into_data() else {
            continue;
        };
        if data.len() > max_len - whole.len() {
            return Ok(None);
        }
        if data.len() > whole.capacity() - whole.len() {
            // Twice as much each time, but no more than a body may have.
            let wanted = (whole.len() + data.len()).max(2 * whole.len()).min(max_len);
            whole.reserve_exact(wanted - whole.len());
        }
        whole.extend_from_slice(&data);
    }
    Ok(Some(whole.into()))
}
