//! The backends of pq-core that this machine can run.

use pq_core::arch::Backend;

/// Whether this is the backend that the public API runs on.
pub(crate) fn is_best<B: Backend>(_: B) -> bool {
    let mut best = 0;
    on_each_backend!(backend => best = best.max(rank(backend)));
    B::RANK == best
}

fn rank<B: Backend>(_: B) -> u8 {
    B::RANK
}
