//! Handlers that get whole requests, and may block.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::available_parallelism;
use std::time::Duration;

use http_body_util::{BodyExt, Full};
use hyper::body::{Body, Bytes, Incoming};
use hyper::http::request::Parts;
use hyper::{Request, Response, StatusCode};
use tokio::runtime::Handle;
use tokio::sync::watch;
use tokio::task::spawn_blocking;
use tokio::time::timeout;

use super::handler::{Handler, TakenWithin};
use super::protection::Protection;
use super::shares::{Shares, Taken};
use super::unread::leave_unread;

/// How many bytes of bodies there are at a time, if nothing else is said.
const BODIES_LEN: usize = 64 * 1024 * 1024;

/// How many bytes of long answers there are at a time, if nothing else is said.
const ANSWERS_LEN: usize = 128 * 1024 * 1024;

/// An answer that takes no more than this needs no room, since the number of requests bounds those.
const SHORT: usize = 16 * 1024;

/// How long a request waits until its body may be read, and for room for its answer.
const WAIT: Duration = Duration::from_secs(10);

/// How long its body may take to arrive, since its room is held for so long.
const ARRIVAL: Duration = Duration::from_secs(60);

/// How long a client may take to read an answer that has room.
const DEPARTURE: Duration = Duration::from_secs(60);

/// Answers each request once its body is in memory, by a function that may block: it runs on a thread for that, so that no
/// other connection waits for it. Those that can be answered at once need no thread: [`promptly`](Self::promptly) says which.
///
/// So many run at once as [`new`](Self::new) is told; others wait, and [`Limits::connection`](crate::Limits::connection) ends
/// their wait. All bodies that are read or worked on have at most 64 MiB together, or what [`bodies_len`](Self::bodies_len)
/// says, but at least twice the most of one body: a request whose body has no room waits 10 seconds for it, and is answered
/// with 503 then, and one whose body takes longer than a minute to arrive with 408. Before that, the server holds of bodies
/// what [`Limits`](crate::Limits) says.
///
/// A body that is too long, or whose sender is refused, is not read before the answer. After it, what still comes is taken and
/// dropped, 16 MiB and 10 seconds at most, so that clients see the answer which send all before they read.
///
/// An answer of more than 16 KiB is to ask for room first ([`Client::reserve`]): all that have room take at most 128 MiB
/// together, or what [`answers_len`](Self::answers_len) says, until their clients have read them. Whoever takes longer than a
/// minute to do so loses the connection.
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
    prompt: Option<Box<Prompt>>,
    workers: Shares,
    max_body_len: usize,
    who: Option<Box<Who>>,
    places: Shares,
    bytes: Shares,
    answers: Arc<Shares>,
    departure: Duration,
}

type Prompt =
    dyn Fn(&Request<Option<Bytes>>, &Protection, &Client) -> Option<Response<Bytes>> + Send + Sync;

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
pub struct Client(Option<Waiting>);

/// A client for which a thread works.
#[derive(Debug)]
struct Waiting {
    /// Its sender is dropped when nobody waits any more.
    waiting: watch::Receiver<()>,
    name: Option<String>,
    answers: Arc<Shares>,
    room: Mutex<Option<Taken>>,
    runtime: Handle,
}

impl Client {
    /// One that gets its answer at once, or from a thread.
    const PROMPT: Self = Self(None);

    /// Whether it is gone, so that nobody waits for the answer. Long work asks this now and then.
    pub fn is_gone(&self) -> bool {
        let waiting = self.0.as_ref();
        waiting.is_some_and(|client| client.waiting.has_changed().is_err())
    }

    /// Waits until there is room for an answer that takes this many bytes of memory while it is made, in place of what was
    /// reserved before; at most 10 seconds, and no longer than the client does. Returns whether there is. Once the answer is
    /// there, it takes its own length, until the client has read it. One that would take more than a client may have takes
    /// all of that. An answer [at once](WholeRequests::promptly) has no room, and this doesn't wait there.
    #[must_use]
    pub fn reserve(&self, len: usize) -> bool {
        match &self.0 {
            Some(waiting) => waiting.reserve(len),
            None => len <= SHORT,
        }
    }
}

impl Waiting {
    fn reserve(&self, len: usize) -> bool {
        // Not while it waits: it would wait for itself.
        drop(self.take_room());
        if len <= SHORT {
            return true;
        }
        let places = len.min(self.answers.share());
        let room = self.runtime.block_on(async {
            let mut waiting = self.waiting.clone();
            let room = timeout(WAIT, self.answers.take(self.name.as_deref(), places));
            tokio::select! {
                room = room => room.ok().flatten(),
                _ = waiting.changed() => None,
            }
        });
        let has_room = room.is_some();
        *self.room() = room;
        has_room
    }

    fn take_room(&self) -> Option<Taken> {
        self.room().take()
    }

    fn room(&self) -> std::sync::MutexGuard<'_, Option<Taken>> {
        // Nothing panics while it is locked.
        self.room.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The body of an answer, which has room until it was sent.
struct Roomy {
    data: Bytes,
    _room: Taken,
}

impl AsRef<[u8]> for Roomy {
    fn as_ref(&self) -> &[u8] {
        &self.data
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
            prompt: None,
            workers: Shares::new(available_parallelism().map_or(1, Into::into), 1),
            max_body_len,
            who: None,
            places: Shares::new(at_once, 1),
            bytes: Shares::of_bytes(BODIES_LEN, max_body_len),
            answers: Shares::of_bytes(ANSWERS_LEN, 1).into(),
            departure: DEPARTURE,
        }
    }

    /// How many bytes all answers of more than 16 KiB may take together that are made or read by their clients.
    pub fn answers_len(self, len: usize) -> Self {
        Self {
            answers: Shares::of_bytes(len, 1).into(),
            ..self
        }
    }

    /// How long a client may take to read an answer of more than 16 KiB, by default a minute.
    pub fn departure(self, departure: Duration) -> Self {
        Self { departure, ..self }
    }

    /// How many bytes all bodies may have together that are read or worked on at a time. It is at least as long as one body.
    pub fn bodies_len(self, len: usize) -> Self {
        Self {
            bytes: Shares::of_bytes(len, self.max_body_len),
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

    /// Asks this function first, on the task of the connection. What it answers, in at most 16 KiB, needs no thread, which costs
    /// more than short work; if it gives `None`, the request goes to a thread as all others do. It must neither block nor
    /// compute for long, as other connections wait meanwhile: some 100 microseconds, and nothing that may take much more. It
    /// must have changed nothing if it gives `None`. Places and room for bodies are taken as for others. With
    /// [`only_for`](Self::only_for), at most half of the CPUs work so for one sender at a time; what is more goes to threads.
    ///
    /// ```
    /// use hyper::body::Bytes;
    /// use hyper::{Method, Request, Response};
    /// use pq_serving::{Client, Protection, WholeRequests};
    ///
    /// # let answer = |_: Request<Option<Bytes>>, _: &Protection, _: &Client| Response::new(Bytes::new());
    /// let promptly = |request: &Request<Option<Bytes>>, _: &Protection, _: &Client| {
    ///     (request.method() == Method::HEAD).then(|| Response::new(Bytes::new()))
    /// };
    /// let handler = WholeRequests::new(1 << 20, 16, answer).promptly(promptly);
    /// # fn is_handler(_: impl pq_serving::Handler) {}
    /// # is_handler(handler);
    /// ```
    pub fn promptly(
        self,
        prompt: impl Fn(&Request<Option<Bytes>>, &Protection, &Client) -> Option<Response<Bytes>>
        + Send
        + Sync
        + 'static,
    ) -> Self {
        Self {
            prompt: Some(Box::new(prompt)),
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
        let name = client;
        let client = name.as_deref();
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
        let request = Request::from_parts(head, whole);
        if let Some(prompt) = &self.prompt
            && let Some(_worker) = self.workers.take_free(client)
        {
            let asked = || prompt(&request, &protection, &Client::PROMPT);
            // Other requests of the connection go on, as when a thread panics.
            match catch_unwind(AssertUnwindSafe(asked)) {
                Ok(Some(response)) => return response,
                Ok(None) => {}
                Err(_) => {
                    tracing::error!("a request has no answer, since answering it panicked");
                    return status(StatusCode::INTERNAL_SERVER_ERROR);
                }
            }
        }
        let (answer, departure) = (self.answer.clone(), self.departure);
        let (_waiting, waiting) = watch::channel(());
        let client = Client(Some(Waiting {
            waiting,
            name,
            answers: self.answers.clone(),
            room: Mutex::default(),
            runtime: Handle::current(),
        }));
        let answering = spawn_blocking(move || {
            // They are free again when the thread is, also if nobody waits for the answer any more.
            let _held = (place, room);
            let response = answer(request, &protection, &client);
            let room = client.0.as_ref().and_then(Waiting::take_room);
            in_room(response, room, departure)
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
        leave_unread(&mut response, version, body);
        response
    }
}

/// The answer, which keeps of its room what it takes.
fn in_room(response: Response<Bytes>, room: Option<Taken>, departure: Duration) -> Response<Bytes> {
    let len = response.body().len();
    let Some(mut room) = room.filter(|_| len > SHORT) else {
        return response;
    };
    room.keep(len);
    let mut response = response.map(|data| Bytes::from_owner(Roomy { data, _room: room }));
    response.extensions_mut().insert(TakenWithin(departure));
    response
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
