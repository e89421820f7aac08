//! What bounds the time and memory that clients can take: the numbers, and their defaults.

use std::time::Duration;

/// What bounds the time and memory that clients can take.
///
/// Here, an *address* is an IPv4 address, or the first 64 bits of an IPv6 address. If one address floods the
/// server, clients at other addresses are still served, provided that its share is less than all places. This
/// holds if the flood says nothing, never completes a handshake or keeps its connections. Handshakes that are
/// never completed make way for newer ones, however many addresses they come from. Connections past the
/// handshake make way for nobody: if they come from enough addresses, they can take all places until their
/// time is over.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Connections at a time. If all are past the handshake, others wait in the listener's backlog.
    pub connections: usize,
    /// Connections of one address at a time. If all are past the handshake, more are closed at once.
    pub connections_per_address: usize,
    /// Connections in the handshake at a time. One more closes the oldest of the address that has
    /// the most.
    pub handshakes: usize,
    /// Connections of one address in the handshake at a time. One more closes its oldest.
    pub handshakes_per_address: usize,
    /// The time for the TLS handshake.
    pub handshake: Duration,
    /// The time for the head of a request, counted from the end of the request before; with HTTP/2, from the moment
    /// in which no request runs any more.
    pub request_head: Duration,
    /// The time for a connection as a whole. In its last tenth no request begins: the client is told to connect anew.
    pub connection: Duration,
    /// The time for requests that run when the server shuts down.
    pub grace: Duration,
    /// How many bytes `GET /bytes/N` sends and `POST /bytes` takes at most, to measure throughput. By
    /// default 0: there are no such paths.
    pub bytes: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            connections: 1024,
            connections_per_address: 64,
            handshakes: 256,
            handshakes_per_address: 32,
            handshake: Duration::from_secs(10),
            request_head: Duration::from_secs(10),
            connection: Duration::from_secs(300),
            grace: Duration::from_secs(10),
            bytes: 0,
        }
    }
}
