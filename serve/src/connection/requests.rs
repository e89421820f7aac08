//! The requests of a connection: each goes to the handler, and counts as running until its answer is sent.

use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use http_body_util::{BodyExt, Empty, Full};
use hyper::body::{Body, Bytes, Frame, Incoming, SizeHint};
use hyper::header::{CONTENT_LENGTH, CONTENT_TYPE, HOST, HeaderValue, RETRY_AFTER};
use hyper::http::uri::Authority;
use hyper::{Method, Request, Response, StatusCode, Version};
use tokio::sync::watch;
use tokio::time::sleep;

use super::access::{Line, Lines};
use super::deadlines::Deadlines;
use super::versions::{MAX_FIELDS, MAX_SEND_BUFFER};
use crate::admission::{RequestPlace, RequestPlaces};
use crate::events::{Event, Observers, Span};
use crate::http::{AnyBody, AnyHandler, BoxError, Protection, TakenWithin, Unread, leave_unread};

/// Gives the requests of a connection to the handler.
#[derive(Clone)]
pub(super) struct Requests {
    handler: Arc<dyn AnyHandler>,
    places: Arc<RequestPlaces>,
    protection: Arc<Protection>,
    observers: Observers,
    lines: Arc<Lines>,
    /// How many are running.
    running: watch::Sender<usize>,
    deadlines: Deadlines,
}

impl Requests {
    pub(super) fn new(
        handler: Arc<dyn AnyHandler>,
        places: Arc<RequestPlaces>,
        protection: Arc<Protection>,
        observers: Observers,
    ) -> Self {
        Self {
            handler,
            places,
            protection,
            observers,
            lines: Arc::default(),
            running: watch::Sender::new(0),
            deadlines: Deadlines::default(),
        }
    }

    pub(super) async fn answer(
        self,
        request: Request<Incoming>,
    ) -> Result<Response<Answer>, Infallible> {
        let version = request.version();
        let mut running = Running::begin(self.running, &self.observers, version);
        let mut line = Line::begin(&request, self.protection.clone(), self.lines.clone());
        let is_head = request.method() == Method::HEAD;
        let client = self.protection.peer.map(|peer| peer.ip());
        let place = self.places.take(client);
        let refused = match &place {
            Some(_) if request.headers().len() > MAX_FIELDS => Some(refusal(
                StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE,
                "The request has too many fields\n",
            )),
            Some(_) if has_one_host(&request) => None,
            Some(_) => Some(refusal(
                StatusCode::BAD_REQUEST,
                "The request has to be for one host\n",
            )),
            None => Some(unavailable()),
        };
        let mut response = match refused {
            Some(mut refused) => {
                leave_unread(&mut refused, version, request.into_body());
                refused
            }
            None => self.handler.answer_any(request, self.protection).await,
        };
        if is_head && version == Version::HTTP_2 {
            leave_body_out(&mut response);
        }
        line.status = Some(response.status().as_u16());
        running.unanswered = None;
        self.observers
            .tell(Event::Answered(version, response.status()));
        let sending = Arc::new(Sending {
            line,
            bytes: AtomicU64::new(0),
            _running: running,
            _place: place,
            _unread: response.extensions_mut().remove(),
        });
        if let Some(TakenWithin(time)) = response.extensions_mut().remove() {
            self.deadlines.add(time, sending.clone());
        }
        Ok(response.map(|body| Answer {
            body,
            sending,
            rest: Bytes::new(),
            most: match version {
                Version::HTTP_2 => MAX_SEND_BUFFER,
                _ => usize::MAX,
            },
        }))
    }

    /// Tells when an answer was not read in time.
    pub(super) fn deadlines(&self) -> Deadlines {
        self.deadlines.clone()
    }

    /// Tells when no request has been running for some time.
    pub(super) fn idle(&self) -> Idle {
        Idle(self.running.subscribe())
    }
}

/// There is no place for a request.
fn unavailable() -> Response<AnyBody> {
    let mut response = refusal(
        StatusCode::SERVICE_UNAVAILABLE,
        "Too many requests are running\n",
    );
    let headers = response.headers_mut();
    headers.insert(RETRY_AFTER, HeaderValue::from_static("1"));
    response
}

fn refusal(status: StatusCode, text: &'static str) -> Response<AnyBody> {
    let text = Full::new(text.into());
    let mut response = Response::new(text.map_err(|never| match never {}).boxed_unsync());
    *response.status_mut() = status;
    let text = HeaderValue::from_static("text/plain; charset=utf-8");
    response.headers_mut().insert(CONTENT_TYPE, text);
    response
}

/// Whether everybody who reads the request takes it to be for the same host (RFC 9112, section 3.2; RFC 9113, section
/// 8.3.1).
fn has_one_host<B>(request: &Request<B>) -> bool {
    let mut hosts = request.headers().get_all(HOST).into_iter();
    let (host, authority) = (hosts.next(), request.uri().authority());
    let is_host = |authority: &Authority| !authority.as_str().contains('@');
    if hosts.next().is_some() || authority.is_some_and(|authority| !is_host(authority)) {
        return false;
    }
    let Some(host) = host else {
        // HTTP/1.1 needs the field, whatever the URL says, and HTTP/1.0 nothing.
        return match request.version() {
            Version::HTTP_11 => false,
            Version::HTTP_2 => authority.is_some(),
            _ => true,
        };
    };
    let host = Authority::try_from(host.as_bytes()).ok();
    // HTTP/1.1 goes by the URL, and a proxy may have left the field as it was.
    let is_same = |host: &Authority| match authority {
        Some(authority) if request.version() == Version::HTTP_2 => host == authority,
        _ => true,
    };
    host.is_some_and(|host| is_host(&host) && is_same(&host))
}

/// hyper does so for HTTP/1.1 only.
fn leave_body_out(response: &mut Response<AnyBody>) {
    // An empty body is none that a GET would have, or of a status that has none: it tells no length.
    let length = response
        .body()
        .size_hint()
        .exact()
        .filter(|length| *length > 0);
    *response.body_mut() = Empty::new().map_err(|never| match never {}).boxed_unsync();
    if let Some(length) = length {
        let headers = response.headers_mut();
        headers
            .entry(CONTENT_LENGTH)
            .or_insert_with(|| length.into());
    }
}

/// Knows how many requests are running.
pub(super) struct Idle(watch::Receiver<usize>);

impl Idle {
    /// Waits until none has been running for this long.
    pub(super) async fn since(&mut self, time: Duration) {
        loop {
            // No sender is left: no request can come.
            if self.0.wait_for(|&running| running == 0).await.is_err() {
                return;
            }
            tokio::select! {
                () = sleep(time) => return,
                // Also if it is none again by now.
                _ = self.0.changed() => {}
            }
        }
    }
}

/// A request that is running.
struct Running {
    count: watch::Sender<usize>,
    /// The version of HTTP, until there is an answer.
    unanswered: Option<Version>,
    observers: Observers,
    _span: Span,
}

impl Running {
    fn begin(count: watch::Sender<usize>, observers: &Observers, version: Version) -> Self {
        count.send_modify(|running| *running += 1);
        Self {
            count,
            unanswered: Some(version),
            observers: observers.clone(),
            _span: observers.span(Event::Requested, Event::Done),
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if let Some(version) = self.unanswered {
            self.observers.tell(Event::Unanswered(version));
        }
        self.count.send_modify(|running| *running -= 1);
    }
}

/// An answer until it was sent or can't be: its body has it, and so has each piece of the body that waits for the client.
struct Sending {
    line: Line,
    /// How many bytes of the body were taken for sending.
    bytes: AtomicU64,
    _running: Running,
    /// None if there was none, and the answer says so.
    _place: Option<RequestPlace>,
    /// What nobody has read of the request's body.
    _unread: Option<Unread>,
}

impl Drop for Sending {
    fn drop(&mut self) {
        self.line.bytes = *self.bytes.get_mut();
    }
}

/// The body of an answer. hyper drops it once h2 has its last piece, which may be long before the client has it.
pub(super) struct Answer {
    body: AnyBody,
    /// What the body has given, and is still to be sent.
    rest: Bytes,
    /// How many bytes a piece may have.
    most: usize,
    sending: Arc<Sending>,
}

impl Answer {
    /// The next piece of `rest`: h2 takes a piece whole, however large it is.
    fn piece(&mut self) -> Bytes {
        let data = self.rest.split_to(self.rest.len().min(self.most));
        let bytes = &self.sending.bytes;
        bytes.fetch_add(data.len() as u64, Ordering::Relaxed);
        Bytes::from_owner(Piece {
            data,
            _sending: self.sending.clone(),
        })
    }
}

/// A piece of a body, which whoever sends it drops once it is sent.
struct Piece {
    data: Bytes,
    _sending: Arc<Sending>,
}

impl AsRef<[u8]> for Piece {
    fn as_ref(&self) -> &[u8] {
        &self.data
    }
}

impl Body for Answer {
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        if !self.rest.is_empty() {
            return Poll::Ready(Some(Ok(Frame::data(self.piece()))));
        }
        let polled = Pin::new(&mut self.body).poll_frame(context);
        polled.map_ok(|frame| {
            frame.map_data(|data| {
                self.rest = data;
                self.piece()
            })
        })
    }

    fn is_end_stream(&self) -> bool {
        self.rest.is_empty() && self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        let rest = self.rest.len() as u64;
        let mut hint = self.body.size_hint();
        if let Some(upper) = hint.upper() {
            hint.set_upper(upper + rest);
        }
        hint.set_lower(hint.lower() + rest);
        hint
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The time begins with the end of the last request, however long that took.
    #[tokio::test]
    async fn idle_is_who_has_not_asked_for_the_whole_time() {
        const TIME: Duration = Duration::from_millis(200);
        let running = watch::Sender::new(1);
        let mut idle = Idle(running.subscribe());
        let request = tokio::spawn(async move {
            sleep(2 * TIME).await;
            let end = std::time::Instant::now();
            running.send_replace(0);
            (end, running)
        });
        idle.since(TIME).await;
        assert!(request.is_finished());
        let (end, _running) = request.await.unwrap();
        assert!(end.elapsed() >= TIME);
    }
}
