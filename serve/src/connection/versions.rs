//! The versions of HTTP, each with what bounds the memory and work that one client can ask for.

use std::time::Duration;

use hyper::server::conn::http1;
#[cfg(feature = "http2")]
use hyper::server::conn::http2;
use hyper_util::rt::TokioTimer;

#[cfg(feature = "http2")]
use super::streams::Spawner;
use crate::admission::Limits;

/// How many bytes of a request are held before its head is complete; hyper takes three times as
/// many by default.
const MAX_REQUEST_HEAD: usize = 128 * 1024;

/// hyper adds the time to that of now, which has to be possible.
const LONGEST: Duration = Duration::from_secs(365 * 24 * 60 * 60);

pub(super) fn http1(limits: &Limits) -> http1::Builder {
    let mut http = http1::Builder::new();
    http.max_buf_size(MAX_REQUEST_HEAD)
        .timer(TokioTimer::new())
        .header_read_timeout(limits.request_head.min(LONGEST));
    http
}

/// How many requests of one connection may run at a time: what RFC 9113, section 6.5.2, recommends at least. Clients begin
/// that many before they know the number, and some don't repeat what was refused.
#[cfg(feature = "http2")]
const STREAMS: u32 = 100;
/// How many bytes the fields of a request may take, as RFC 9113, section 6.5.2, counts them. A head in more
/// CONTINUATION frames than that takes ends the connection.
#[cfg(feature = "http2")]
const MAX_HEADER_LIST: u32 = 16 * 1024;
/// How many fields a request may have: a field takes some 170 bytes besides its text, and RFC 9113 counts 32 of them.
/// Browsers send each cookie in a field of its own. With HTTP/1.1, hyper takes 100.
pub(super) const MAX_FIELDS: usize = 128;
/// How many bytes of the requests' bodies of one connection are held before a handler takes them. In small pieces, they
/// take four times as many, by which h2 bounds their number.
#[cfg(feature = "http2")]
const CONNECTION_WINDOW: u32 = 1 << 20;
/// The same for each request.
#[cfg(feature = "http2")]
const STREAM_WINDOW: u32 = 1 << 18;
/// How many bytes of an answer are held before the client takes them; no piece of it is larger.
pub(super) const MAX_SEND_BUFFER: usize = 1 << 14;
/// How many requests a client can reset before a handler has seen them (CVE-2023-44487): one more ends the connection.
#[cfg(feature = "http2")]
const MAX_EARLY_RESETS: usize = 20;
/// How many requests the server can be made to reset, by breaking the protocol (CVE-2025-8671): one more ends the connection.
#[cfg(feature = "http2")]
const MAX_OWN_RESETS: usize = 100;

#[cfg(feature = "http2")]
pub(super) fn http2(spawner: Spawner) -> http2::Builder<Spawner> {
    let mut http = http2::Builder::new(spawner);
    http.max_concurrent_streams(STREAMS)
        .max_header_list_size(MAX_HEADER_LIST)
        .max_frame_size(1 << 14)
        .initial_connection_window_size(CONNECTION_WINDOW)
        .initial_stream_window_size(STREAM_WINDOW)
        .max_send_buf_size(MAX_SEND_BUFFER)
        .max_pending_accept_reset_streams(MAX_EARLY_RESETS)
        .max_local_error_reset_streams(MAX_OWN_RESETS)
        .timer(TokioTimer::new());
    http
}
