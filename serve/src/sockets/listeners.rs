//! Several sockets that are listened on as one.

use std::future::poll_fn;
use std::io;
use std::task::{Context, Poll};

use super::kind::Kind;
use super::listener::Listener;
use super::stream::{Peer, Socket};

/// The sockets of a server.
#[derive(Debug)]
pub(crate) struct Listeners {
    listeners: Vec<Listener>,
    /// Which one is asked first: each in its turn, so that a busy one keeps no other waiting.
    first: usize,
}

impl From<Vec<Listener>> for Listeners {
    fn from(listeners: Vec<Listener>) -> Self {
        Self {
            listeners,
            first: 0,
        }
    }
}

impl Listeners {
    /// Waits for a client of any of them.
    pub(crate) async fn accept(&mut self) -> io::Result<(Socket, Peer)> {
        poll_fn(|context| self.poll_accept(context)).await
    }

    fn poll_accept(&mut self, context: &mut Context<'_>) -> Poll<io::Result<(Socket, Peer)>> {
        let number = self.listeners.len();
        for at in (self.first..number).chain(0..self.first) {
            let accepted = match &self.listeners[at].0 {
                Kind::Tcp(tcp) => tcp
                    .poll_accept(context)
                    .map_ok(|(tcp, peer)| (Socket::Tcp(tcp), Peer::Tcp(peer))),
                #[cfg(unix)]
                Kind::Unix(unix) => unix
                    .listener
                    .poll_accept(context)
                    .map_ok(|(unix, _)| (Socket::Unix(unix), Peer::Unix)),
            };
            if accepted.is_ready() {
                self.first = (at + 1) % number;
                return accepted;
            }
        }
        Poll::Pending
    }
}
