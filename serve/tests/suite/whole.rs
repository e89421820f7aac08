//! Whole requests: who sends them is asked before their bodies are read, all bodies have bounded room, and whoever is gone is
//! worked for no longer.

use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll};
use std::thread::{self, available_parallelism};
use std::time::{Duration, Instant};

use http_body_util::{BodyExt, Full};
use hyper::body::{Body, Bytes, Frame, Incoming};
use hyper::client::conn::http2::{SendRequest, handshake};
use hyper::http::request::Parts;
use hyper::{Request, Response, StatusCode};
use hyper_util::rt::{TokioExecutor, TokioIo};
use pq_serving::{Client, Protection, WholeRequests};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::sync::Semaphore;
use tokio::task::JoinHandle;
use tokio::time::{sleep, timeout};

use crate::client::{PATIENCE, read_answer};
use crate::http2::connect;
use crate::served::{Served, patient};

/// Few of them fit into the window of a connection.
const BODY: usize = 64 * 1024;

fn response(status: u16) -> Response<Bytes> {
    let mut response = Response::new(Bytes::new());
    *response.status_mut() = StatusCode::from_u16(status).unwrap();
    response
}

/// Whoever has a name is known by it.
fn who(head: &Parts, _: &Protection) -> Result<String, Box<Response<Bytes>>> {
    let name = head
        .headers
        .get("name")
        .ok_or_else(|| Box::new(response(403)))?;
    Ok(name.to_str().unwrap().to_owned())
}

/// A client of HTTP/2, which has many requests in one connection.
async fn client(server: &Served) -> SendRequest<Full<Bytes>> {
    let tls = connect(server, &[b"h2"]).await.unwrap();
    let (client, connection) = handshake(TokioExecutor::new(), TokioIo::new(tls))
        .await
        .unwrap();
    tokio::spawn(connection);
    client
}

/// Sends a body, and returns the status.
fn post(client: &SendRequest<Full<Bytes>>, name: Option<&str>, len: usize) -> JoinHandle<u16> {
    let mut request = Request::post("https://localhost/");
    if let Some(name) = name {
        request = request.header("name", name);
    }
    let request = request.body(Full::new(vec![b'x'; len].into())).unwrap();
    let mut client = client.clone();
    tokio::spawn(async move {
        let answer = timeout(PATIENCE, client.send_request(request)).await;
        let answer = answer.unwrap().unwrap();
        let status = answer.status().as_u16();
        let _: Result<_, _> = answer.into_body().collect().await;
        status
    })
}

/// Waits until something is so.
async fn until(what: &str, is_so: impl Fn() -> bool) {
    let started = Instant::now();
    while !is_so() {
        assert!(started.elapsed() < PATIENCE, "{what}");
        sleep(Duration::from_millis(10)).await;
    }
}

/// A handler whose answers wait until somebody lets them go, and how many of them run.
struct Held {
    running: Arc<AtomicUsize>,
    go: Arc<Semaphore>,
}

impl Held {
    fn new() -> Self {
        Self {
            running: Arc::default(),
            go: Semaphore::new(0).into(),
        }
    }

    fn answer(
        &self,
    ) -> impl Fn(Request<Option<Bytes>>, &Protection, &Client) -> Response<Bytes> + Send + Sync + 'static
    {
        let (running, go) = (self.running.clone(), self.go.clone());
        move |_: Request<Option<Bytes>>, _: &Protection, client: &Client| {
            running.fetch_add(1, Ordering::SeqCst);
            while go.available_permits() == 0 && !client.is_gone() {
                thread::sleep(Duration::from_millis(5));
            }
            running.fetch_sub(1, Ordering::SeqCst);
            response(200)
        }
    }

    fn running(&self) -> usize {
        self.running.load(Ordering::SeqCst)
    }
}

#[tokio::test]
async fn bodies_of_nobody_are_not_read() {
    let held = Held::new();
    held.go.add_permits(1);
    let handler = WholeRequests::new(BODY, 4, held.answer()).only_for(who);
    let server = Served::with(|server| server.limits(patient()).handler(handler)).await;
    // More than the window of a connection, so that a body which is read would not come to its end otherwise.
    let client = client(&server).await;
    let posts: Vec<_> = (0..40).map(|_| post(&client, None, BODY)).collect();
    for post in posts {
        assert_eq!(post.await.unwrap(), 403);
    }
    assert_eq!(post(&client, Some("a"), BODY).await.unwrap(), 200);

    // The answer comes though the body never does.
    let head = "POST / HTTP/1.1\r\nContent-Length: 9";
    let client = server.client();
    let answer = timeout(PATIENCE, client.ask_with_body(head, b"x"));
    let answer = answer.await.unwrap().unwrap();
    assert_eq!(answer.status(), "403");
    assert_eq!(answer.header("connection"), Some("close"));
}

/// What is answered at once: a body of one byte, if there may be an answer of so many bytes.
fn prompt(
    len: usize,
) -> impl Fn(&Request<Option<Bytes>>, &Protection, &Client) -> Option<Response<Bytes>> {
    move |request, _, client| {
        let is_short = request.body().as_ref().is_some_and(|body| body.len() == 1);
        let is_prompt = is_short && client.reserve(len) && !client.is_gone();
        is_prompt.then(|| response(201).map(|_| vec![b'x'; len].into()))
    }
}

/// The runtime of this test has one thread.
#[tokio::test]
async fn prompt_answers_wait_for_no_thread() {
    let held = Held::new();
    let handler = WholeRequests::new(BODY, 2, held.answer())
        .only_for(who)
        .promptly(prompt(16 * 1024));
    let server = Served::with(|server| server.limits(patient()).handler(handler)).await;
    let client = client(&server).await;
    assert_eq!(post(&client, Some("a"), 1).await.unwrap(), 201);
    assert_eq!(post(&client, None, 1).await.unwrap(), 403);
    // This one has the only place of its client, and a thread.
    let slow = post(&client, Some("a"), 2);
    until("one runs", || held.running() == 1).await;
    let waiting = post(&client, Some("a"), 1);
    for _ in 0..10 {
        assert_eq!(post(&client, Some("b"), 1).await.unwrap(), 201);
    }
    assert!(!waiting.is_finished() && held.running() == 1);
    held.go.add_permits(1);
    assert_eq!(slow.await.unwrap(), 200);
    assert_eq!(waiting.await.unwrap(), 201);
    // A body that is too long is none.
    assert_eq!(post(&client, Some("a"), BODY + 1).await.unwrap(), 200);
}

/// Others have the rest of the CPUs for their prompt answers.
#[test]
fn one_sender_has_half_of_the_cpus() {
    let cpus = available_parallelism().unwrap().get();
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(cpus + 2)
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(async {
        let (begun, go) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
        let promptly = {
            let (begun, go) = (begun.clone(), go.clone());
            move |request: &Request<Option<Bytes>>, _: &Protection, _: &Client| {
                if request.headers()["name"] == "a" {
                    begun.fetch_add(1, Ordering::SeqCst);
                    let since = Instant::now();
                    while go.load(Ordering::SeqCst) == 0 && since.elapsed() < PATIENCE {
                        thread::sleep(Duration::from_millis(1));
                    }
                }
                Some(response(201))
            }
        };
        let held = Held::new();
        held.go.add_permits(1);
        let handler = WholeRequests::new(BODY, 100, held.answer())
            .only_for(who)
            .promptly(promptly);
        let server = Served::with(|server| server.limits(patient()).handler(handler)).await;
        // By connections of their own, as the thread of one that waits may have others to wake.
        let posted = async |name| post(&client(&server).await, Some(name), 1);
        let share = cpus.div_ceil(2);
        let mut prompt = Vec::new();
        for _ in 0..share {
            prompt.push(posted("a").await);
        }
        until("its share works", || begun.load(Ordering::SeqCst) == share).await;
        assert_eq!(posted("a").await.await.unwrap(), 200);
        if share < cpus {
            assert_eq!(posted("b").await.await.unwrap(), 201);
        }
        assert_eq!(begun.load(Ordering::SeqCst), share);
        go.store(1, Ordering::SeqCst);
        for answer in prompt {
            assert_eq!(answer.await.unwrap(), 201);
        }
        assert_eq!(posted("a").await.await.unwrap(), 201);
    });
}

#[tokio::test]
async fn a_panic_ends_one_request_alone() {
    let answer = |_: Request<Option<Bytes>>, _: &Protection, _: &Client| panic!("slowly");
    let panics = |request: &Request<Option<Bytes>>, _: &Protection, _: &Client| {
        let len = request.body().as_ref().map_or(0, Bytes::len);
        assert_ne!(len, 1, "promptly");
        (len == 2).then(|| Response::new(Bytes::new()))
    };
    let handler = WholeRequests::new(BODY, 2, answer).promptly(panics);
    let server = Served::with(|server| server.limits(patient()).handler(handler)).await;
    let client = client(&server).await;
    for (len, status) in [(1, 500), (2, 200), (3, 500), (1, 500), (2, 200)] {
        assert_eq!(post(&client, None, len).await.unwrap(), status);
    }
}

#[tokio::test]
async fn a_prompt_answer_is_short() {
    let held = Held::new();
    held.go.add_permits(1);
    let handler = WholeRequests::new(BODY, 2, held.answer()).promptly(prompt(16 * 1024 + 1));
    let server = Served::with(|server| server.limits(patient()).handler(handler)).await;
    let client = client(&server).await;
    // There is no room for it, so it comes from a thread.
    assert_eq!(post(&client, None, 1).await.unwrap(), 200);
}

/// More than the buffers of a connection hold, and no more than is dropped.
const LONG: usize = 14 << 20;

/// 413 to bodies that are too long.
fn short_only(request: Request<Option<Bytes>>, _: &Protection, _: &Client) -> Response<Bytes> {
    match request.body() {
        Some(_) => response(200),
        None => response(413).map(|_| "too long".into()),
    }
}

/// A server that takes short bodies of those it knows.
async fn short_bodies() -> Served {
    let handler = WholeRequests::new(BODY, 4, short_only).only_for(who);
    Served::with(|server| server.limits(patient()).handler(handler)).await
}

#[tokio::test]
async fn who_reads_after_sending_all_sees_the_refusal() {
    let server = short_bodies().await;
    let length = format!("Content-Length: {LONG}");
    let chunked = "Transfer-Encoding: chunked";
    let expecting = format!("{length}\r\nExpect: 100-continue");
    for (name, fields, status) in [
        ("Name: a", length.as_str(), "413"),
        ("Name: a", chunked, "413"),
        ("Name: a", &expecting, "413"),
        ("Other: a", &length, "403"),
        ("Other: a", chunked, "403"),
        ("Other: a", &expecting, "403"),
    ] {
        let head = format!("POST / HTTP/1.1\r\nHost: localhost\r\n{name}\r\n{fields}\r\n\r\n");
        let mut tls = server.send(&head).await.unwrap();
        let sending = async {
            if fields == chunked {
                tls.write_all(format!("{LONG:x}\r\n").as_bytes()).await?;
            }
            tls.write_all(&vec![b'x'; LONG]).await?;
            if fields == chunked {
                tls.write_all(b"\r\n0\r\n\r\n").await?;
            }
            tls.flush().await
        };
        let sent = timeout(PATIENCE, sending).await.unwrap();
        sent.unwrap_or_else(|error| panic!("{name}, {fields}: {error}"));
        // It is the first answer, so that no `100 Continue` asked for the body.
        let answer = read_answer(&mut tls).await.unwrap();
        assert_eq!(answer.status(), status, "{name}, {fields}");
        assert_eq!(answer.header("connection"), Some("close"));
    }
}

/// So many bytes, which counts those that were taken.
struct Counted {
    left: usize,
    taken: Arc<AtomicUsize>,
}

impl Body for Counted {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let len = self.left.min(BODY);
        self.left -= len;
        self.taken.fetch_add(len, Ordering::SeqCst);
        Poll::Ready((len > 0).then(|| Ok(Frame::data(vec![b'x'; len].into()))))
    }
}

#[tokio::test]
async fn with_http2_the_rest_of_a_refused_body_is_taken() {
    let server = short_bodies().await;
    for (name, status) in [("name", 413), ("other", 403)] {
        let tls = connect(&server, &[b"h2"]).await.unwrap();
        let (mut client, connection) = handshake(TokioExecutor::new(), TokioIo::new(tls))
            .await
            .unwrap();
        tokio::spawn(connection);
        let taken = Arc::new(AtomicUsize::new(0));
        let body = Counted {
            left: LONG,
            taken: taken.clone(),
        };
        let request = Request::post("https://localhost/").header(name, "a");
        let request = request.body(body).unwrap();
        let answer = timeout(PATIENCE, client.send_request(request)).await;
        assert_eq!(answer.unwrap().unwrap().status(), status);
        // A reset of the stream would end it.
        until("all is taken", || taken.load(Ordering::SeqCst) == LONG).await;
    }
}

#[tokio::test]
async fn a_body_without_end_is_not_taken_for_ever() {
    let server = short_bodies().await;
    let length = 1_u64 << 40;
    let head = format!("POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: {length}\r\n\r\n");
    let mut tls = server.send(&head).await.unwrap();
    let mut sent = 0;
    let sending = async {
        while tls.write_all(&[b'x'; BODY]).await.is_ok() {
            sent += BODY;
        }
    };
    timeout(PATIENCE, sending).await.unwrap();
    // With what buffers hold.
    assert!((LONG..8 * LONG).contains(&sent), "{sent}");
}

#[tokio::test]
async fn all_bodies_have_bounded_room_and_no_client_takes_all() {
    let held = Held::new();
    let handler = WholeRequests::new(BODY, 100, held.answer())
        .only_for(who)
        .bodies_len(8 * BODY);
    let server = Served::with(|server| server.limits(patient()).handler(handler)).await;
    let client = client(&server).await;
    let of_one: Vec<_> = (0..10).map(|_| post(&client, Some("a"), BODY)).collect();
    // One client has half of the room.
    until("four run", || held.running() == 4).await;
    let other = self::client(&server).await;
    let of_other: Vec<_> = (0..3).map(|_| post(&other, Some("b"), BODY)).collect();
    until("seven run", || held.running() == 7).await;
    // Requests without bodies need no room.
    let without = post(&other, Some("a"), 0);
    until("eight run", || held.running() == 8).await;
    // Those that wait too long are told to come back.
    let finished = || of_one.iter().filter(|post| post.is_finished()).count();
    until("six are told", || finished() == 6).await;
    assert_eq!(held.running(), 8);
    held.go.add_permits(1);
    let mut statuses = Vec::new();
    for post in of_one {
        statuses.push(post.await.unwrap());
    }
    statuses.sort_unstable();
    assert_eq!(statuses, [[200; 4].as_slice(), &[503; 6]].concat());
    for post in of_other {
        assert_eq!(post.await.unwrap(), 200);
    }
    assert_eq!(without.await.unwrap(), 200);
    // And there is room again.
    assert_eq!(post(&client, Some("a"), BODY).await.unwrap(), 200);
}

#[tokio::test]
async fn no_client_has_all_places_and_who_is_gone_has_none() {
    let held = Held::new();
    let handler = WholeRequests::new(BODY, 8, held.answer()).only_for(who);
    let server = Served::with(|server| server.limits(patient()).handler(handler)).await;
    let client = client(&server).await;
    let posts: Vec<_> = (0..20).map(|_| post(&client, Some("a"), 1)).collect();
    until("four run", || held.running() == 4).await;
    let other = self::client(&server).await;
    let of_other = post(&other, Some("b"), 1);
    until("five run", || held.running() == 5).await;
    // Neither those that run are worked on nor those that wait, once the client is gone.
    for post in &posts {
        post.abort();
    }
    drop((client, posts));
    until("one runs", || held.running() == 1).await;
    sleep(Duration::from_millis(200)).await;
    assert_eq!(held.running(), 1);
    held.go.add_permits(1);
    assert_eq!(of_other.await.unwrap(), 200);
}

/// A body of unknown length has the room of the longest.
#[cfg(target_pointer_width = "64")]
#[tokio::test]
async fn bodies_may_have_more_than_4_gib() {
    let held = Held::new();
    held.go.add_permits(1);
    let handler = WholeRequests::new(5 << 30, 4, held.answer());
    let server = Served::with(|server| server.limits(patient()).handler(handler)).await;
    let client = server.client();
    let head = "POST / HTTP/1.1\r\nTransfer-Encoding: chunked";
    let answer = client.ask_with_body(head, b"1\r\nx\r\n0\r\n\r\n");
    let answer = timeout(PATIENCE, answer).await.unwrap().unwrap();
    assert_eq!(answer.status(), "200");
}

/// More than sockets and the windows of HTTP/2 hold.
const ANSWER: usize = 16 << 20;

/// Answers with `ANSWER` bytes for each of the body's, which take twice as much while they are made, or with 503 if there is no room
/// for that.
fn long_answer(
    request: Request<Option<Bytes>>,
    _: &Protection,
    client: &Client,
) -> Response<Bytes> {
    let len = request.body().as_ref().unwrap().len() * ANSWER;
    // What is reserved first is given back.
    match client.reserve(2 * len) && client.reserve(2 * len) {
        true => response(200).map(|_| vec![b'x'; len].into()),
        false => response(503),
    }
}

/// Sends a body, and returns the answer, of which nothing is read yet.
async fn unread(client: &SendRequest<Full<Bytes>>, name: &str, len: usize) -> Response<Incoming> {
    let request = Request::post("https://localhost/").header("name", name);
    let request = request.body(Full::new(vec![b'x'; len].into())).unwrap();
    let answer = timeout(PATIENCE, client.clone().send_request(request)).await;
    answer.unwrap().unwrap()
}

#[tokio::test]
async fn long_answers_have_bounded_room_until_they_are_read() {
    let handler = WholeRequests::new(BODY, 100, long_answer)
        .only_for(who)
        .answers_len(8 * ANSWER);
    let server = Served::with(|server| server.limits(patient()).handler(handler)).await;
    let client = client(&server).await;
    // One client has half of the room. For two answers and one that is made there is just enough in it.
    let mut held = Vec::new();
    for _ in 0..3 {
        let answer = unread(&client, "a", 1).await;
        assert_eq!(answer.status(), 200);
        held.push(answer);
    }
    let fourth = unread(&client, "a", 1);
    let of_other = async {
        let head = "POST / HTTP/1.1\r\nHost: localhost\r\nName: b\r\nContent-Length: 1\r\n\r\nx";
        let mut tls = server.send(head).await.unwrap();
        let mut begin = [0; 12];
        let read = timeout(PATIENCE, tls.read_exact(&mut begin)).await;
        read.unwrap().unwrap();
        (tls, begin)
    };
    let (fourth, (of_other, begin)) = tokio::join!(fourth, of_other);
    assert_eq!(fourth.status(), 503);
    assert_eq!(&begin, b"HTTP/1.1 200");
    // Short ones need no room.
    assert_eq!(unread(&client, "a", 0).await.status(), 200);
    let read = held.pop().unwrap().into_body().collect();
    let read = timeout(PATIENCE, read).await.unwrap().unwrap();
    assert_eq!(read.to_bytes().len(), ANSWER);
    assert_eq!(unread(&client, "a", 1).await.status(), 200);
    // Whoever goes away holds nothing, and what is more than a share is all of it.
    drop((held, client, of_other));
    let other = self::client(&server).await;
    assert_eq!(unread(&other, "b", 3).await.status(), 200);
    assert_eq!(unread(&other, "a", 3).await.status(), 200);
}

#[tokio::test]
async fn who_reads_a_long_answer_too_slowly_loses_the_connection() {
    let handler = WholeRequests::new(BODY, 100, long_answer)
        .only_for(who)
        .answers_len(4 * ANSWER)
        .departure(Duration::from_secs(5));
    let server = Served::with(|server| server.limits(patient()).handler(handler)).await;
    let client = client(&server).await;
    // One that is read in time ends nothing.
    let read = unread(&client, "a", 1).await.into_body().collect();
    timeout(PATIENCE, read).await.unwrap().unwrap();
    sleep(Duration::from_secs(6)).await;
    let slow = unread(&client, "a", 2).await;
    assert_eq!(slow.status(), 200);
    // There is room once that connection is over.
    let other = self::client(&server).await;
    assert_eq!(unread(&other, "a", 2).await.status(), 200);
    let read = timeout(PATIENCE, slow.into_body().collect()).await;
    read.unwrap().unwrap_err();
}
