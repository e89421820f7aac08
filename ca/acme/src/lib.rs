//! ACME (RFC 8555) without input and output.
//!
//! * **What both sides share.** [`objects`]: the directory, accounts, orders, authorizations and challenges as JSON;
//!   [`identifier`]: what certificates are for; [`problem`]: errors; [`jws`]: signed requests, by keys of ML-DSA, ECDSA,
//!   Ed25519 and RSA; [`challenge`]: what a client has to show for a challenge, and a server to find.
//! * **A client's half.** [`client`]: from the directory to the certificate.
#![forbid(unsafe_code)]

extern crate alloc;

pub mod challenge;
pub mod client;
pub mod identifier;
pub mod jws;
pub mod nonce;
pub mod objects;
pub mod problem;
pub mod server;
pub mod store;
