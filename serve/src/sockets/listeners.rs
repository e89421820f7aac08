//! Several sockets that are listened on as one.

use std::future::poll_fn;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::{Duration, Instant};

use tokio::time::{Sleep, sleep};
use tracing::{debug, warn};

use super::kind::Kind;
use super::listener::Listener;
use super::stream::{Peer, Socket};
use crate::lines::LineLimit;

/// The sockets of a server.
#[derive(Debug)]
pub(crate) struct Listeners {
    listeners: Vec<Paused>,
    /// Which one is asked first: each in its turn, so that a busy one keeps no other waiting.
    first: usize,
}

/// A socket that is not asked for a time after it has failed.
#[derive(Debug)]
struct Paused {
    listener: Listener,
    until: Option<Pin<Box<Sleep>>>,
    pauses: Pauses,
    lines: LineLimit,
}

/// How long to pause after each failure.
#[derive(Debug, Default)]
struct Pauses {
    /// The last one, and when it began.
    last: Option<(Duration, Instant)>,
}

impl Pauses {
    /// The one that begins now. Each is twice as long as the one before, unless that is long ago:
    /// where descriptors are short, some clients are accepted between two failures.
    fn next(&mut self, now: Instant) -> Duration {
        const FIRST: Duration = Duration::from_millis(5);
        const LONGEST: Duration = Duration::from_secs(1);
        const LONG_AGO: Duration = Duration::from_secs(10);

        let recent = self
            .last
            .filter(|(_, began)| now.duration_since(*began) < LONG_AGO);
        let next = recent.map_or(FIRST, |(last, _)| (last * 2).min(LONGEST));
        self.last = Some((next, now));
        next
    }
}

impl From<Vec<Listener>> for Listeners {
    fn from(listeners: Vec<Listener>) -> Self {
        let listeners = listeners.into_iter().map(|listener| Paused {
            listener,
            until: None,
            pauses: Pauses::default(),
            lines: LineLimit::default(),
        });
        Self {
            listeners: listeners.collect(),
            first: 0,
        }
    }
}

impl Listeners {
    /// Waits for a client of any of them. It never fails: errors of accept(2) concern one client, or pass when others leave
    /// and free their descriptors.
    pub(crate) async fn accept(&mut self) -> (Socket, Peer) {
        poll_fn(|context| self.poll_accept(context)).await
    }

    fn poll_accept(&mut self, context: &mut Context<'_>) -> Poll<(Socket, Peer)> {
        let number = self.listeners.len();
        for at in (self.first..number).chain(0..self.first) {
            if let Poll::Ready(accepted) = self.listeners[at].poll_accept(context) {
                self.first = (at + 1) % number;
                return Poll::Ready(accepted);
            }
        }
        Poll::Pending
    }
}

impl Paused {
    fn poll_accept(&mut self, context: &mut Context<'_>) -> Poll<(Socket, Peer)> {
        loop {
            if let Some(until) = &mut self.until {
                ready!(until.as_mut().poll(context));
                self.until = None;
            }
            match ready!(self.listener.poll_accept(context)) {
                Ok(accepted) => return Poll::Ready(accepted),
                Err(error) if is_about_one_client(&error) => debug!(%error, "a client left early"),
                Err(error) => {
                    let pause = self.pauses.next(Instant::now());
                    if let Some(left_out) = self.lines.next_line() {
                        let left_out = (left_out > 0).then_some(left_out);
                        let listener = &self.listener;
                        warn!(%listener, %error, ?pause, left_out, "can't accept connections for now");
                    }
                    self.until = Some(Box::pin(sleep(pause)));
                }
            }
        }
    }
}

impl Listener {
    fn poll_accept(&self, context: &mut Context<'_>) -> Poll<io::Result<(Socket, Peer)>> {
        match &self.0 {
            Kind::Tcp(tcp) => tcp
                .poll_accept(context)
                .map_ok(|(tcp, peer)| (Socket::Tcp(tcp), Peer::Tcp(peer))),
            #[cfg(unix)]
            Kind::Unix(unix) => unix
                .listener
                .poll_accept(context)
                .map_ok(|(unix, _)| (Socket::Unix(unix), Peer::Unix)),
        }
    }
}

fn is_about_one_client(error: &io::Error) -> bool {
    use io::ErrorKind::{ConnectionAborted, ConnectionReset, Interrupted};
    [ConnectionAborted, ConnectionReset, Interrupted].contains(&error.kind())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Where one client leaves now and then, and another one takes its descriptor, every second accept(2) fails.
    #[test]
    fn a_client_between_two_failures_makes_no_pause_shorter() {
        let start = Instant::now();
        let mut pauses = Pauses::default();
        let mut now = start;
        for _ in 0..1000 {
            now += pauses.next(now);
        }
        assert!(now - start > Duration::from_secs(900));
        let pauses = [0, 10, 20].map(|seconds| pauses.next(now + Duration::from_secs(seconds)));
        assert_eq!(pauses, [1000, 5, 5].map(Duration::from_millis));
    }

    /// However many wait at one, the next one to be accepted is another one's.
    #[tokio::test]
    async fn sockets_take_turns() {
        use tokio::net::TcpStream;

        const CLIENTS: usize = 4;
        let mut listeners = Vec::new();
        let mut clients = Vec::new();
        for _ in 0..3 {
            let listener = Listener::bind("127.0.0.1:0").await.unwrap();
            let address = listener.tcp_address().unwrap();
            for _ in 0..CLIENTS {
                clients.push(TcpStream::connect(address).await.unwrap());
            }
            listeners.push(listener);
        }
        // The runtime learns meanwhile who waits.
        sleep(Duration::from_millis(20)).await;
        let mut listeners = Listeners::from(listeners);
        let mut at = Vec::new();
        for _ in 0..clients.len() {
            let (socket, _) = listeners.accept().await;
            let Socket::Tcp(tcp) = socket else {
                panic!("a Unix socket");
            };
            at.push(tcp.local_addr().unwrap());
        }
        for turn in at.chunks(3) {
            assert_eq!(turn, &at[..3]);
        }
        at.dedup();
        assert_eq!(at.len(), clients.len());
    }
}
