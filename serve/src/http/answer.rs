//! The handler of a server that was given none: the page that shows what was negotiated, and `/bytes`, which measures
//! throughput.

use std::sync::Arc;

use http_body_util::{BodyExt, Either, Full};
use hyper::body::{Body, Bytes, Incoming};
use hyper::header::{ALLOW, CONTENT_LENGTH, CONTENT_TYPE, HeaderValue, VARY};
use hyper::http::request::Parts;
use hyper::{Method, Request, Response, StatusCode};

use super::handler::Handler;
use super::media_type::MediaType;
use super::protection::Protection;
use super::unread::leave_unread;
use super::zeros::Zeros;

/// Answers with what protects the connection, as text or as JSON: the handler of a server that was given none.
#[derive(Clone, Copy, Debug, Default)]
pub struct Page {
    /// How many bytes `GET /bytes/N` sends and `POST /bytes` takes at most. With 0, there are no such paths.
    pub bytes: u64,
}

impl Handler for Page {
    type Body = Either<Full<Bytes>, Zeros>;

    async fn answer(
        &self,
        request: Request<Incoming>,
        protection: Arc<Protection>,
    ) -> Response<Self::Body> {
        let (head, mut body) = request.into_parts();
        let mut response = answer(&head, &mut body, &protection, self.bytes).await;
        leave_unread(&mut response, head.version, body);
        response
    }
}

/// Answers a request: `GET` and `HEAD` of `/` with the page, and of `/bytes/N` with N zeros;
/// `POST` of `/bytes` with the number of bytes that came with it. `bytes` is the most
/// for either; with 0, there are no such paths.
async fn answer(
    head: &Parts,
    body: &mut Incoming,
    page: &Protection,
    bytes: u64,
) -> Response<Either<Full<Bytes>, Zeros>> {
    let Some(resource) = Resource::at(head.uri.path(), bytes) else {
        return plain(StatusCode::NOT_FOUND, "There is nothing here but /\n");
    };
    // The connection leaves out the body where the method is HEAD.
    let reads = [Method::GET, Method::HEAD].contains(&head.method);
    match resource {
        Resource::Page if reads => show(head, page),
        Resource::Zeros(length) if reads => respond(
            StatusCode::OK,
            "application/octet-stream",
            Either::Right(Zeros(length)),
        ),
        Resource::Counter if head.method == Method::POST => count(head, body, bytes).await,
        Resource::Page | Resource::Zeros(_) => {
            not_allowed("GET, HEAD", "Only GET and HEAD are allowed\n")
        }
        Resource::Counter => not_allowed("POST", "Only POST is allowed\n"),
    }
}

/// What can be requested.
enum Resource {
    Page,
    /// This many zeros.
    Zeros(u64),
    /// The counter of bytes.
    Counter,
}

impl Resource {
    fn at(path: &str, bytes: u64) -> Option<Self> {
        match path.strip_prefix("/bytes") {
            None => (path == "/").then_some(Self::Page),
            Some("") => (bytes > 0).then_some(Self::Counter),
            Some(rest) => {
                let length = rest.strip_prefix('/')?.parse().ok()?;
                (1..=bytes).contains(&length).then_some(Self::Zeros(length))
            }
        }
    }
}

fn show(head: &Parts, page: &Protection) -> Response<Either<Full<Bytes>, Zeros>> {
    let media_type = MediaType::preferred(&head.headers);
    let body = match media_type {
        MediaType::Text => page.to_string(),
        MediaType::Json => match serde_json::to_string_pretty(page) {
            Ok(json) => json + "\n",
            Err(error) => {
                tracing::error!(%error, "the page can't be written as JSON");
                return plain(StatusCode::INTERNAL_SERVER_ERROR, "Internal error\n");
            }
        },
    };
    let mut response = respond(StatusCode::OK, media_type.content_type(), text(body));
    response
        .headers_mut()
        .insert(VARY, HeaderValue::from_static("Accept"));
    response
}

/// Reads a body whose length was announced, piece by piece.
async fn count(
    head: &Parts,
    body: &mut Incoming,
    limit: u64,
) -> Response<Either<Full<Bytes>, Zeros>> {
    // hyper has refused lengths that are not numbers, and makes sure that bodies have their length.
    let announced = body.size_hint().exact();
    let Some(length) = announced.filter(|_| head.headers.contains_key(CONTENT_LENGTH)) else {
        return plain(StatusCode::LENGTH_REQUIRED, "Content-Length is required\n");
    };
    if length > limit {
        return plain(StatusCode::PAYLOAD_TOO_LARGE, "These are too many bytes\n");
    }
    let mut counted = 0_u64;
    while let Some(frame) = body.frame().await {
        let Ok(frame) = frame else {
            return plain(StatusCode::BAD_REQUEST, "The body ends too early\n");
        };
        counted += frame.data_ref().map_or(0, |data| data.len() as u64);
    }
    let content_type = MediaType::Text.content_type();
    respond(StatusCode::OK, content_type, text(format!("{counted}\n")))
}

fn not_allowed<B>(
    allowed: &'static str,
    message: &'static str,
) -> Response<Either<Full<Bytes>, B>> {
    let mut response = plain(StatusCode::METHOD_NOT_ALLOWED, message);
    response
        .headers_mut()
        .insert(ALLOW, HeaderValue::from_static(allowed));
    response
}

fn plain<B>(status: StatusCode, message: &'static str) -> Response<Either<Full<Bytes>, B>> {
    respond(status, MediaType::Text.content_type(), text(message))
}

fn text<B>(body: impl Into<Bytes>) -> Either<Full<Bytes>, B> {
    Either::Left(Full::new(body.into()))
}

fn respond<B>(status: StatusCode, content_type: &'static str, body: B) -> Response<B> {
    let mut response = Response::new(body);
    *response.status_mut() = status;
    response
        .headers_mut()
        .insert(CONTENT_TYPE, HeaderValue::from_static(content_type));
    response
}
