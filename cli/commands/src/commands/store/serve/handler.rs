//! Requests of HTTP to the door, and its answers back.

use hyper::body::Bytes;
use hyper::header::{AUTHORIZATION, CACHE_CONTROL, CONTENT_TYPE, HeaderName, HeaderValue};
use hyper::{HeaderMap, Request, Response, StatusCode};
use pq_keystore::door::{self, Door};
use pq_serving::Protection;

const VAULT_TOKEN: HeaderName = HeaderName::from_static("x-vault-token");

/// Answers a request, or one without its body because that is too long.
pub(super) fn answer(
    door: &Door,
    request: &Request<Option<Bytes>>,
    protection: &Protection,
) -> Response<Bytes> {
    let answer = match request.body() {
        None => Door::too_long(),
        Some(body) => door.answer(&door::Request {
            method: request.method().as_str(),
            path: request.uri().path(),
            query: request.uri().query(),
            vault_token: field(request.headers(), &VAULT_TOKEN),
            authorization: field(request.headers(), &AUTHORIZATION),
            certificate: protection.client_chain.first().map(AsRef::as_ref),
            body,
        }),
    };
    if let Some(problem) = &answer.problem {
        tracing::error!(problem, path = request.uri().path(), "the store failed");
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
