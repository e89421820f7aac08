use std::fmt;

use http_body_util::{Either, Full};
use hyper::body::Bytes;
use hyper::header::{ALLOW, CONTENT_TYPE, HeaderValue, VARY};
use hyper::{Method, Request, Response, StatusCode};
use serde::Serialize;

use crate::Negotiated;
use crate::media_type::MediaType;
use crate::negotiated::value;
use crate::zeros::Zeros;

/// What the server knows of a connection and tells the client that asks.
#[derive(Debug, Serialize)]
pub(crate) struct Page {
    #[serde(flatten)]
    pub(crate) negotiated: Negotiated,
    /// The name that the client asked for, if it sent one.
    pub(crate) server_name: Option<String>,
    /// The subject of the client's certificate.
    pub(crate) client_certificate: Option<String>,
}

impl fmt::Display for Page {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let rest = [
            ("server name", value(&self.server_name)),
            ("client certificate", value(&self.client_certificate)),
        ];
        for (label, value) in self.negotiated.rows().into_iter().chain(rest) {
            writeln!(f, "{label:20}  {value}")?;
        }
        Ok(())
    }
}

/// Answers a request: `GET` and `HEAD` of `/` with the page, and of `/bytes/N` with N zeros,
/// if that is no more than `download`.
pub(crate) fn answer<B>(
    request: &Request<B>,
    page: &Page,
    download: u64,
) -> Response<Either<Full<Bytes>, Zeros>> {
    let zeros = zeros(request.uri().path()).filter(|length| (1..=download).contains(length));
    if zeros.is_none() && request.uri().path() != "/" {
        return plain(StatusCode::NOT_FOUND, "There is nothing here but /\n");
    }
    // hyper leaves out the body where the method is HEAD.
    if ![Method::GET, Method::HEAD].contains(request.method()) {
        let mut response = plain(
            StatusCode::METHOD_NOT_ALLOWED,
            "Only GET and HEAD are allowed\n",
        );
        response
            .headers_mut()
            .insert(ALLOW, HeaderValue::from_static("GET, HEAD"));
        return response;
    }
    if let Some(length) = zeros {
        return respond(
            StatusCode::OK,
            "application/octet-stream",
            Either::Right(Zeros(length)),
        );
    }

    let media_type = MediaType::preferred(request.headers());
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

/// How many bytes the path asks for.
fn zeros(path: &str) -> Option<u64> {
    path.strip_prefix("/bytes/")?.parse().ok()
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
