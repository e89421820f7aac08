//! The thread of a store: sees what others changed, and writes counts.

use alloc::sync::Arc;
use core::sync::atomic::{AtomicBool, Ordering};
use core::time::Duration;
use std::sync::{Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Instant;

use super::error::StoreError;
use super::inner::Inner;

/// How long the thread waits for a change before it looks whether it should end.
const WAIT: Duration = Duration::from_millis(25);

/// How often the storage is asked even if it tells of no change.
const REFRESH_EVERY: Duration = Duration::from_secs(1);

/// How often counts are written.
const FLUSH_EVERY: Duration = Duration::from_secs(5);

/// A store with its thread, which ends with it.
pub(super) struct Worker {
    inner: Arc<Inner>,
    ends: Arc<AtomicBool>,
    thread: Mutex<Option<JoinHandle<()>>>,
}

impl Worker {
    /// Starts the thread.
    pub(super) fn start(inner: Inner) -> Result<Self, StoreError> {
        inner.refresh()?;
        let inner = Arc::new(inner);
        let ends = Arc::new(AtomicBool::new(false));
        let thread = thread::Builder::new().name("pq-keystore".into()).spawn({
            let (inner, ends) = (inner.clone(), ends.clone());
            move || run(&inner, &ends)
        });
        let thread = thread.map_err(|_| StoreError::Limit("the system starts no more threads"))?;
        Ok(Self {
            inner,
            ends,
            thread: Mutex::new(Some(thread)),
        })
    }

    pub(super) fn inner(&self) -> &Inner {
        &self.inner
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        self.ends.store(true, Ordering::Release);
        let thread = self
            .thread
            .get_mut()
            .unwrap_or_else(PoisonError::into_inner);
        if let Some(thread) = thread.take() {
            // A thread that panicked has nothing to hand over.
            let _ = thread.join();
        }
        // There is nobody to tell that the last counts were lost.
        let _ = self.inner.flush(true);
    }
}

fn run(inner: &Inner, ends: &AtomicBool) {
    let (mut flushed, mut refreshed) = (Instant::now(), Instant::now());
    let mut revision = 0;
    while !ends.load(Ordering::Acquire) {
        let waited = inner.table.storage.wait_for_change(revision, WAIT);
        let done = waited.map_err(StoreError::from).and_then(|now| {
            if now <= revision && refreshed.elapsed() < REFRESH_EVERY {
                return Ok(());
            }
            inner.refresh()?;
            revision = now;
            refreshed = Instant::now();
            Ok(())
        });
        if done.is_err() {
            // Uses notice by themselves that the storage was not reached.
            thread::sleep(WAIT);
        }
        if flushed.elapsed() >= FLUSH_EVERY {
            flushed = Instant::now();
            // What can't be written is kept for the next time.
            let _ = inner.flush(false);
        }
    }
}
