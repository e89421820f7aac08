//! `http-01`, by a server of our own.

use alloc::collections::BTreeMap;
use alloc::sync::Arc;
use core::convert::Infallible;
use core::net::SocketAddr;

use http_body_util::Full;
use hyper::body::{Bytes, Incoming};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use pq_acme::client::Shown;
use pq_acme::objects::ChallengeKind;

use super::error::ShowingError;
use super::listener::{Listening, listen};

/// Answers challenges of http-01 at an address, until what this returns is dropped.
///
/// # Errors
///
/// [`ShowingError::Listen`] if there can be no server at the address.
pub async fn listen_http_01(
    address: SocketAddr,
    shown: &[Shown],
) -> Result<Listening, ShowingError> {
    let pages = shown.iter().map(|one| {
        let authorization = &one.authorization;
        (authorization.http_path(), authorization.as_str().to_owned())
    });
    let pages: Arc<BTreeMap<String, String>> = Arc::new(pages.collect());
    listen(address, ChallengeKind::Http01, move |stream| {
        let pages = pages.clone();
        let answer = service_fn(move |request: Request<Incoming>| {
            let answer = answer(&request, &pages);
            async { Ok::<_, Infallible>(answer) }
        });
        let connection = http1::Builder::new()
            .keep_alive(false)
            .serve_connection(TokioIo::new(stream), answer);
        // What goes wrong with one connection is for nobody else.
        async { drop(connection.await) }
    })
    .await
}

fn answer(request: &Request<Incoming>, pages: &BTreeMap<String, String>) -> Response<Full<Bytes>> {
    let page = pages.get(request.uri().path());
    let is_read = matches!(*request.method(), Method::GET | Method::HEAD);
    let mut response = Response::new(Full::default());
    match page {
        Some(page) if is_read => *response.body_mut() = Full::from(page.clone()),
        _ => *response.status_mut() = StatusCode::NOT_FOUND,
    }
    response
}
