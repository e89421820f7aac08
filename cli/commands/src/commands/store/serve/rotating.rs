//! Keys are rotated when their time has come.

use alloc::collections::BTreeMap;
use alloc::sync::Arc;
use core::convert::Infallible;
use core::sync::atomic::{AtomicBool, Ordering};
use core::time::Duration;
use std::time::Instant;

use pq_keystore::door::Door;
use pq_keystore::{Rotated, StoreError};

use super::ending::Running;

/// How often it is looked which keys are due.
const LOOK_EVERY: Duration = Duration::from_secs(60);

/// How long it waits after a failure.
const AFTER_FAILURE: Duration = Duration::from_secs(5 * 60);

/// How many times as long as a look took it waits: a store of very many keys is not read all the time.
const WAITS_PER_LOOK: u32 = 50;

/// How many failures of one look are told.
const MAX_TOLD: usize = 8;

/// Ends a look between two keys when it is dropped.
#[derive(Default)]
pub(super) struct Until(Arc<AtomicBool>);

impl Drop for Until {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Release);
    }
}

impl Until {
    /// Rotates what is due, from time to time. What fails is told once, and tried again; nothing ends it.
    pub(super) fn keep_rotating(
        &self,
        door: Arc<Door>,
        running: Running,
    ) -> impl Future<Output = Infallible> + use<> {
        let is_over = self.0.clone();
        async move {
            let mut failures = Failures::default();
            loop {
                let begun = Instant::now();
                let look = tokio::task::spawn_blocking({
                    let (door, is_over) = (door.clone(), is_over.clone());
                    let rotating = running.begin("rotation of keys that are due".into());
                    move || {
                        let _rotating = rotating;
                        door.rotate_due(&|| is_over.load(Ordering::Acquire))
                    }
                });
                let failed = match look.await {
                    Ok(look) => failures.tell(look),
                    Err(error) => {
                        tracing::error!(%error, "rotation of keys that are due was broken off");
                        true
                    }
                };
                let wait = if failed { AFTER_FAILURE } else { LOOK_EVERY };
                tokio::time::sleep(wait.max(begun.elapsed() * WAITS_PER_LOOK)).await;
            }
        }
    }
}

/// What failed at the last look, by what it was about.
#[derive(Default)]
struct Failures(BTreeMap<String, String>);

impl Failures {
    /// Tells what is new. Returns whether something failed.
    fn tell(&mut self, look: Result<Vec<Rotated>, StoreError>) -> bool {
        let mut now = BTreeMap::new();
        let mut untold = 0_usize;
        match look {
            Err(error) => {
                now.insert("keys that are due".into(), error.to_string());
            }
            Ok(rotated) => {
                for Rotated { key, result, .. } in rotated {
                    match result {
                        Ok(id) => tracing::info!(%id, "rotated, as its policy wants"),
                        Err(error) if now.len() < MAX_TOLD => {
                            now.insert(key.to_string(), error.to_string());
                        }
                        Err(_) => untold += 1,
                    }
                }
            }
        }
        for (key, error) in &now {
            if self.0.get(key) != Some(error) {
                tracing::error!(
                    key,
                    error,
                    others = untold,
                    "not rotated; it is tried again"
                );
            }
        }
        self.0 = now;
        !self.0.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_is_told_until_it_is_over() {
        let mut failures = Failures::default();
        let failed = || Err(StoreError::ClockAhead { days: 500 });
        assert!(!failures.tell(Ok(Vec::new())));
        assert!(failures.tell(failed()));
        assert_eq!(failures.0.len(), 1);
        assert!(failures.tell(failed()));
        assert!(!failures.tell(Ok(Vec::new())));
        assert!(failures.0.is_empty());
    }
}
