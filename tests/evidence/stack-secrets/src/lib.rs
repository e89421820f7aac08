//! Finds the secrets that public operations of pq-core, pq-keys, pq-x509, rustls-pq, pq-cms, pq-hpke and pq-ssh
//! leave on the stack.
//!
//! Each operation runs in a thread of its own. The thread then waits while another thread reads its
//! stack and looks for the operation's secrets: its inputs, its results, and the values that it
//! computes on the way. This means something only for optimised code, so the test is
//! ignored in other builds:
//!
//! ```text
//! cargo test --release -p stack-secrets
//! ```
//!
//! Inputs and results are on the heap or on the stack of the thread that looks, so everything
//! that is found was left behind.

#![forbid(unsafe_code)]

extern crate alloc;

mod bases;
mod derived;
mod documents;
mod exceptions;
mod key_schedule;
mod ml_dsa;
mod ml_kem;
mod operation;
pub mod planted;
mod provider;
mod quic;
mod random;
mod slh_dsa;
mod sought;
mod stack;
mod x509;

pub use exceptions::Exceptions;
pub use operation::Operation;
pub use sought::{Found, Sought};

/// The operations of pq-core and pq-x509.
pub fn operations() -> Vec<Operation> {
    let groups = [
        ml_kem::operations(),
        ml_dsa::operations(),
        slh_dsa::operations(),
        x509::operations(),
    ];
    groups.into_iter().flatten().collect()
}

/// The operations of rustls-pq, over each base.
pub fn operations_over_bases() -> Vec<Operation> {
    let groups = [
        provider::operations(),
        key_schedule::operations(),
        quic::operations(),
    ];
    groups.into_iter().flatten().collect()
}

/// The operations of pq-cms, pq-hpke and pq-ssh.
pub fn operations_on_documents() -> Vec<Operation> {
    documents::operations()
}

/// The name of an operation over a base.
fn operation_name(base: &str, operation: &str) -> String {
    format!("rustls-pq over {base}: {operation}")
}
