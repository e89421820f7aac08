//! What a server with post-quantum TLS needs besides rustls.
//!
#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]
#![allow(
    clippy::std_instead_of_alloc,
    clippy::std_instead_of_core,
    reason = "servers have std"
)]

mod admission;
#[cfg(feature = "client")]
pub mod client;
mod configuration;
mod connection;
pub mod demonstration;
mod drain;
mod events;
mod http;
mod identities;
mod lines;
mod listening;
#[cfg(feature = "log")]
pub mod logging;
#[cfg(feature = "metrics")]
mod metrics;
#[cfg(feature = "signals")]
mod notice;
#[cfg(feature = "command-line")]
pub mod options;
mod provider;
#[cfg(feature = "signals")]
mod reload;
mod revocation;
mod sockets;
mod summary;

pub use admission::Limits;
pub use configuration::{Tls, TlsError, client_verifier, roots_from_pem_file};
pub use drain::Drained;
#[cfg(feature = "signals")]
pub use drain::StopSignals;
pub use http::{BoxError, Client, Handler, Page, Protection, WholeRequests, accepts};
pub use identities::Identity;
pub use listening::{Server, ServerBuilder, allow_descriptors};
#[cfg(feature = "metrics")]
pub use metrics::{Metrics, MetricsPort, RecorderInUse, record_facade};
pub use provider::{provider, provider_builder};
#[cfg(feature = "signals")]
pub use reload::reload_on_hangup;
pub use revocation::{
    ListWatcher, ListsInUse, RevocableClients, Revocation, RevocationError, RevocationFiles,
};
pub use sockets::{ListenAddress, ListenAddressError, Listener};
pub use summary::Summary;
