//! What happens to connections and requests, for whoever counts it. What a client has sent is no part of it.

use std::fmt;
use std::sync::Arc;

use rustls_pq::Negotiated;

/// The target of the access log's lines, by which `RUST_LOG` and the log tell them from others.
pub(crate) const ACCESS: &str = "pq_serving::access";

/// Something that happened.
#[derive(Clone, Copy, Debug)]
#[cfg_attr(
    not(feature = "metrics"),
    expect(dead_code, reason = "nobody else looks at the details")
)]
pub(crate) enum Event<'a> {
    /// A connection was accepted.
    Opened,
    /// It is over.
    Closed,
    /// Admission has refused a connection, or taken the place of a handshake, for this reason.
    Refused(&'static str),
    /// A handshake is complete.
    Handshake(&'a Negotiated),
    /// A handshake has failed, for this reason.
    HandshakeFailed(&'static str),
    /// A request has begun.
    Requested,
    /// A request has been answered, by this version of HTTP and with this status. Its body is still to be sent.
    Answered(hyper::Version, hyper::StatusCode),
    /// A request by this version of HTTP is over without an answer: its handler has panicked, or its client or time was gone.
    Unanswered(hyper::Version),
    /// A request is over, answered or not.
    Done,
    /// A server listens.
    Serving,
    /// It doesn't count as ready any more.
    Ending,
    /// A server was told to end.
    Draining,
    /// It is over.
    Drained,
}

/// Why admission refuses, for [`Event::Refused`].
#[cfg(feature = "metrics")]
pub(crate) const REFUSALS: [&str; 3] = ["address", "handshake_of_address", "handshake_of_all"];

/// Why a handshake fails, for [`Event::HandshakeFailed`].
#[cfg(feature = "metrics")]
pub(crate) const HANDSHAKE_FAILURES: [&str; 16] = [
    "alert",
    "client_certificate",
    "client_revocation",
    "connection_lost",
    "no_certificate_for_name",
    "no_client_certificate",
    "no_client_hello",
    "no_shared_cipher_suite",
    "no_shared_group",
    "no_shared_signature_scheme",
    "no_shared_version",
    "not_signed",
    "not_tls",
    "other",
    "server_certificate",
    "timeout",
];

/// Counts what happens.
pub(crate) trait Observer: Send + Sync {
    fn happened(&self, event: Event<'_>);
}

/// The observer of a server, if there is one.
#[derive(Clone, Default)]
pub(crate) struct Observers(Option<Arc<dyn Observer>>);

impl Observers {
    #[cfg(feature = "metrics")]
    pub(crate) fn one(observer: Arc<dyn Observer>) -> Self {
        Self(Some(observer))
    }

    pub(crate) fn tell(&self, event: Event<'_>) {
        if let Some(observer) = &self.0 {
            observer.happened(event);
        }
    }

    /// Tells one event now and another one at the end.
    pub(crate) fn span(&self, begins: Event<'_>, ends: Event<'static>) -> Span {
        self.tell(begins);
        Span {
            observers: self.clone(),
            ends,
        }
    }
}

impl fmt::Debug for Observers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Observers").field(&self.0.is_some()).finish()
    }
}

/// Something that lasts until this is dropped.
pub(crate) struct Span {
    observers: Observers,
    ends: Event<'static>,
}

impl Drop for Span {
    fn drop(&mut self) {
        self.observers.tell(self.ends);
    }
}
