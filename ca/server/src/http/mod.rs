//! Answers that have been made before: their fields for caches, and requests on the condition that they changed.

// This room uses no other.

mod document;

use hyper::body::Bytes;
use hyper::header::{ALLOW, CACHE_CONTROL, CONTENT_TYPE, HeaderValue};
use hyper::{Response, StatusCode};

pub(crate) use self::document::{Caching, Document};

/// A short answer in words.
pub(crate) fn plain(status: StatusCode, text: impl Into<Bytes>) -> Response<Bytes> {
    let mut response = Response::new(text.into());
    *response.status_mut() = status;
    let headers = response.headers_mut();
    let text = HeaderValue::from_static("text/plain; charset=utf-8");
    headers.insert(CONTENT_TYPE, text);
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}

/// The answer to a method that is not allowed there.
pub(crate) fn only(methods: &'static str) -> Response<Bytes> {
    let mut response = plain(
        StatusCode::METHOD_NOT_ALLOWED,
        format!("Only {methods} are allowed\n"),
    );
    let allowed = HeaderValue::from_static(methods);
    response.headers_mut().insert(ALLOW, allowed);
    response
}
