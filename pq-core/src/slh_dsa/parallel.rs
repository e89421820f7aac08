//! Work on one core, or with the feature `rayon` on all of them.

use core::sync::atomic::{AtomicU32, Ordering};

/// Runs both, side by side if there is another core that is idle.
#[cfg(feature = "rayon")]
pub(super) fn join<A: Send, B: Send>(
    a: impl FnOnce() -> A + Send,
    b: impl FnOnce() -> B + Send,
) -> (A, B) {
    rayon::join(a, b)
}

/// Runs both, one after the other.
#[cfg(not(feature = "rayon"))]
pub(super) fn join<A: Send, B: Send>(
    a: impl FnOnce() -> A + Send,
    b: impl FnOnce() -> B + Send,
) -> (A, B) {
    (a(), b())
}

/// How far a key generation or a signature is.
///
/// It is counted in calls of hash functions, the short ones left out.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct Progress {
    /// What is done.
    pub done: u32,
    /// All that is to be done.
    pub total: u32,
}

/// Who wants to know the [`Progress`]: called again and again, the last time with all
/// done.
///
/// With the feature `rayon` it is called from several threads at once, and what they say
/// may come out of order.
pub type ProgressHook<'a> = &'a (dyn Fn(Progress) + Sync);

/// Counts what is done.
pub(super) struct Meter<'a> {
    hook: ProgressHook<'a>,
    done: AtomicU32,
    total: u32,
}

impl<'a> Meter<'a> {
    pub(super) fn new(hook: ProgressHook<'a>, total: u32) -> Self {
        Self {
            hook,
            done: AtomicU32::new(0),
            total,
        }
    }

    /// `count` more are done.
    pub(super) fn advance(&self, count: u32) {
        let done = self.add(count);
        (self.hook)(Progress {
            done,
            total: self.total,
        });
    }

    #[cfg(feature = "rayon")]
    fn add(&self, count: u32) -> u32 {
        self.done.fetch_add(count, Ordering::Relaxed) + count
    }

    /// There is no other thread, and not all CPUs can add in one go.
    #[cfg(not(feature = "rayon"))]
    fn add(&self, count: u32) -> u32 {
        let done = self.done.load(Ordering::Relaxed) + count;
        self.done.store(done, Ordering::Relaxed);
        done
    }
}
