//! Requests whose bodies nobody reads.

use hyper::body::{Body, Incoming};
use hyper::header::{CONNECTION, HeaderValue};
use hyper::{Response, Version};

/// Says that the connection ends after this answer if the request's body was not read to its end: hyper closes it then, and
/// without a word the client may send its next request into the void (RFC 9112, section 9.6).
pub(crate) fn close_if_unread<B>(response: &mut Response<B>, version: Version, body: &Incoming) {
    // With HTTP/2 the stream ends alone.
    if version < Version::HTTP_2 && !body.is_end_stream() {
        let close = HeaderValue::from_static("close");
        response.headers_mut().insert(CONNECTION, close);
    }
}
