//! Requests whose bodies nobody reads.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use http_body_util::BodyExt;
use hyper::body::{Body, Incoming};
use hyper::header::{CONNECTION, HeaderValue};
use hyper::{Response, Version};
use tokio::runtime::Handle;
use tokio::time::timeout;

/// How much of a body is dropped as it comes, after the answer.
const MOST: u64 = 16 * 1024 * 1024;

/// For how long that goes on.
const AT_MOST: Duration = Duration::from_secs(10);

/// Says that the connection ends after this answer if the request's body was not read to its end: hyper closes it then, and
/// without a word the client may send its next request into the void (RFC 9112, section 9.6).
///
/// Many clients read no answer before they have sent all, and what arrives at a closed connection resets it, so that they see
/// none. So what comes after the answer is taken and dropped for a while: the answer has the body with it until it is sent.
pub(crate) fn leave_unread<B>(response: &mut Response<B>, version: Version, body: Incoming) {
    if body.is_end_stream() {
        return;
    }
    // With HTTP/2 the stream ends alone.
    if version < Version::HTTP_2 {
        let close = HeaderValue::from_static("close");
        response.headers_mut().insert(CONNECTION, close);
    }
    let unread = Unread(Arc::new(Left(Mutex::new(Some(body)))));
    response.extensions_mut().insert(unread);
}

/// In an answer's extensions: the rest of the request's body. It is read once the last of these is dropped, and so after the
/// answer: before, hyper would ask for a body that waits for `100 Continue`.
#[derive(Clone, Debug)]
pub(crate) struct Unread(#[expect(dead_code, reason = "it is there to be dropped")] Arc<Left>);

#[derive(Debug)]
struct Left(Mutex<Option<Incoming>>);

impl Drop for Left {
    fn drop(&mut self) {
        let body = self.0.get_mut().unwrap_or_else(PoisonError::into_inner);
        if let (Some(body), Ok(runtime)) = (body.take(), Handle::try_current()) {
            // It ends with the connection, if not before.
            runtime.spawn(timeout(AT_MOST, take(body)));
        }
    }
}

async fn take(mut body: Incoming) {
    let mut left = MOST;
    while let Some(Ok(frame)) = body.frame().await {
        let len = frame.data_ref().map_or(0, |data| data.len() as u64);
        match left.checked_sub(len) {
            Some(rest) => left = rest,
            None => return,
        }
    }
}
