//! The requests of a connection: each goes to the handler, and counts as running until its answer is sent.

use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use hyper::body::{Body, Bytes, Frame, Incoming, SizeHint};
use hyper::{Request, Response};
use tokio::sync::watch;
use tokio::time::sleep;

use super::access::Line;
use crate::events::{Event, Observers, Span};
use crate::http::{AnyBody, AnyHandler, BoxError, Protection};

/// Gives the requests of a connection to the handler.
#[derive(Clone)]
pub(super) struct Requests {
    handler: Arc<dyn AnyHandler>,
    protection: Arc<Protection>,
    observers: Observers,
    /// How many are running.
    running: watch::Sender<usize>,
}

impl Requests {
    pub(super) fn new(
        handler: Arc<dyn AnyHandler>,
        protection: Arc<Protection>,
        observers: Observers,
    ) -> Self {
        Self {
            handler,
            protection,
            observers,
            running: watch::Sender::new(0),
        }
    }

    pub(super) async fn answer(
        self,
        request: Request<Incoming>,
    ) -> Result<Response<Answer>, Infallible> {
        let running = Running::begin(self.running, &self.observers);
        let version = request.version();
        let mut line = Line::begin(&request, self.protection.clone());
        let response = self.handler.answer_any(request, self.protection).await;
        line.status = Some(response.status().as_u16());
        self.observers
            .tell(Event::Answered(version, response.status()));
        Ok(response.map(|body| Answer {
            body,
            line,
            _running: running,
        }))
    }

    /// Tells when no request has been running for some time.
    #[cfg_attr(
        not(feature = "http2"),
        expect(dead_code, reason = "hyper has such a limit for HTTP/1.1")
    )]
    pub(super) fn idle(&self) -> Idle {
        Idle(self.running.subscribe())
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
    _span: Span,
}

impl Running {
    fn begin(count: watch::Sender<usize>, observers: &Observers) -> Self {
        count.send_modify(|running| *running += 1);
        Self {
            count,
            _span: observers.span(Event::Requested, Event::Done),
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.count.send_modify(|running| *running -= 1);
    }
}

/// The body of an answer, which is dropped when it was sent or can't be.
pub(super) struct Answer {
    body: AnyBody,
    line: Line,
    _running: Running,
}

impl Body for Answer {
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        let polled = Pin::new(&mut self.body).poll_frame(context);
        if let Poll::Ready(Some(Ok(frame))) = &polled {
            self.line.bytes += frame.data_ref().map_or(0, |data| data.len() as u64);
        }
        polled
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
