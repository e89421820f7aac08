//! Keys are rotated when their time has come.

use alloc::collections::BTreeMap;
use alloc::sync::Arc;
use core::convert::Infallible;
use core::sync::atomic::{AtomicBool, Ordering};
use core::time::Duration;
use std::time::Instant;

use pq_keystore::door::Door;
use pq_keystore::{KeyId, KeyName, Rotated, RotationEnded, StoreError};

use super::ending::Running;

/// How often it is looked which keys are due.
const LOOK_EVERY: Duration = Duration::from_secs(60);

/// How long it waits after a failure of the store.
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
                    Ok(look) => failures.tell(look.into()),
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

/// What came of a look.
struct Look {
    keys: Vec<(KeyName, Result<KeyId, StoreError>)>,
    /// Why it ended before all keys were looked at.
    ended: Option<StoreError>,
}

impl From<Result<Vec<Rotated>, RotationEnded>> for Look {
    fn from(look: Result<Vec<Rotated>, RotationEnded>) -> Self {
        let (rotated, ended) = match look {
            Ok(rotated) => (rotated, None),
            Err(RotationEnded { rotated, error, .. }) => (rotated, Some(*error)),
        };
        let keys = rotated.into_iter();
        let keys = keys.map(|Rotated { key, result, .. }| (key, result));
        Self {
            keys: keys.collect(),
            ended,
        }
    }
}

impl Look {
    /// Whether the store as a whole failed, and not only single keys.
    fn has_failed(&self) -> bool {
        let is_of_storage = |result: &Result<_, _>| matches!(result, Err(StoreError::Storage(_)));
        self.ended.is_some() || self.keys.iter().any(|(_, result)| is_of_storage(result))
    }
}

/// What failed at the last look, by its code: what an error says besides may be another at each.
#[derive(Default)]
struct Failures {
    of_store: Option<&'static str>,
    of_keys: BTreeMap<KeyName, &'static str>,
}

impl Failures {
    /// Tells what is new. Returns whether the store as a whole failed.
    fn tell(&mut self, look: Look) -> bool {
        let failed = look.has_failed();
        for id in look
            .keys
            .iter()
            .filter_map(|(_, result)| result.as_ref().ok())
        {
            tracing::info!(%id, "rotated, as its policy wants");
        }
        let (of_store, of_keys) = self.note(look);
        if let Some(error) = of_store {
            tracing::error!(%error, "keys that are due are not rotated; it is tried again");
        }
        let others = of_keys.len().saturating_sub(MAX_TOLD);
        for (key, error) in of_keys.iter().take(MAX_TOLD) {
            let next = match error {
                StoreError::Limit(_) => "\"pqtls store trim\" makes room for new versions",
                _ => "it is tried again",
            };
            tracing::error!(%key, %error, others, "not rotated; {next}");
        }
        failed
    }

    /// Keeps what failed. Returns what is new of it.
    fn note(&mut self, look: Look) -> (Option<StoreError>, Vec<(KeyName, StoreError)>) {
        let code = look.ended.as_ref().map(StoreError::code);
        // Keys that were not looked at fail as before.
        let mut now = match code {
            Some(_) => self.of_keys.clone(),
            None => BTreeMap::new(),
        };
        let mut new = Vec::new();
        for (key, result) in look.keys {
            let Err(error) = result else {
                now.remove(&key);
                continue;
            };
            now.insert(key.clone(), error.code());
            if self.of_keys.get(&key) != Some(&error.code()) {
                new.push((key, error));
            }
        }
        self.of_keys = now;
        let of_store = look.ended.filter(|_| self.of_store != code);
        self.of_store = code;
        (of_store, new)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn look(keys: Vec<(&str, Result<(), StoreError>)>, ended: Option<StoreError>) -> Look {
        let key = |(name, result): (&str, Result<(), StoreError>)| {
            let id = format!("{name}#2").parse().unwrap();
            (name.parse().unwrap(), result.map(|()| id))
        };
        Look {
            keys: keys.into_iter().map(key).collect(),
            ended,
        }
    }

    /// How many failures are new, of the store and of keys, and whether the store failed.
    fn seen(failures: &mut Failures, look: Look) -> (bool, usize, bool) {
        let failed = look.has_failed();
        let (of_store, of_keys) = failures.note(look);
        (of_store.is_some(), of_keys.len(), failed)
    }

    #[test]
    fn a_failure_is_told_until_it_is_over() {
        let mut failures = Failures::default();
        let mut seen = |look| seen(&mut failures, look);
        let behind = |seconds| look(vec![], Some(StoreError::ClockBehind { seconds }));
        assert_eq!(seen(look(vec![], None)), (false, 0, false));
        assert_eq!(seen(behind(4000)), (true, 0, true));
        // One wrong clock, whatever time has passed.
        assert_eq!(seen(behind(3900)), (false, 0, true));
        let ahead = StoreError::ClockAhead { days: 500 };
        assert_eq!(seen(look(vec![], Some(ahead))), (true, 0, true));
        assert_eq!(seen(look(vec![], None)), (false, 0, false));
        assert_eq!(seen(behind(4000)), (true, 0, true));
    }

    #[test]
    fn a_key_that_fails_is_told_once_and_delays_no_others() {
        let mut failures = Failures::default();
        let mut seen = |look| seen(&mut failures, look);
        let full = || ("a/b/full", Err(StoreError::Limit("full")));
        let well = || ("a/b/well", Ok(()));
        assert_eq!(seen(look(vec![full(), well()], None)), (false, 1, false));
        assert_eq!(seen(look(vec![full()], None)), (false, 0, false));
        // It is not forgotten while the store fails.
        let ended = Some(StoreError::Contended);
        assert_eq!(seen(look(vec![], ended)), (true, 0, true));
        assert_eq!(seen(look(vec![full()], None)), (false, 0, false));
        let another = ("a/b/other", Err(StoreError::Contended));
        assert_eq!(seen(look(vec![full(), another], None)), (false, 1, false));
        let trimmed = ("a/b/full", Ok(()));
        assert_eq!(seen(look(vec![trimmed], None)), (false, 0, false));
        assert_eq!(seen(look(vec![full()], None)), (false, 1, false));
    }
}
