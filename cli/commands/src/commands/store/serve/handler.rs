//! Requests of HTTP to the door, and its answers back.

use hyper::body::Bytes;
use hyper::header::{AUTHORIZATION, CACHE_CONTROL, CONTENT_TYPE, HeaderName, HeaderValue};
use hyper::http::request::Parts;
use hyper::{HeaderMap, Method, Request, Response, StatusCode, Uri};
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
    let (uri, headers) = (&head.uri, &head.headers);
    let principal = door.admit(&asked(&head.method, uri, headers, protection));
    principal
        .map(|principal| principal.to_string())
        .map_err(|answer| Box::new(response(answer, uri)))
}

/// What a request is called in the log.
pub(super) fn named<B>(request: &Request<B>) -> String {
    format!("{} {}", request.method(), request.uri().path())
}

/// Answers a request, or one without its body because that is too long.
pub(super) fn answer(
    door: &Door,
    request: &Request<Option<Bytes>>,
    protection: &Protection,
    client: &Client,
) -> Response<Bytes> {
    let answered = with_body(request, protection, client, |request| door.answer(request));
    response(answered.unwrap_or_else(Door::too_long), request.uri())
}

/// The same, if the answer doesn't have to wait for anything.
pub(super) fn answer_promptly(
    door: &Door,
    request: &Request<Option<Bytes>>,
    protection: &Protection,
    client: &Client,
) -> Option<Response<Bytes>> {
    let answered = with_body(request, protection, client, |request| {
        door.answer_promptly(request)
    });
    answered?.map(|answer| response(answer, request.uri()))
}

/// Gives `answer` what the door reads of a request, unless that has no body.
fn with_body<A>(
    request: &Request<Option<Bytes>>,
    protection: &Protection,
    client: &Client,
    answer: impl FnOnce(&door::Request<'_>) -> A,
) -> Option<A> {
    let body = request.body().as_ref()?;
    let head = asked(
        request.method(),
        request.uri(),
        request.headers(),
        protection,
    );
    Some(answer(&door::Request {
        body,
        is_gone: Some(&|| client.is_gone()),
        room: Some(&|len| client.reserve(len)),
        ..head
    }))
}

fn asked<'r>(
    method: &'r Method,
    uri: &'r Uri,
    headers: &'r HeaderMap,
    protection: &'r Protection,
) -> door::Request<'r> {
    door::Request {
        method: method.as_str(),
        path: uri.path(),
        query: uri.query(),
        vault_token: field(headers, &VAULT_TOKEN),
        authorization: field(headers, &AUTHORIZATION),
        namespace: said(headers, &NAMESPACE),
        wrap_ttl: said(headers, &WRAP_TTL),
        certificate: protection.client_chain.first().map(AsRef::as_ref),
        ..door::Request::default()
    }
}

fn response(answer: door::Response, uri: &Uri) -> Response<Bytes> {
    if let Some(problem) = &answer.problem {
        match answer.status {
            500.. => tracing::error!(problem, path = uri.path(), "the store failed"),
            _ => tracing::warn!(problem, path = uri.path(), "the store failed in part"),
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
