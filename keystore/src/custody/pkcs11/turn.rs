//! Turns at what one thread does at a time, which nobody waits for longer than a limit.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

/// Who is in turn calls a module, which may hang; so the mutex is held by nobody meanwhile.
#[derive(Default)]
pub(super) struct Turn {
    is_taken: Mutex<bool>,
    freed: Condvar,
}

/// One's turn, until it is dropped.
pub(super) struct Taken<'a>(&'a Turn);

impl Drop for Taken<'_> {
    fn drop(&mut self) {
        *self.0.is_taken() = false;
        self.0.freed.notify_one();
    }
}

impl Turn {
    fn is_taken(&self) -> MutexGuard<'_, bool> {
        self.is_taken.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for one's turn; `None` if it hasn't come by then.
    pub(super) fn take(&self, until: Instant) -> Option<Taken<'_>> {
        let left = until.saturating_duration_since(Instant::now());
        let waited = self
            .freed
            .wait_timeout_while(self.is_taken(), left, |is_taken| *is_taken);
        let mut is_taken = waited.unwrap_or_else(PoisonError::into_inner).0;
        if *is_taken {
            return None;
        }
        *is_taken = true;
        Some(Taken(self))
    }
}
