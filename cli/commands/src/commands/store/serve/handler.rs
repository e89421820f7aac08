//! Requests of HTTP to the door, and its answers back.

use hyper::body::Bytes;
use hyper::header::{AUTHORIZATION, CACHE_CONTROL, CONTENT_TYPE, HeaderName, HeaderValue};
use hyper::http::request::Parts;
use hyper::{HeaderMap, Request, Response, StatusCode};
use pq_keystore::door::{self, Door};
use pq_serving::{Client, Protection};

const VAULT_TOKEN: HeaderName = HeaderName::from_static("x-vault-token");
const NAMESPACE: HeaderName = HeaderName::from_static("x-vault-namespace");
const WRAP_TTL: HeaderName = HeaderName::from_static("x-vault-wrap-ttl");

/// Who sends a request, or the answer if the door knows nobody there.
pub(super) fn who(
    door: &Door,
    head: &Parts,
    protection: &Protection,
) -> Result<String, Box<Response<Bytes>>> {
    let principal = door.admit(&asked(head, protection));
    principal
        .map(|principal| principal.to_string())
        .map_err(|answer| Box::new(response(answer, head)))
}

/// What a request is called in the log.
pub(super) fn named<B>(request: &Request<B>) -> String {
    format!("{} {}", request.method(), request.uri().path())
}

/// Answers a request, or one without its body because that is too long.
pub(super) fn answer(
    door: &Door,
    request: Request<Option<Bytes>>,
    protection: &Protection,
    client: &Client,
) -> Response<Bytes> {
    let (head, body) = request.into_parts();
    let answer = match &body {
        None => Door::too_long(),
        Some(body) => door.answer(&door::Request {
            body,
            is_gone: Some(&|| client.is_gone()),
            room: Some(&|len| client.reserve(len)),
            ..asked(&head, protection)
        }),
    };
    response(answer, &head)
}

fn asked<'r>(head: &'r Parts, protection: &'r Protection) -> door::Request<'r> {
    door::Request {
        method: head.method.as_str(),
        path: head.uri.path(),
        query: head.uri.query(),
        vault_token: field(&head.headers, &VAULT_TOKEN),
        authorization: field(&head.headers, &AUTHORIZATION),
        namespace: said(&head.headers, &NAMESPACE),
        wrap_ttl: said(&head.headers, &WRAP_TTL),
        certificate: protection.client_chain.first().map(AsRef::as_ref),
        ..door::Request::default()
    }
}

fn response(answer: door::Response, head: &Parts) -> Response<Bytes> {
    if let Some(problem) = &answer.problem {
        match answer.status {
            500.. => tracing::error!(problem, path = head.uri.path(), "the store failed"),
            _ => tracing::warn!(problem, path = head.uri.path(), "the store failed in part"),
        }
    }
    let mut response = Response::new(Bytes::from_owner(answer.body));
    // The door gives no other numbers than those that are statuses.
    *response.status_mut() =
        StatusCode::from_u16(answer.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let headers = response.headers_mut();
    if answer.status != 204 {
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    }
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}

/// The value of a field that stands there. One that is no text, or stands there twice, is a token that nobody has.
fn field<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Option<&'a str> {
    let mut values = headers.get_all(name).iter();
    let first = values.next()?;
    let text = first.to_str().unwrap_or_default();
    Some(if values.next().is_some() { "" } else { text })
}

/// What a field says that may be empty. What is no text says something, too.
fn said<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Option<&'a str> {
    let mut values = headers.get_all(name).iter();
    let value = values.find(|value| !value.is_empty())?;
    Some(value.to_str().unwrap_or("?"))
}
