//! A server with nothing but OCSP.

use alloc::sync::Arc;

use http_body_util::Full;
use hyper::body::{Body, Bytes, Incoming};
use hyper::header::{CONNECTION, HeaderValue};
use hyper::{Request, Response, Version};
use pq_serving::{Handler, Protection};

use crate::ocsp::OcspDoor;

/// A server with nothing but OCSP: at `/`, as in `http://ocsp.example.org`, and at `/ocsp`.
#[derive(Clone, Debug)]
pub struct OcspHandler(Arc<OcspDoor>);

impl OcspHandler {
    /// Answers by this door.
    pub fn new(door: Arc<OcspDoor>) -> Self {
        Self(door)
    }
}

impl Handler for OcspHandler {
    type Body = Full<Bytes>;

    async fn answer(
        &self,
        request: Request<Incoming>,
        _: Arc<Protection>,
    ) -> Response<Full<Bytes>> {
        let (head, mut body) = request.into_parts();
        let path = head.uri.path();
        // No request in base64 begins with this.
        let rest = path.strip_prefix("/ocsp").unwrap_or(path);
        let mut response = self.0.respond(&head, rest, &mut body).await;
        if head.version < Version::HTTP_2 && !body.is_end_stream() {
            let close = HeaderValue::from_static("close");
            response.headers_mut().insert(CONNECTION, close);
        }
        response.map(Full::new)
    }
}
