//! What answers requests: a program's own function, or the page of this crate.

use std::error::Error;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use http_body_util::BodyExt;
use http_body_util::combinators::UnsyncBoxBody;
use hyper::body::{Body, Bytes, Incoming};
use hyper::{Request, Response};

use super::protection::Protection;

/// What answers requests. An async function of a request, and of what protects its connection, is one:
///
/// ```
/// use std::sync::Arc;
/// use hyper::body::Incoming;
/// use hyper::{Request, Response};
/// use pq_serving::{Handler, Protection};
///
/// async fn greet(_: Request<Incoming>, protection: Arc<Protection>) -> Response<String> {
///     Response::new(format!("hello over {}\n", protection.summary.group))
/// }
///
/// fn is_handler(_: impl Handler) {}
/// is_handler(greet);
/// ```
///
/// The limits of the server hold for whatever it does: if it waits for a body that never comes, or sends to a client
/// that never reads, the connection ends after [`Limits::connection`](crate::Limits::connection), and its futures are
/// dropped. How many bytes of a body it keeps in memory is its own choice. With HTTP/1.1, the connection ends after the
/// answer to a request whose body it did not read: such an answer should have the field `Connection: close`, as the page's
/// does. If it panics, the log says so, and its request
/// gets no answer: with HTTP/1.1 the connection ends, with HTTP/2 only the request.
pub trait Handler: Send + Sync + 'static {
    /// The body of an answer.
    type Body: Body<Data = Bytes, Error: Into<BoxError>> + Send + 'static;

    /// Answers one request.
    fn answer(
        &self,
        request: Request<Incoming>,
        protection: Arc<Protection>,
    ) -> impl Future<Output = Response<Self::Body>> + Send;
}

impl<F, A, B> Handler for F
where
    F: Fn(Request<Incoming>, Arc<Protection>) -> A + Send + Sync + 'static,
    A: Future<Output = Response<B>> + Send,
    B: Body<Data = Bytes, Error: Into<BoxError>> + Send + 'static,
{
    type Body = B;

    fn answer(
        &self,
        request: Request<Incoming>,
        protection: Arc<Protection>,
    ) -> impl Future<Output = Response<B>> + Send {
        self(request, protection)
    }
}

/// In an answer's extensions: how long the client may take to read it, or else the connection ends.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TakenWithin(pub(crate) Duration);

/// Why a body can't be sent.
pub type BoxError = Box<dyn Error + Send + Sync>;

/// The body of any handler.
pub(crate) type AnyBody = UnsyncBoxBody<Bytes, BoxError>;

/// The future of any handler.
type Answering = Pin<Box<dyn Future<Output = Response<AnyBody>> + Send>>;

/// Any handler, so that the server is compiled once for all of them.
pub(crate) trait AnyHandler: Send + Sync {
    fn answer_any(
        self: Arc<Self>,
        request: Request<Incoming>,
        protection: Arc<Protection>,
    ) -> Answering;
}

impl<H: Handler> AnyHandler for H {
    fn answer_any(
        self: Arc<Self>,
        request: Request<Incoming>,
        protection: Arc<Protection>,
    ) -> Answering {
        Box::pin(async move {
            let response = Handler::answer(&*self, request, protection).await;
            response.map(|body| body.map_err(Into::into).boxed_unsync())
        })
    }
}
