//! The port for those who watch the server: plain HTTP, for this machine or a network that is trusted.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use http_body_util::Full;
use hyper::body::{Bytes, Incoming};
use hyper::header::{CONTENT_TYPE, HeaderValue};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use prometheus_client::encoding::prometheus_text::CONTENT_TYPE as PROMETHEUS;
use tokio::net::{TcpListener, ToSocketAddrs};
use tokio::task::{AbortHandle, JoinHandle, JoinSet};
use tokio::time::timeout;
use tracing::debug;

use super::counts::{Health, Metrics};
use crate::sockets::{Listener, Listeners, Socket};

/// How many connections there may be that have not asked for metrics; one more ends the oldest, so that nobody keeps others
/// out by silence. An answer about health is so short that it waits for nobody.
const CONNECTIONS: usize = 32;
/// How many more may be given metrics, which are long; one more ends the oldest. They leave the others their places.
const METRICS: usize = 8;
/// The time for a connection, which has one request.
const TIME: Duration = Duration::from_secs(10);
/// The time for the head of the request.
const HEAD_TIME: Duration = Duration::from_secs(2);
/// How many bytes the head of a request may have; hyper wants no less.
const MAX_HEAD: usize = 8 * 1024;

/// Answers who watches a server, until it is dropped: `GET /metrics` in the text format of Prometheus, and `GET /health`
/// with 200 while a server listens and none ends, and otherwise with 503. `GET /health/live` is 200 as long as
/// the process answers at all.
///
/// It speaks plain HTTP and asks nobody who they are: let it listen on a loopback address.
#[derive(Debug)]
#[must_use = "it answers until this is dropped"]
pub struct MetricsPort {
    local_addr: Option<SocketAddr>,
    listens_on: Vec<String>,
    answering: JoinHandle<()>,
}

impl Metrics {
    /// Listens for those who watch. Port 0 lets the system choose one.
    ///
    /// # Errors
    ///
    /// The errors of the operating system, such as an address that is in use.
    pub async fn listen(&self, address: impl ToSocketAddrs) -> io::Result<MetricsPort> {
        let listener = TcpListener::bind(address).await?;
        Ok(self.answer_on(vec![listener.into()]))
    }

    /// Answers on these sockets, which [`Listener::open`] has opened.
    pub fn answer_on(&self, listeners: Vec<Listener>) -> MetricsPort {
        MetricsPort {
            local_addr: listeners.iter().find_map(Listener::tcp_address),
            listens_on: listeners.iter().map(Listener::to_string).collect(),
            answering: tokio::spawn(answer_all(self.clone(), listeners.into())),
        }
    }
}

impl MetricsPort {
    /// The address that it listens on; without TCP none, and port 0.
    pub fn local_addr(&self) -> SocketAddr {
        self.local_addr
            .unwrap_or_else(|| (Ipv4Addr::UNSPECIFIED, 0).into())
    }

    /// All that it listens on, in words: `127.0.0.1:9464`, `unix:/run/socket`.
    pub fn listens_on(&self) -> &[String] {
        &self.listens_on
    }
}

impl Drop for MetricsPort {
    fn drop(&mut self) {
        // And with it the connections.
        self.answering.abort();
    }
}

async fn answer_all(metrics: Metrics, mut listeners: Listeners) {
    let mut connections = JoinSet::new();
    let places = Arc::new(Mutex::new(Places::default()));
    loop {
        let (socket, _) = listeners.accept().await;
        while connections.try_join_next().is_some() {}
        let (metrics, of_all) = (metrics.clone(), places.clone());
        // It has its place before it can ask for anything.
        let mut places = lock(&places);
        let id = places.next_id();
        let task = connections.spawn(async move {
            let asked = || lock(&of_all).asks_for_metrics(id);
            if let Err(error) = timeout(TIME, answer_one(&metrics, socket, asked)).await {
                debug!(%error, "who asked for metrics took too long");
            }
        });
        places.waiting.add(id, task, CONNECTIONS);
    }
}

/// Who is connected.
#[derive(Debug, Default)]
struct Places {
    waiting: Queue,
    given_metrics: Queue,
    last_id: u64,
}

impl Places {
    fn next_id(&mut self) -> u64 {
        self.last_id += 1;
        self.last_id
    }

    fn asks_for_metrics(&mut self, id: u64) {
        if let Some(task) = self.waiting.remove(id) {
            self.given_metrics.add(id, task, METRICS);
        }
    }
}

/// Connections, the oldest first.
#[derive(Debug, Default)]
struct Queue(VecDeque<(u64, AbortHandle)>);

impl Queue {
    /// Adds one, and ends the oldest if there are as many already.
    fn add(&mut self, id: u64, task: AbortHandle, most: usize) {
        self.0.retain(|(_, task)| !task.is_finished());
        if self.0.len() >= most
            && let Some((_, oldest)) = self.0.pop_front()
        {
            oldest.abort();
        }
        self.0.push_back((id, task));
    }

    fn remove(&mut self, id: u64) -> Option<AbortHandle> {
        let at = self.0.iter().position(|(other, _)| *other == id)?;
        Some(self.0.remove(at)?.1)
    }
}

fn lock(places: &Mutex<Places>) -> MutexGuard<'_, Places> {
    places.lock().unwrap_or_else(PoisonError::into_inner)
}

/// `asked` is called when somebody asks for metrics.
async fn answer_one(metrics: &Metrics, socket: Socket, asked: impl Fn()) {
    let service = service_fn(async |request: Request<Incoming>| {
        if request.uri().path() == "/metrics" {
            asked();
        }
        Ok::<_, Infallible>(answer(metrics, &request))
    });
    let served = http1::Builder::new()
        .keep_alive(false)
        .max_buf_size(MAX_HEAD)
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD_TIME)
        .serve_connection(TokioIo::new(socket), service);
    if let Err(error) = served.await {
        debug!(%error, "who asked for metrics left");
    }
}

fn answer(metrics: &Metrics, request: &Request<Incoming>) -> Response<Full<Bytes>> {
    const TEXT: &str = "text/plain; charset=utf-8";

    let (status, content_type, body) = match request.uri().path() {
        "/metrics" | "/health" | "/health/live"
            if ![Method::GET, Method::HEAD].contains(request.method()) =>
        {
            (
                StatusCode::METHOD_NOT_ALLOWED,
                TEXT,
                "Only GET and HEAD are allowed\n".into(),
            )
        }
        "/metrics" => match metrics.text() {
            Ok(text) => (StatusCode::OK, PROMETHEUS, text),
            Err(error) => (
                StatusCode::INTERNAL_SERVER_ERROR,
                TEXT,
                format!("{error}\n"),
            ),
        },
        "/health" => match metrics.health() {
            Health::Starting => (StatusCode::SERVICE_UNAVAILABLE, TEXT, "starting\n".into()),
            Health::Ready => (StatusCode::OK, TEXT, "ready\n".into()),
            Health::Failing(problem) => (
                StatusCode::SERVICE_UNAVAILABLE,
                TEXT,
                format!("{problem}\n"),
            ),
            Health::Draining => (StatusCode::SERVICE_UNAVAILABLE, TEXT, "draining\n".into()),
        },
        "/health/live" => (StatusCode::OK, TEXT, "live\n".into()),
        _ => (
            StatusCode::NOT_FOUND,
            TEXT,
            "There is /metrics, /health and /health/live\n".into(),
        ),
    };
    let mut response = Response::new(Full::new(body.into()));
    *response.status_mut() = status;
    let content_type = HeaderValue::from_static(content_type);
    response.headers_mut().insert(CONTENT_TYPE, content_type);
    response
}

#[cfg(test)]
mod tests {
    use std::future::pending;

    use super::*;

    /// Whoever is given metrics has another place than those who say nothing, and neither takes the other's.
    #[tokio::test]
    async fn who_is_given_metrics_waits_no_more() {
        let mut places = Places::default();
        let connect = |places: &mut Places, asks: bool| {
            let id = places.next_id();
            let connection = tokio::spawn(pending::<()>());
            let task = connection.abort_handle();
            places.waiting.add(id, task, CONNECTIONS);
            if asks {
                places.asks_for_metrics(id);
            }
            connection
        };
        let given = [(); METRICS].map(|()| connect(&mut places, true));
        let silent = [(); CONNECTIONS].map(|()| connect(&mut places, false));
        tokio::task::yield_now().await;
        let is_over = |connection: &JoinHandle<()>| connection.is_finished();
        assert!(!given.iter().chain(&silent).any(is_over));

        // One more of either ends the oldest of its kind.
        let _more = [connect(&mut places, false), connect(&mut places, true)];
        let [first, second, ..] = silent;
        let [first_given, ..] = given;
        for over in [first, second, first_given] {
            assert!(over.await.unwrap_err().is_cancelled());
        }
    }
}
