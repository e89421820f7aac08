//! Several sockets that are listened on as one.

use std::future::poll_fn;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::time::{Sleep, sleep};
use tracing::{debug, warn};

use super::kind::Kind;
use super::listener::Listener;
use super::stream::{Peer, Socket};

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
    next_pause: Duration,
}

const FIRST_PAUSE: Duration = Duration::from_millis(5);
const LONGEST_PAUSE: Duration = Duration::from_secs(1);

impl From<Vec<Listener>> for Listeners {
    fn from(listeners: Vec<Listener>) -> Self {
        let listeners = listeners.into_iter().map(|listener| Paused {
            listener,
            until: None,
            next_pause: FIRST_PAUSE,
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
                Ok(accepted) => {
                    self.next_pause = FIRST_PAUSE;
                    return Poll::Ready(accepted);
                }
                Err(error) if is_about_one_client(&error) => debug!(%error, "a client left early"),
                Err(error) => {
                    let pause = self.next_pause;
                    let listener = &self.listener;
                    warn!(%listener, %error, ?pause, "can't accept connections for now");
                    self.until = Some(Box::pin(sleep(pause)));
                    self.next_pause = (pause * 2).min(LONGEST_PAUSE);
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
