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
///
/// With HTTP/2, a connection may have 100 requests at a time, of 128 fields and 16 KiB each as RFC 9113 counts. What the server
/// holds of them is at most, besides what handlers hold:
///
/// | for | heads, pieces of answers | bodies and trailers that no handler has taken | by default |
/// |---|---|---|---|
/// | a request | 64 KiB + 32 KiB | 256 KiB + 96 KiB | |
/// | a connection | 100 × 96 KiB | 5 MiB + 100 × 96 KiB | 24 MiB |
/// | an address | `requests_per_address` × 96 KiB | `connections_per_address` × 5 MiB + `requests_per_address` × 96 KiB | 416 MiB |
/// | all | `requests` × 96 KiB | `connections` × 5 MiB + `requests` × 96 KiB | 5.8 GiB |
///
/// These are for the worst that a client can do, with room to spare, as tests measure it: heads and trailers of many
/// short fields, and bodies in small pieces between other frames. Who has less memory sets fewer `connections` and `requests`.
///
/// A client of HTTP/1.1 has one request, a head of at most 128 KiB and one piece of an answer at a time.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Connections at a time. If all are past the handshake, others wait in the listener's backlog.
    pub connections: usize,
    /// Connections of one address at a time. If all are past the handshake, more are closed at once.
    pub connections_per_address: usize,
    /// Connections in the handshake at a time. One more closes the oldest of the address that has
    /// the most.
    pub handshakes: usize,
    /// Connections of one address in the handshake at a time. One more closes its oldest. By default as many as it may have
    /// connections: clients such as browsers and proxies open many at once.
    pub handshakes_per_address: usize,
    /// Requests that run at a time, until their answers are sent. One more is answered with 503.
    pub requests: usize,
    /// Requests of one address that run at a time. One more is answered with 503.
    pub requests_per_address: usize,
    /// The time for the TLS handshake.
    pub handshake: Duration,
    /// The time for the head of a request, counted from the end of the request before; with HTTP/2, from the moment
    /// in which no request runs any more.
    pub request_head: Duration,
    /// The time for a connection as a whole. In its last tenth the client is told to connect anew, and no request begins;
    /// only a client of HTTP/2 that doesn't acknowledge this begins requests until it is cut off at the end.
    pub connection: Duration,
    /// How long a server that was told to end still accepts connections, by default not at all. Meanwhile its health says
    /// that it ends, so that whoever distributes requests sends them elsewhere, and nobody is refused.
    pub lame_duck: Duration,
    /// The time for requests that run when the server accepts no more. What a client of HTTP/2 begins although it was told
    /// of the end is cut off then, too.
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
            handshakes_per_address: 64,
            requests: 4096,
            requests_per_address: 512,
            handshake: Duration::from_secs(10),
            request_head: Duration::from_secs(10),
            connection: Duration::from_secs(300),
            lame_duck: Duration::ZERO,
            grace: Duration::from_secs(10),
            bytes: 0,
        }
    }
}
