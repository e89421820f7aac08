//! One connection, from its first byte to its last: the handshake, the requests, and why it ended.

// This room uses `admission`, `configuration`, `events`, `http`, `lines`, `sockets` and `summary`.

mod access;
mod deadlines;
mod error;
mod handshake;
mod offloaded;
mod overheard;
mod requests;
mod serve;
#[cfg(feature = "http2")]
mod streams;
mod versions;

pub(crate) use error::ConnectionError;
pub(crate) use serve::{Connection, ConnectionLog};
