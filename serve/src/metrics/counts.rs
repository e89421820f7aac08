//! What is counted, and its names. Each label has few values, and none that a client chooses freely.

use std::borrow::Cow;
use std::fmt;
use std::sync::{Arc, OnceLock};

use hyper::Version;
use prometheus_client::encoding::prometheus_text;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::registry::Registry;
use rustls::ProtocolVersion;
use rustls_pq::{Group, Negotiated};

use super::documents::Documents;
use super::recorded;
use crate::configuration::Tls;
use crate::events::{Event, HANDSHAKE_FAILURES, Observer, Observers, REFUSALS};
use crate::revocation::ListsInUse;
use crate::summary::protocol;

type Labels<const N: usize> = [(&'static str, Cow<'static, str>); N];

/// Counts what happens to the connections of a server, and knows whether it is ready.
///
/// Its clones count together. [`ServerBuilder::metrics`](crate::ServerBuilder::metrics) gives it to a server.
#[derive(Clone)]
pub struct Metrics {
    registry: Arc<Registry>,
    counts: Arc<Counts>,
}

#[derive(Default)]
struct Counts {
    accepted: Counter,
    open: Gauge,
    refusals: Family<Labels<1>, Counter>,
    handshakes: Family<Labels<3>, Counter>,
    failures: Family<Labels<1>, Counter>,
    requests: Family<Labels<2>, Counter>,
    running: Gauge,
    serving: Gauge,
    draining: Gauge,
    problem: OnceLock<Box<Problem>>,
}

/// What keeps a program from its work.
type Problem = dyn Fn() -> Option<String> + Send + Sync;

/// The versions of HTTP as labels.
const HTTP: [&str; 3] = ["1.0", "1.1", "2"];
/// The kinds of status as labels.
const STATUS: [&str; 6] = ["2xx", "3xx", "4xx", "5xx", "other", "none"];

/// What whoever distributes requests wants to know.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) enum Health {
    /// No server listens yet, or none any more.
    Starting,
    Ready,
    /// It listens, and can't do its work.
    Failing(String),
    Draining,
}

impl Metrics {
    /// Counts from zero, with all labels that are known: an alert about an increase needs the count before it. Of the
    /// certificates and of the revocation lists in use, the times are shown.
    pub fn new(tls: &Tls, lists: Option<ListsInUse>) -> Self {
        Self::of(Some(tls), lists)
    }

    /// The same for a server of [plain](crate::Server::plain) HTTP alone.
    pub fn plain() -> Self {
        Self::of(None, None)
    }

    /// Has a program say what keeps it from its work although it listens, or nothing: then `/health` answers 503. It is asked
    /// for each request, and must not block. Only the first one counts.
    pub fn ready_if(&self, problem: impl Fn() -> Option<String> + Send + Sync + 'static) {
        let _ = self.counts.problem.set(Box::new(problem));
    }

    fn of(tls: Option<&Tls>, lists: Option<ListsInUse>) -> Self {
        let counts = Counts::default();
        counts.begin(tls);
        let mut registry = Registry::with_prefix("pq_serving");
        registry.register(
            "connections_accepted",
            "Connections",
            counts.accepted.clone(),
        );
        registry.register(
            "connections",
            "Connections that are open",
            counts.open.clone(),
        );
        registry.register(
            "admission_refusals",
            "Connections refused, and handshakes that made way for newer ones",
            counts.refusals.clone(),
        );
        registry.register(
            "handshakes",
            "Handshakes that were completed",
            counts.handshakes.clone(),
        );
        registry.register(
            "handshake_failures",
            "Handshakes that failed",
            counts.failures.clone(),
        );
        registry.register(
            "requests",
            "Requests that were answered, and those that got no answer",
            counts.requests.clone(),
        );
        registry.register(
            "requests_running",
            "Requests that are running",
            counts.running.clone(),
        );
        registry.register(
            "draining",
            "Servers that were told to end and let running requests finish",
            counts.draining.clone(),
        );
        registry.register(
            "serving",
            "Servers that listen and were not told to end",
            counts.serving.clone(),
        );
        let identities = tls.map(|tls| tls.identities.clone());
        registry.register_collector(Box::new(Documents { identities, lists }));
        Self {
            registry: registry.into(),
            counts: counts.into(),
        }
    }

    /// The observer of a server.
    pub(crate) fn observers(&self) -> Observers {
        Observers::one(self.counts.clone())
    }

    pub(super) fn health(&self) -> Health {
        // A server that is told to end counts for a moment in both.
        if self.counts.draining.get() > 0 {
            Health::Draining
        } else if self.counts.serving.get() > 0 {
            let problem = self.counts.problem.get();
            match problem.and_then(|problem| problem()) {
                Some(problem) => Health::Failing(problem),
                None => Health::Ready,
            }
        } else {
            Health::Starting
        }
    }

    /// All counts in the text format of Prometheus.
    pub(super) fn text(&self) -> Result<String, fmt::Error> {
        let mut text = String::new();
        prometheus_text::encode(&mut text, &self.registry)?;
        recorded::append(&mut text)?;
        Ok(text)
    }
}

impl fmt::Debug for Metrics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Metrics").finish_non_exhaustive()
    }
}

impl Counts {
    /// Makes the counts with zero that events can have.
    fn begin(&self, tls: Option<&Tls>) {
        for reason in REFUSALS {
            drop(self.refusals.get_or_create(&[("reason", reason.into())]));
        }
        for reason in HANDSHAKE_FAILURES {
            drop(self.failures.get_or_create(&[("reason", reason.into())]));
        }
        for version in HTTP {
            for status in STATUS {
                drop(self.requests.get_or_create(&request(version, status)));
            }
        }
        let groups = tls.map(|tls| &tls.config.crypto_provider().kx_groups);
        for group in groups.into_iter().flatten() {
            for resumed in [false, true] {
                let group = Some(group.name().into());
                let labels = handshake(ProtocolVersion::TLSv1_3, group, resumed);
                drop(self.handshakes.get_or_create(&labels));
            }
        }
    }

    fn request(&self, version: Version, status: &'static str) {
        let version = match version {
            Version::HTTP_2 => "2",
            Version::HTTP_11 => "1.1",
            _ => "1.0",
        };
        self.requests.get_or_create(&request(version, status)).inc();
    }
}

impl Observer for Counts {
    fn happened(&self, event: Event<'_>) {
        match event {
            Event::Opened => {
                self.accepted.inc();
                self.open.inc();
            }
            Event::Closed => {
                self.open.dec();
            }
            Event::Refused(reason) => {
                debug_assert!(REFUSALS.contains(&reason), "{reason}");
                self.refusals
                    .get_or_create(&[("reason", reason.into())])
                    .inc();
            }
            Event::Handshake(negotiated) => {
                let Negotiated { version, group, .. } = *negotiated;
                let labels = handshake(version, group, negotiated.is_resumed());
                self.handshakes.get_or_create(&labels).inc();
            }
            Event::HandshakeFailed(reason) => {
                debug_assert!(HANDSHAKE_FAILURES.contains(&reason), "{reason}");
                self.failures
                    .get_or_create(&[("reason", reason.into())])
                    .inc();
            }
            Event::Requested => {
                self.running.inc();
            }
            Event::Answered(version, status) => {
                // Handlers choose the status.
                let status = match status.as_u16() / 100 {
                    2 => "2xx",
                    3 => "3xx",
                    4 => "4xx",
                    5 => "5xx",
                    _ => "other",
                };
                self.request(version, status);
            }
            Event::Unanswered(version) => self.request(version, "none"),
            Event::Done => {
                self.running.dec();
            }
            Event::Serving => {
                self.serving.inc();
            }
            Event::Ending => {
                self.serving.dec();
            }
            Event::Draining => {
                self.draining.inc();
            }
            Event::Drained => {
                self.draining.dec();
            }
        }
    }
}

fn request(version: &'static str, status: &'static str) -> Labels<2> {
    [("version", version.into()), ("status", status.into())]
}

fn handshake(version: ProtocolVersion, group: Option<Group>, resumed: bool) -> Labels<3> {
    let group = group.map(|group| group.to_string());
    [
        ("version", protocol(version).into()),
        ("group", group.unwrap_or_default().into()),
        ("resumed", resumed.to_string().into()),
    ]
}
