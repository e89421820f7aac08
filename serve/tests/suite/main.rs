//! Tests of the server in this process, over real TCP.
#![allow(
    clippy::std_instead_of_alloc,
    clippy::std_instead_of_core,
    reason = "programs have std"
)]

mod access;
mod bounds;
mod client;
mod handlers;
mod handshakes;
#[cfg(unix)]
mod hangup;
mod harness;
mod hostile;
mod http;
mod http2;
#[cfg(target_os = "linux")]
mod memory;
mod metrics;
mod mutual_tls;
mod plain;
mod rotation;
mod served;
#[cfg(target_os = "linux")]
mod shares;
mod shutdown;
mod signers;
mod whole;
