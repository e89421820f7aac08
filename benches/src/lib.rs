//! Our operations beside other people's, on the same inputs and in the same run.
//!
//! ```text
//! ours ─→ tls ─→ peers ─→ schemes ─→ timing
//! ```
//!
//! * [`timing`]: the sampler, and where what it found is kept.
//! * [`schemes`]: ML-KEM, ML-DSA and SLH-DSA: what an implementation is, and what is timed of it.
//! * [`peers`]: the implementations, one file each.
//! * [`tls`]: whole handshakes through memory; servers and clients through TCP.
//! * [`ours`]: what has no peer: batches, look-ups by how much there is, the permutation.
//! * [`sources`]: a hash of the code that figures depend on.
//!
//! A room may use those to the right of it. `bin/report` writes the pages, and `README.md` says how
//! to run all this and how to read the result.
#![forbid(unsafe_code)]

extern crate alloc;

pub mod ours;
pub mod peers;
pub mod schemes;
pub mod sources;
pub mod timing;
pub mod tls;
