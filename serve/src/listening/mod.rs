//! A [`Server`] that accepts connections so that clients at one address can't keep others out, and shuts down in order.

// This room uses `admission`, `configuration`, `connection`, `drain`, `events`, `http`, `metrics`, `notice` and `sockets`.

mod accept;
mod builder;
mod descriptors;
#[cfg(feature = "signals")]
mod run;
mod server;

pub use builder::ServerBuilder;
pub use descriptors::allow_descriptors;
pub use server::Server;
