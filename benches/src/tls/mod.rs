//! Whole TLS connections, with our provider and with others: through memory, and through TCP.
//!
//! Uses [`timing`](crate::timing), and OpenSSL's program from [`peers`](crate::peers).

pub mod account;
pub mod handshake;
pub mod loopback;
