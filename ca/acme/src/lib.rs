//! ACME (RFC 8555) without input and output.
//!
//! * **What both sides share.** [`objects`]: the directory, accounts, orders, authorizations and challenges as JSON;
//!   [`identifier`]: what certificates are for; [`problem`]: errors; [`jws`]: signed requests, by keys of ML-DSA, ECDSA,
//!   Ed25519 and RSA; [`challenge`]: what a client has to show for a challenge, and a server to find.
//! * **A client's half.** [`client`]: from the directory to the certificate.
//! * **A server.** [`server`]: from requests to answers and work to do; [`store`]: what it remembers, behind a trait;
//!   [`nonce`]: nonces that replicas share without a table.
//!
//! # Errors
//!
//! What is told to clients is a [`Problem`](problem::Problem), whose `detail` says what happened and what to do.
//!
//! # Limits
//!
//! Requests have at most 128 KiB; [`Settings`](server::Settings) bound what is in them. How often clients may do something, and
//! how much they may have that is not decided, a server's [`Policy`](server::Policy) says; [`store::Limits`] count it.
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

/// The README's program, which is compiled as a documentation test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
