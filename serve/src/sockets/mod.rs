//! Sockets: what a server listens on, and the connections that it accepts there.

// This room uses `lines`.

mod inherited;
mod kind;
mod listener;
mod listeners;
mod stream;
#[cfg(unix)]
mod unix;

pub use listener::{ListenAddress, ListenAddressError, Listener};
pub(crate) use listeners::Listeners;
pub(crate) use stream::Socket;
