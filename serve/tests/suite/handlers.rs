//! Handlers of a program's own: what they are told, and that the server's limits hold for them.

use std::convert::Infallible;
use std::future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Instant;

use http_body_util::{BodyExt, Full};
use hyper::body::{Body, Bytes, Frame, Incoming};
use hyper::{Request, Response, StatusCode};
use pq_serving::demonstration::Pki;
use pq_serving::{BoxError, Drained, Identity, Protection, Server, Tls};
use pq_x509::certificate::Certificate;
use tokio::io::AsyncWriteExt;

use crate::client::{read_answer, until_closed};
use crate::hostile::{SHORT, assert_refuses_a_long_head};
use crate::served::{Served, Tells, lasting, patient, telling};

/// Answers with what protects the connection.
async fn tell(request: Request<Incoming>, protection: Arc<Protection>) -> Response<String> {
    let leaf = protection.client_chain.first();
    Response::new(format!(
        "{} {} {:?} {:?} {:?} {}",
        request.uri().path(),
        protection.summary.group,
        protection.summary.signature_scheme,
        protection.server_name,
        leaf.map(|leaf| Certificate::from_der(leaf).unwrap().describe_subject()),
        protection
            .negotiated
            .is_some_and(|one| one.has_pq_authentication()),
    ))
}

#[tokio::test]
async fn a_handler_is_told_what_protects_the_connection() {
    let pki = Pki::issue_with_client(&["localhost".try_into().unwrap()]).unwrap();
    let server = Served::start(pki, |server| server.handler(tell)).await;
    let client = server.client_with(server.pki.client.as_ref());
    let answer = client.ask("GET /path HTTP/1.1").await.unwrap();
    assert_eq!(answer.status(), "200");
    assert_eq!(
        answer.body,
        r#"/path X25519MLKEM768 Some("ML-DSA-65") Some("localhost") Some("CN=tls-client") true"#
    );
}

#[tokio::test]
async fn a_handler_reads_bodies_and_chooses_the_status() {
    async fn echo(request: Request<Incoming>, _: Arc<Protection>) -> Response<Full<Bytes>> {
        let body = request.into_body().collect().await.unwrap().to_bytes();
        let mut response = Response::new(Full::new(body));
        *response.status_mut() = StatusCode::IM_A_TEAPOT;
        response
    }
    let server = Served::with(|server| server.handler(echo)).await;
    let head = "POST / HTTP/1.1\r\nContent-Length: 5";
    let answer = server.client().ask_with_body(head, b"hello").await.unwrap();
    assert_eq!((answer.status(), &*answer.body), ("418", "hello"));
}

/// The page reads no bodies; a handler that does waits no longer for one.
#[tokio::test]
async fn a_body_that_never_comes_ends_with_the_connection() {
    let (tells, mut told) = telling();
    let reads = move |request: Request<Incoming>, _: Arc<Protection>| {
        let tells = tells();
        async move {
            let body = request.into_body().collect().await;
            drop(tells);
            Response::new(format!("{}", body.is_ok()))
        }
    };
    let server = Served::with(|server| server.handler(reads).limits(lasting(SHORT))).await;
    // before the server's own clock starts
    let start = Instant::now();
    let request = "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\nx";
    let tls = told.until_begun(async || server.send(request).await).await;
    assert_eq!(until_closed(tls).await, b"");
    assert!(start.elapsed() >= SHORT);
    told.dropped().await;
}

#[tokio::test]
async fn a_handler_that_never_answers_ends_with_the_connection() {
    let (tells, mut told) = telling();
    let waits = move |_: Request<Incoming>, _: Arc<Protection>| {
        let tells = tells();
        async move {
            let never: Response<String> = future::pending().await;
            drop(tells);
            never
        }
    };
    let server = Served::with(|server| server.handler(waits).limits(lasting(SHORT))).await;
    let tls = told.until_begun(async || server.send(GET).await).await;
    assert_eq!(until_closed(tls).await, b"");
    told.dropped().await;
}

/// An answer without end is asked for no more than what can be sent.
#[tokio::test]
async fn a_client_that_stops_reading_is_cut_off() {
    let (tells, mut told) = telling();
    let endless = move |_: Request<Incoming>, _: Arc<Protection>| {
        let body = Endless { _tells: tells() };
        async move { Response::new(body) }
    };
    let server = Served::with(|server| server.handler(endless).limits(lasting(SHORT))).await;
    let _unread = told.until_begun(async || server.send(GET).await).await;
    told.dropped().await;
}

/// A head that the page would refuse is no request for a handler either.
#[tokio::test]
async fn a_handler_gets_no_head_that_is_too_long() {
    let server = Served::with(|server| server.handler(tell).limits(patient())).await;
    assert_refuses_a_long_head(&server.client()).await;
}

/// The answer can't be completed, and the client can tell that it isn't.
#[tokio::test]
async fn a_body_that_fails_ends_the_connection_alone() {
    async fn fails(_: Request<Incoming>, _: Arc<Protection>) -> Response<Failing> {
        Response::new(Failing)
    }
    let server = Served::with(|server| server.handler(fails)).await;
    for _ in 0..2 {
        let tls = server.send(GET).await.unwrap();
        let answer = until_closed(tls).await;
        assert!(!answer.ends_with(b"0\r\n\r\n"), "{answer:?}");
    }
    assert_eq!(server.server.shutdown().await, Drained { cut_off: 0 });
}

/// Nobody could ever reach it.
#[tokio::test]
async fn a_server_without_a_socket_is_refused() {
    let pki = Pki::issue(&["localhost".try_into().unwrap()]).unwrap();
    let tls = Tls::new(Identity::try_from(&pki.server).unwrap(), &[], None).unwrap();
    let refused = Server::builder(tls).listen(Vec::new()).unwrap_err();
    assert_eq!(refused.kind(), std::io::ErrorKind::InvalidInput);
}

/// Its connection ends, others do not.
#[tokio::test]
async fn a_handler_that_panics_ends_its_connection_alone() {
    async fn panics(request: Request<Incoming>, _: Arc<Protection>) -> Response<String> {
        assert_ne!(request.uri().path(), "/panic");
        Response::new("calm".into())
    }
    let server = Served::with(|server| server.handler(panics)).await;
    let mut other = server.client().connect().await.unwrap();
    server
        .client()
        .ask("GET /panic HTTP/1.1")
        .await
        .unwrap_err();
    other
        .write_all(b"GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
        .await
        .unwrap();
    assert_eq!(read_answer(&mut other).await.unwrap().body, "calm");
}

const GET: &str = "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n";

/// Zeros without end.
pub(crate) struct Endless {
    pub(crate) _tells: Tells,
}

impl Body for Endless {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        Poll::Ready(Some(Ok(Frame::data(Bytes::from_static(&[0; 1 << 14])))))
    }
}

/// Some bytes, and then an error.
struct Failing;

impl Body for Failing {
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(
        self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        Poll::Ready(Some(Err("out of bytes".into())))
    }
}
