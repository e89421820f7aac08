//! Counts for Prometheus, and whether the server is ready, on a port of its own.

// This room uses `configuration`, `events`, `revocation`, `sockets` and `summary`.

mod counts;
mod documents;
mod port;
mod recorded;

pub use counts::Metrics;
pub use port::MetricsPort;
pub use recorded::{RecorderInUse, record_facade};
