//! The door: Vault's Transit API over a store, asked without a network, by the client, and over TLS.

extern crate alloc;

#[cfg(feature = "remote")]
#[path = "../store/amounts.rs"]
mod amounts;
mod arbitrary;
#[path = "../store/around.rs"]
mod around;
mod as_vault;
mod bodies;
mod envelopes;
mod importing;
mod keys;
mod kit;
#[cfg(feature = "remote")]
mod network;
mod page;
mod prompt;
#[cfg(feature = "remote")]
mod remote;
mod rights;
mod rotating;
mod signing;
