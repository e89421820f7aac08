//! Tests of the server over real TCP, in-process and as a program.
#![allow(
    clippy::std_instead_of_alloc,
    clippy::std_instead_of_core,
    reason = "programs have std"
)]

mod handshakes;
mod harness;
mod hostile;
mod http;
mod mutual_tls;
#[cfg(unix)]
mod ocsp;
#[cfg(unix)]
mod program;
#[cfg(unix)]
mod revocation;
mod rotation;
#[cfg(target_os = "linux")]
mod shares;
mod shutdown;
