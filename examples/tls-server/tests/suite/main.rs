//! Tests of the program, started as people start it.
#![allow(
    clippy::std_instead_of_alloc,
    clippy::std_instead_of_core,
    reason = "programs have std"
)]

#[cfg(unix)]
#[path = "../../../../serve/tests/suite/client.rs"]
mod client;
#[cfg(target_os = "linux")]
mod handshakes;
#[cfg(unix)]
mod metrics;
#[cfg(unix)]
mod ocsp;
#[cfg(unix)]
mod program;
#[cfg(unix)]
mod revocation;
#[cfg(target_os = "linux")]
mod shares;
#[cfg(target_os = "linux")]
mod sockets;
#[cfg(target_os = "linux")]
mod versions;
