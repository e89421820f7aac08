//! The door: Vault's Transit API over a store, asked without a network, by the client, and over TLS.

extern crate alloc;

mod arbitrary;
mod bodies;
mod envelopes;
mod keys;
mod kit;
#[cfg(feature = "remote")]
mod network;
#[cfg(feature = "remote")]
mod remote;
mod rights;
mod signing;
