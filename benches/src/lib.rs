//! Compares our operations with other implementations, on the same inputs and in the same run.
//!
//! ```text
//! custody, ours ─→ tls ─→ peers ─→ schemes ─→ timing
//! ```
//!
//! * [`timing`]: the sampler, and where its results are kept.
//! * [`schemes`]: ML-KEM, ML-DSA and SLH-DSA: the interface of an implementation, and what is timed.
//! * [`peers`]: the implementations, one file each.
//! * [`tls`]: whole handshakes through memory; servers and clients through TCP.
//! * [`ours`]: operations without a peer: batches, look-ups among many items, the permutation.
//! * [`custody`]: a key store over the same operations without it, and what others sign with.
//! * `machine`: cores, and programs that run on them, on Linux.
//! * [`sources`]: a hash of the code that figures depend on.
//!
//! A room may use the rooms to its right. `bin/report` writes the pages, and `README.md` says how
//! to run the benchmarks and how to read the results.
#![forbid(unsafe_code)]

extern crate alloc;

pub mod custody;
#[cfg(target_os = "linux")]
mod machine;
pub mod ours;
pub mod peers;
pub mod schemes;
pub mod sources;
pub mod timing;
pub mod tls;
