// This room uses `admission`, `configuration`, `connection` and `drain`.

//! A [`Server`] that accepts connections so that clients at one address can't keep others out, and shuts down in order.

mod accept;
#[cfg(feature = "signals")]
mod run;
mod server;

pub use server::Server;
