//! A cell for what is worth computing only once, such as the precomputed values of a verifying key. It blocks no
//! thread, so that it works in forked processes.

use core::sync::atomic::{AtomicBool, Ordering};
use std::sync::OnceLock;

/// A value that is computed when it is first needed.
///
/// Threads that need it at once compute the same, and one of them keeps it. None waits for another: it would wait
/// forever in a process that was forked meanwhile, where the other thread is missing.
pub(super) struct ComputedOnce<T> {
    /// Whether a thread has begun to set `value`.
    claimed: AtomicBool,
    value: OnceLock<T>,
}

impl<T> ComputedOnce<T> {
    pub(super) const fn new() -> Self {
        Self {
            claimed: AtomicBool::new(false),
            value: OnceLock::new(),
        }
    }

    /// The value, if it has been computed.
    pub(super) fn get(&self) -> Option<&T> {
        self.value.get()
    }

    /// The value; `None` if another thread is about to set it.
    pub(super) fn get_or_compute(&self, compute: impl FnOnce() -> T) -> Option<&T> {
        if self.get().is_none() && !self.claimed.load(Ordering::Relaxed) {
            let value = compute();
            if !self.claimed.swap(true, Ordering::Relaxed) {
                let _ = self.value.set(value);
            }
        }
        self.get()
    }
}
