//! HTTP/2: requests over the post-quantum handshake, bounds of a connection, and its end.

use std::io;
use std::sync::Arc;
use std::time::{Duration, Instant};

use http_body_util::{BodyExt, Empty, Full};
use hyper::body::{Bytes, Incoming};
use hyper::client::conn::http2::{Connection, SendRequest, handshake};
use hyper::{Request, Response, Version};
use hyper_util::rt::{TokioExecutor, TokioIo};
use pq_serving::{Drained, Limits, Protection};
use rustls::{ClientConfig, RootCertStore};
use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::Semaphore;
use tokio::time::{sleep, timeout};
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

use crate::access::Log;
use crate::client::{PATIENCE, until_closed};
use crate::handlers::Endless;
use crate::hostile::SHORT;
use crate::served::{Event, Served, Told, lasting, patient, telling};

#[tokio::test]
async fn a_request_over_the_post_quantum_handshake() {
    let server = Served::with(|server| server).await;
    let mut client = client(&server).await.unwrap();
    let request = Request::get("https://localhost/").header("accept", "application/json");
    let request = request.body(Empty::new()).unwrap();
    let answer = within(client.send_request(request)).await.unwrap();
    assert_eq!(answer.version(), Version::HTTP_2);
    let page = within(answer.into_body().collect()).await.unwrap();
    let page: Value = serde_json::from_slice(&page.to_bytes()).unwrap();
    assert_eq!(page["alpn"], "h2");
    assert_eq!(page["group"], "X25519MLKEM768");
    assert_eq!(page["signature_scheme"], "ML-DSA-65");
}

/// The head of what GET gets, and no body, as with HTTP/1.1.
#[tokio::test]
async fn an_answer_to_head_has_its_length_and_no_body() {
    let limits = Limits {
        bytes: 1 << 20,
        ..Limits::default()
    };
    let server = Served::with(|server| server.limits(limits)).await;
    for path in ["/", "/bytes/100000"] {
        let mut client = client(&server).await.unwrap();
        let mut lengths = Vec::new();
        for method in ["GET", "HEAD"] {
            let request = Request::builder()
                .method(method)
                .uri(format!("https://localhost{path}"));
            let request = request.body(Empty::new()).unwrap();
            let answer = within(client.send_request(request)).await.unwrap();
            lengths.push(answer.headers()["content-length"].clone());
        }
        assert_eq!(lengths[0], lengths[1]);
    }

    // An empty body may only say that the handler makes none for HEAD.
    let empty = |_: Request<Incoming>, _: Arc<Protection>| {
        std::future::ready(Response::new(Empty::<Bytes>::new()))
    };
    let silent = Served::with(|server| server.handler(empty)).await;
    let request = Request::head("https://localhost/")
        .body(Empty::new())
        .unwrap();
    let mut client = client(&silent).await.unwrap();
    let answer = within(client.send_request(request)).await.unwrap();
    assert!(!answer.headers().contains_key("content-length"));

    let mut raw = Raw::connect(&server).await.unwrap();
    // The method is a field with the name of the second one in the static table.
    let head = [b"\x02\x04HEAD", &GET[1..]].concat();
    raw.send(HEADERS, END_HEADERS | END_STREAM, 1, &head)
        .await
        .unwrap();
    let answer = raw.until(HEADERS).await;
    assert_eq!(answer.flags & END_STREAM, END_STREAM);
}

#[tokio::test]
async fn whoever_offers_http_1_first_gets_http_2_and_others_get_http_1() {
    let server = Served::with(|server| server).await;
    for (offered, chosen) in [
        (&[&b"http/1.1"[..], b"h2"][..], &b"h2"[..]),
        (&[b"http/1.1"], b"http/1.1"),
    ] {
        let tls = connect(&server, offered).await.unwrap();
        assert_eq!(tls.get_ref().1.alpn_protocol(), Some(chosen));
    }
    let page = server.client().page().await.unwrap();
    assert_eq!(page["alpn"], Value::Null);
}

/// All at once, while none of them is answered.
#[tokio::test]
async fn requests_of_one_connection_run_side_by_side() {
    let all = Arc::new(tokio::sync::Barrier::new(20));
    let meet = move |_: Request<Incoming>, _: Arc<Protection>| {
        let all = all.clone();
        async move {
            all.wait().await;
            Response::new("together".to_owned())
        }
    };
    let server = Served::with(|server| server.handler(meet)).await;
    let client = client(&server).await.unwrap();
    let answers: Vec<_> = (0..20).map(|_| tokio::spawn(get(client.clone()))).collect();
    for answer in answers {
        assert_eq!(answer.await.unwrap().unwrap(), "together");
    }
}

/// As with HTTP/1.1: RFC 9113, section 8.3.1.
#[tokio::test]
async fn a_request_is_for_one_host() {
    let server = Served::with(|server| server).await;
    let mut client = client(&server).await.unwrap();
    for (hosts, status) in [
        (&[][..], 200),
        (&["localhost"], 200),
        (&["LOCALHOST"], 200),
        (&["other"], 400),
        (&["localhost", "localhost"], 400),
        (&[""], 400),
    ] {
        let mut request = Request::get("https://localhost/");
        for host in hosts {
            request = request.header("host", *host);
        }
        let request = request.body(Empty::new()).unwrap();
        let answer = within(client.send_request(request)).await.unwrap();
        assert_eq!(answer.status(), status, "{hosts:?}");
    }
    // hyper's client always says for whom.
    let mut raw = Raw::connect(&server).await.unwrap();
    let nobody = &GET[..3];
    raw.send(HEADERS, END_STREAM | END_HEADERS, 1, nobody)
        .await
        .unwrap();
    // Field 12 of the static table is the status 400.
    assert_eq!(raw.until(HEADERS).await.payload[0], 0x80 | 12);
}

/// The server says how many requests may run, and refuses more, which the client may send again.
#[tokio::test]
async fn too_many_streams_are_refused() {
    let (tells, mut told) = telling();
    let waits = move |_: Request<Incoming>, _: Arc<Protection>| {
        let tells = tells();
        async move {
            let never: Response<String> = std::future::pending().await;
            drop(tells);
            never
        }
    };
    let server = Served::with(|server| server.handler(waits)).await;
    let mut raw = Raw::connect(&server).await.unwrap();
    let settings = raw.until(SETTINGS).await;
    let streams = settings.payload.chunks(6).find(|one| one[..2] == [0, 3]);
    assert_eq!(streams.unwrap()[2..], 100_u32.to_be_bytes());

    for stream in 0..101 {
        raw.send(HEADERS, END_HEADERS | END_STREAM, 2 * stream + 1, GET)
            .await
            .unwrap();
    }
    let refused = raw.until(RST_STREAM).await;
    assert_eq!((refused.stream, refused.code(0)), (201, REFUSED_STREAM));
    for _ in 0..100 {
        assert_eq!(told.next().await, Event::Begun);
    }
    // The others go with their connection.
    drop(raw);
    for _ in 0..100 {
        assert_eq!(told.next().await, Event::Dropped);
    }
}

/// However their connection ends: by its own time, by that of the end, or with the server.
#[tokio::test]
async fn requests_end_with_their_connection() {
    enum End {
        Time,
        Grace,
        Drop,
    }
    for end in [End::Time, End::Grace, End::Drop] {
        let (tells, mut told) = telling();
        let waits = move |_: Request<Incoming>, _: Arc<Protection>| {
            let tells = tells();
            async move {
                let never: Response<String> = std::future::pending().await;
                drop(tells);
                never
            }
        };
        let limits = Limits {
            grace: SHORT,
            ..match end {
                End::Time => lasting(SHORT),
                End::Grace | End::Drop => patient(),
            }
        };
        let served = Served::with(|server| server.handler(waits).limits(limits)).await;
        let raw = told
            .until_begun(async || {
                let mut raw = Raw::connect(&served).await?;
                raw.send(HEADERS, END_HEADERS | END_STREAM, 1, GET).await?;
                Ok(raw)
            })
            .await;
        let server = served.server;
        let _kept = match end {
            End::Time => Some(server),
            End::Grace => {
                let drained = within(server.shutdown()).await;
                assert_eq!(drained, Drained { cut_off: 1 });
                None
            }
            End::Drop => {
                drop(server);
                None
            }
        };
        told.dropped().await;
        until_closed(raw.tls).await;
    }
}

/// Whoever asks for one more is told to ask later, over both versions of HTTP; and the places are given back.
#[tokio::test]
async fn one_request_more_than_the_limit_is_told_to_come_back() {
    for (requests, requests_per_address) in [(2, 9), (9, 2)] {
        let (tells, mut told) = telling();
        let go_on = Arc::new(Semaphore::new(0));
        let waits = {
            let go_on = go_on.clone();
            move |_: Request<Incoming>, _: Arc<Protection>| {
                let (_tells, go_on) = (tells(), go_on.clone());
                async move {
                    let _permit = go_on.acquire().await;
                    Response::new("finished".to_owned())
                }
            }
        };
        let limits = Limits {
            requests,
            requests_per_address,
            ..patient()
        };
        let server = Served::with(|server| server.handler(waits).limits(limits)).await;
        let mut client = client(&server).await.unwrap();
        let running: Vec<_> = (0..2).map(|_| tokio::spawn(get(client.clone()))).collect();
        for _ in 0..2 {
            while told.next().await != Event::Begun {}
        }
        let request = Request::get("https://localhost/").body(Empty::new());
        let answer = within(client.send_request(request.unwrap())).await.unwrap();
        assert_eq!(answer.status(), 503);
        assert_eq!(answer.headers()["retry-after"], "1");
        let answer = server.client().ask("GET / HTTP/1.1").await.unwrap();
        assert_eq!(answer.status(), "503");

        go_on.add_permits(1);
        for answer in running {
            assert_eq!(answer.await.unwrap().unwrap(), "finished");
        }
        let start = Instant::now();
        // The server may know a moment later that it has sent all.
        while get(client.clone()).await.unwrap() != "finished" {
            assert!(start.elapsed() < PATIENCE);
        }
    }
}

/// The connection goes on, and the panic is told when it ends if no other request has told it before.
#[tokio::test]
async fn a_panic_is_told_and_ends_its_request_alone() {
    async fn panics(request: Request<Incoming>, _: Arc<Protection>) -> Response<String> {
        assert_ne!(request.uri().path(), "/panic", "as the test wants");
        Response::new("calm".into())
    }
    let (log, _guard) = Log::start();
    let server = Served::with(|server| server.handler(panics)).await;
    let mut client = client(&server).await.unwrap();
    assert_eq!(get(client.clone()).await.unwrap(), "calm");
    let request = Request::get("https://localhost/panic").body(Empty::new());
    within(client.send_request(request.unwrap()))
        .await
        .unwrap_err();
    drop(client);
    within(log.until("serving a request failed")).await;
}

/// CVE-2023-44487: requests that are taken back at once cost their client the connection.
#[tokio::test]
async fn a_flood_of_resets_ends_the_connection() {
    let server = Served::with(|server| server).await;
    let mut raw = Raw::connect(&server).await.unwrap();
    let mut flood = Vec::new();
    // In one record of TLS, so that the server has all of it at once.
    for stream in 0..200 {
        let id = 2 * stream + 1;
        flood.extend(frame(HEADERS, END_HEADERS | END_STREAM, id, GET));
        flood.extend(frame(RST_STREAM, 0, id, &8_u32.to_be_bytes()));
    }
    assert!(flood.len() < 1 << 14);
    raw.send_all(&flood).await.unwrap();
    let away = raw.until(GOAWAY).await;
    assert_eq!(away.code(4), ENHANCE_YOUR_CALM);
    assert_eq!(client_page(&server).await["alpn"], "h2");
}

/// A head whose end never comes is not held in memory.
#[tokio::test]
async fn a_flood_of_continuations_ends_the_connection() {
    let server = Served::with(|server| server.limits(patient())).await;
    let mut raw = Raw::connect(&server).await.unwrap();
    raw.send(HEADERS, END_STREAM, 1, GET).await.unwrap();
    // A field that the client calls never indexed, with a name of one byte and a value of 1,000.
    let field = [&[0x10, 1, b'x', 0x7f, 0xe9, 0x06], &[b'x'; 1000][..]].concat();
    // In one record of TLS, so that nothing is left unread when the server closes.
    let flood = frame(CONTINUATION, 0, 1, &field).repeat(15);
    assert!(flood.len() < 1 << 14);
    raw.send_all(&flood).await.unwrap();
    assert_eq!(raw.until(GOAWAY).await.code(4), ENHANCE_YOUR_CALM);
    assert_eq!(client_page(&server).await["alpn"], "h2");
}

#[tokio::test]
async fn a_head_that_is_too_long_is_refused() {
    let server = Served::with(|server| server).await;
    let mut client = client(&server).await.unwrap();
    let request = Request::get("https://localhost/").header("x", "x".repeat(20_000));
    let answer = client.send_request(request.body(Empty::new()).unwrap());
    assert_eq!(within(answer).await.unwrap().status(), 431);
    let answer = get(client).await.unwrap();
    assert!(answer.contains("X25519MLKEM768"));
}

/// A client that keeps its window shut is cut off, and what would have been sent is dropped.
#[tokio::test]
async fn a_client_that_stops_reading_is_cut_off() {
    let (tells, mut told) = telling();
    let endless = move |_: Request<Incoming>, _: Arc<Protection>| {
        let body = Endless { _tells: tells() };
        async move { Response::new(body) }
    };
    let server = Served::with(|server| server.handler(endless).limits(lasting(SHORT))).await;
    let raw = told
        .until_begun(async || {
            let mut raw = Raw::connect(&server).await?;
            raw.send(HEADERS, END_HEADERS | END_STREAM, 1, GET).await?;
            Ok(raw)
        })
        .await;
    told.dropped().await;
    until_closed(raw.tls).await;
}

#[tokio::test]
async fn an_idle_connection_is_closed() {
    let limits = Limits {
        request_head: SHORT,
        ..Limits::default()
    };
    let server = Served::with(|server| server.limits(limits)).await;
    // before the server's own clock starts
    let start = Instant::now();
    // In order, with GOAWAY, unless this process is stopped for so long that the server waits no more.
    while close_in_order(&server).await.is_none() {
        assert!(start.elapsed() < PATIENCE);
    }
    assert!(start.elapsed() >= SHORT);
}

/// Before its time is over, so that the client begins the next request elsewhere.
#[tokio::test]
async fn a_connection_ends_in_order_before_its_time_is_over() {
    let limits = Limits {
        request_head: 10 * PATIENCE,
        ..lasting(4 * SHORT)
    };
    let server = Served::with(|server| server.limits(limits)).await;
    let start = Instant::now();
    while close_in_order(&server).await.is_none() {
        assert!(start.elapsed() < PATIENCE);
    }
    assert!(start.elapsed() >= 3 * SHORT);
}

/// Neither for the rest of a head nor for an answer to PING.
#[tokio::test]
async fn nobody_is_waited_for_who_is_silent() {
    let limits = Limits {
        request_head: SHORT,
        connection: 10 * PATIENCE,
        ..Limits::default()
    };
    let server = Served::with(|server| server.limits(limits)).await;
    for half_a_head in [false, true] {
        let start = Instant::now();
        let raw = loop {
            let sent = async {
                let mut raw = Raw::connect(&server).await?;
                if half_a_head {
                    raw.send(HEADERS, END_STREAM, 1, GET).await?;
                }
                io::Result::Ok(raw)
            };
            // On a busy machine, the connection may be over before that.
            match sent.await {
                Ok(raw) => break raw,
                Err(error) => assert!(start.elapsed() < PATIENCE, "{error}"),
            }
        };
        until_closed(raw.tls).await;
        assert!(start.elapsed() >= SHORT);
    }
}

/// The client is told, begins no more requests, and gets its answer: however long that takes, within the grace.
#[tokio::test]
async fn a_running_request_is_finished_at_the_end() {
    let (tells, mut told) = telling();
    let go_on = Arc::new(Semaphore::new(0));
    let waits = {
        let go_on = go_on.clone();
        move |_: Request<Incoming>, _: Arc<Protection>| {
            let (tells, go_on) = (tells(), go_on.clone());
            async move {
                let _permit = go_on.acquire().await;
                drop(tells);
                Response::new("finished".to_owned())
            }
        }
    };
    let server = Served::with_grace(|server| server.handler(waits)).await;
    let mut raw = Raw::connect(&server).await.unwrap();
    raw.send(HEADERS, END_HEADERS | END_STREAM, 1, GET)
        .await
        .unwrap();
    let (sender, connection) = connected(&server).await.unwrap();
    let connection = tokio::spawn(connection);
    let answer = tokio::spawn(get(sender));
    for _ in 0..2 {
        assert_eq!(told.next().await, Event::Begun);
    }

    let shutdown = tokio::spawn(server.server.shutdown());
    assert_eq!(raw.until(GOAWAY).await.code(4), 0);
    let ping = raw.until(PING).await;
    raw.send(PING, ACK, 0, &ping.payload).await.unwrap();
    let last = raw.until(GOAWAY).await;
    assert_eq!((last.code(0), last.code(4)), (1, 0));
    // Longer than a client without a request may take.
    sleep(Duration::from_millis(3500)).await;
    assert!(!shutdown.is_finished());

    go_on.add_permits(2);
    assert_eq!(raw.until(DATA).await.payload, b"finished");
    assert_eq!(answer.await.unwrap().unwrap(), "finished");
    assert_eq!(within(shutdown).await.unwrap(), Drained { cut_off: 0 });
    within(connection).await.unwrap().unwrap();
}

/// The bytes of a long answer: more than all buffers hold.
const LONG: usize = 4 << 20;

/// Answers with so many bytes, of which a client whose window is shut gets the first 64 KiB.
fn long_answer() -> (impl pq_serving::Handler, Told) {
    let (tells, told) = telling();
    let handler = move |_: Request<Incoming>, _: Arc<Protection>| {
        drop(tells());
        async move { Response::new(Full::new(Bytes::from(vec![0; LONG]))) }
    };
    (handler, told)
}

/// An answer that waits for its client is no silence.
#[tokio::test]
async fn a_client_that_pauses_gets_the_rest_of_its_answer() {
    let (handler, mut told) = long_answer();
    let limits = Limits {
        request_head: SHORT,
        ..lasting(10 * PATIENCE)
    };
    let server = Served::with(|server| server.handler(handler).limits(limits)).await;
    let mut raw = told
        .until_begun(async || {
            let mut raw = Raw::connect(&server).await?;
            raw.send(HEADERS, END_HEADERS | END_STREAM, 1, GET).await?;
            Ok(raw)
        })
        .await;
    raw.until(HEADERS).await;
    // Longer than a client without a request may take.
    sleep(SHORT + Duration::from_millis(3500)).await;
    raw.read_long_answer().await;
}

/// It has the time of grace, as a handler has.
#[tokio::test]
async fn an_answer_that_is_being_sent_is_finished_at_the_end() {
    let (handler, _told) = long_answer();
    let server = Served::with_grace(|server| server.handler(handler)).await;
    let mut raw = Raw::connect(&server).await.unwrap();
    raw.send(HEADERS, END_HEADERS | END_STREAM, 1, GET)
        .await
        .unwrap();
    raw.until(HEADERS).await;
    let shutdown = tokio::spawn(server.server.shutdown());
    sleep(Duration::from_millis(3500)).await;
    assert!(!shutdown.is_finished());
    raw.read_long_answer().await;
    drop(raw);
    assert_eq!(within(shutdown).await.unwrap(), Drained { cut_off: 0 });
}

/// It answers no PING, and runs no request.
#[tokio::test]
async fn a_silent_client_does_not_delay_the_end() {
    let server = Served::with_grace(|server| server).await;
    let mut raw = Raw::connect(&server).await.unwrap();
    raw.until(SETTINGS).await;
    assert_eq!(
        within(server.server.shutdown()).await,
        Drained { cut_off: 0 }
    );
    assert_eq!(raw.until(GOAWAY).await.code(4), 0);
}

async fn within<T>(future: impl Future<Output = T>) -> T {
    timeout(PATIENCE, future).await.expect("it takes no time")
}

pub(crate) async fn connect(
    server: &Served,
    protocols: &[&[u8]],
) -> io::Result<TlsStream<TcpStream>> {
    let provider = rustls_pq::Builder::with_default_base().unwrap().build();
    let mut roots = RootCertStore::empty();
    roots.add(server.pki.root.der().clone()).unwrap();
    let mut config = ClientConfig::builder_with_provider(provider.unwrap().into())
        .with_protocol_versions(&[&rustls::version::TLS13])
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    config.alpn_protocols = protocols.iter().map(|name| name.to_vec()).collect();
    let tcp = TcpStream::connect(server.server.local_addr()).await?;
    tcp.set_nodelay(true)?;
    let connector = TlsConnector::from(Arc::new(config));
    within(connector.connect("localhost".try_into().unwrap(), tcp)).await
}

type Client = SendRequest<Empty<Bytes>>;

/// A client, and the future that serves it.
async fn connected(
    server: &Served,
) -> io::Result<(
    Client,
    Connection<TokioIo<TlsStream<TcpStream>>, Empty<Bytes>, TokioExecutor>,
)> {
    let tls = connect(server, &[b"h2"]).await?;
    let connected = handshake(TokioExecutor::new(), TokioIo::new(tls)).await;
    connected.map_err(io::Error::other)
}

/// Waits for the end of a connection without a request.
async fn close_in_order(server: &Served) -> Option<()> {
    let (_sender, connection) = connected(server).await.ok()?;
    within(connection).await.ok()
}

async fn client(server: &Served) -> io::Result<Client> {
    let (client, connection) = connected(server).await?;
    tokio::spawn(connection);
    Ok(client)
}

async fn get(mut client: Client) -> hyper::Result<String> {
    let request = Request::get("https://localhost/")
        .body(Empty::new())
        .unwrap();
    let answer = within(client.send_request(request)).await?;
    let body = within(answer.into_body().collect()).await?.to_bytes();
    Ok(String::from_utf8(body.to_vec()).unwrap())
}

async fn client_page(server: &Served) -> Value {
    let mut client = client(server).await.unwrap();
    let request = Request::get("https://localhost/").header("accept", "application/json");
    let answer = within(client.send_request(request.body(Empty::new()).unwrap())).await;
    let body = within(answer.unwrap().into_body().collect()).await.unwrap();
    serde_json::from_slice(&body.to_bytes()).unwrap()
}

/// A client that writes its own frames, and does only what it is told.
pub(crate) struct Raw {
    pub(crate) tls: TlsStream<TcpStream>,
}

/// A frame of RFC 9113, section 4.1.
pub(crate) struct Frame {
    kind: u8,
    flags: u8,
    stream: u32,
    pub(crate) payload: Vec<u8>,
}

pub(crate) const DATA: u8 = 0;
pub(crate) const HEADERS: u8 = 1;
const RST_STREAM: u8 = 3;
const SETTINGS: u8 = 4;
pub(crate) const PING: u8 = 6;
const GOAWAY: u8 = 7;
const WINDOW_UPDATE: u8 = 8;
const CONTINUATION: u8 = 9;

const ACK: u8 = 1;
pub(crate) const END_STREAM: u8 = 1;
pub(crate) const END_HEADERS: u8 = 4;

const REFUSED_STREAM: u32 = 7;
const ENHANCE_YOUR_CALM: u32 = 11;

/// `GET https://localhost/`: three fields of the static table, and the name of a fourth.
const GET: &[u8] = b"\x82\x87\x84\x01\x09localhost";

impl Frame {
    /// The number at this place, such as an error code.
    fn code(&self, at: usize) -> u32 {
        u32::from_be_bytes(self.payload[at..at + 4].try_into().unwrap())
    }
}

pub(crate) fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let length = u32::try_from(payload.len()).unwrap().to_be_bytes();
    let mut frame = length[1..].to_vec();
    frame.extend([kind, flags]);
    frame.extend(stream.to_be_bytes());
    frame.extend(payload);
    frame
}

impl Raw {
    pub(crate) async fn connect(server: &Served) -> io::Result<Self> {
        let mut tls = connect(server, &[b"h2"]).await?;
        let mut preface = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".to_vec();
        preface.extend(frame(SETTINGS, 0, 0, &[]));
        tls.write_all(&preface).await?;
        Ok(Self { tls })
    }

    pub(crate) async fn send(
        &mut self,
        kind: u8,
        flags: u8,
        stream: u32,
        payload: &[u8],
    ) -> io::Result<()> {
        self.send_all(&frame(kind, flags, stream, payload)).await
    }

    /// All of it leaves: what the socket didn't take at once waits in TLS otherwise, until there is
    /// more to write.
    pub(crate) async fn send_all(&mut self, frames: &[u8]) -> io::Result<()> {
        self.tls.write_all(frames).await?;
        self.tls.flush().await
    }

    /// Reads up to a frame of this kind.
    pub(crate) async fn until(&mut self, kind: u8) -> Frame {
        loop {
            let frame = within(self.read()).await.unwrap();
            if frame.kind == kind {
                return frame;
            }
        }
    }

    /// Opens its window, and reads an answer whose head it has.
    async fn read_long_answer(&mut self) {
        for stream in [0, 1] {
            let more = u32::try_from(LONG).unwrap().to_be_bytes();
            self.send(WINDOW_UPDATE, 0, stream, &more).await.unwrap();
        }
        let mut length = 0;
        while length < LONG {
            length += self.until(DATA).await.payload.len();
        }
    }

    async fn read(&mut self) -> io::Result<Frame> {
        let mut head = [0; 9];
        self.tls.read_exact(&mut head).await?;
        let mut payload =
            vec![0; usize::from(head[0]) << 16 | usize::from(head[1]) << 8 | usize::from(head[2])];
        self.tls.read_exact(&mut payload).await?;
        Ok(Frame {
            kind: head[3],
            flags: head[4],
            stream: u32::from_be_bytes(head[5..].try_into().unwrap()),
            payload,
        })
    }
}

/// The log has no more of a client's last words than of any others.
#[tokio::test]
async fn last_words_are_short_in_the_log() {
    let (log, _guard) = Log::start();
    let server = Served::with(|server| server).await;
    let mut raw = Raw::connect(&server).await.unwrap();
    let mut payload = vec![0, 0, 0, 0, 0, 0, 0, 1];
    payload.extend(b"\x07\n forged line".repeat(1000));
    payload.truncate(16 * 1024);
    raw.send(GOAWAY, 0, 0, &payload).await.unwrap();
    within(log.until("\"closed\"")).await;
    let text = log.text();
    let line = text.lines().find(|line| line.contains("\"closed\""));
    let line = line.unwrap();
    assert!(line.contains("forged line"), "{line}");
    assert!(line.len() < 1024, "{line}");
}
