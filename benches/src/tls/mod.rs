//! Whole TLS connections, with our provider and with others: through memory, and through TCP.
//!
//! Uses [`timing`](crate::timing), and of [`peers`](crate::peers) OpenSSL's program.

pub mod account;
pub mod handshake;
pub mod loopback;
