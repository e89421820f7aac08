//! Keys in memory, ready to be used: bounded by number, and wiped when they leave.

use alloc::sync::Arc;
use core::sync::atomic::{AtomicU64, Ordering};
use std::collections::HashMap;
use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use pq_keys::any::AnyPublicKey;

use super::held::HeldKey;
use super::uses::Counts;
use crate::name::{KeyName, Version};
use crate::record::{KeyRecord, VersionState};
use crate::storage::LogHead;

/// How many private keys and how many public keys of one key are kept.
const MAX_VERSIONS: usize = 8;

/// When something was written: of two, the later one is newer.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(super) struct Moment {
    /// How often the storage's contents were replaced until it was read, as far as was noticed. Revisions count within one.
    pub(super) epoch: u64,
    /// The revision of the storage that wrote it.
    pub(super) revision: u64,
}

/// What a change of this process was written as.
#[derive(Clone, Copy, Debug)]
pub(super) struct Made {
    pub(super) written: Moment,
    /// Where the log ends with it.
    pub(super) head: LogHead,
}

/// A key as it was at one revision of the storage.
pub(super) struct CachedKey {
    pub(super) name: KeyName,
    /// When the key's row was written.
    pub(super) written: Moment,
    pub(super) record: KeyRecord,
    pub(super) newest_enabled: Option<Version>,
    pub(super) counts: Arc<Counts>,
    privates: Kept<HeldKey>,
    publics: Kept<AnyPublicKey>,
    used: AtomicU64,
}

/// Some versions of a key, the most recently added last.
struct Kept<K>(RwLock<Vec<(Version, Arc<K>)>>);

impl<K> Kept<K> {
    fn get(&self, version: Version) -> Option<Arc<K>> {
        let kept = read(&self.0);
        let found = kept.iter().find(|(kept, _)| *kept == version);
        found.map(|(_, key)| key.clone())
    }

    fn put(&self, version: Version, key: &Arc<K>) {
        let mut kept = write(&self.0);
        if kept.iter().any(|(kept, _)| *kept == version) {
            return;
        }
        if kept.len() == MAX_VERSIONS {
            kept.remove(0);
        }
        kept.push((version, key.clone()));
    }

    /// Those that a newer state of the key permits.
    fn only(&self, is_permitted: impl Fn(Version) -> bool) -> Self {
        let kept = read(&self.0);
        let permitted = kept.iter().filter(|(version, _)| is_permitted(*version));
        Self(RwLock::new(permitted.cloned().collect()))
    }
}

// A panic leaves these lists whole: what may panic comes before the first change.
fn read<T>(lock: &RwLock<T>) -> RwLockReadGuard<'_, T> {
    lock.read().unwrap_or_else(PoisonError::into_inner)
}

fn write<T>(lock: &RwLock<T>) -> RwLockWriteGuard<'_, T> {
    lock.write().unwrap_or_else(PoisonError::into_inner)
}

impl CachedKey {
    /// The private key of a version, if it is kept.
    pub(super) fn private(&self, version: Version) -> Option<Arc<HeldKey>> {
        self.privates.get(version)
    }

    /// Whether a private key of it is kept, because it was used.
    pub(super) fn is_in_use(&self) -> bool {
        !read(&self.privates.0).is_empty()
    }

    pub(super) fn keep_private(&self, version: Version, key: &Arc<HeldKey>) {
        self.privates.put(version, key);
    }

    /// The public key of a version, if it is kept.
    pub(super) fn public(&self, version: Version) -> Option<Arc<AnyPublicKey>> {
        self.publics.get(version)
    }

    pub(super) fn keep_public(&self, version: Version, key: &Arc<AnyPublicKey>) {
        self.publics.put(version, key);
    }
}

/// The keys of a store that were used lately.
pub(super) struct Cache {
    keys: RwLock<HashMap<KeyName, Arc<CachedKey>>>,
    /// Changes only while `keys` is locked.
    epoch: Arc<AtomicU64>,
    limit: usize,
    uses: AtomicU64,
}

impl Cache {
    /// No keys yet, and later at most this many. `epoch` is counted by it alone.
    pub(super) fn new(limit: usize, epoch: Arc<AtomicU64>) -> Self {
        Self {
            keys: RwLock::new(HashMap::new()),
            epoch,
            limit: limit.max(1),
            uses: AtomicU64::new(0),
        }
    }

    /// The key, if it is there.
    pub(super) fn get(&self, name: &KeyName) -> Option<Arc<CachedKey>> {
        let key = read(&self.keys).get(name)?.clone();
        // Only a full cache asks which key was used last.
        let now = self.uses.load(Ordering::Relaxed);
        if key.used.load(Ordering::Relaxed) != now {
            key.used.store(
                self.uses.fetch_add(1, Ordering::Relaxed) + 1,
                Ordering::Relaxed,
            );
        }
        Some(key)
    }

    /// The names of the keys that are there, and the revisions of their rows.
    pub(super) fn revisions(&self) -> Vec<(KeyName, u64)> {
        let keys = read(&self.keys);
        keys.values()
            .map(|key| (key.name.clone(), key.written.revision))
            .collect()
    }

    /// Puts a key as it was written at this moment, unless a newer state is there, and returns what is there now. What was read
    /// before all keys were forgotten is returned, and not put there. `counts` is asked for a key that is new here.
    pub(super) fn put(
        &self,
        name: &KeyName,
        written: Moment,
        record: KeyRecord,
        counts: impl FnOnce() -> Arc<Counts>,
    ) -> Arc<CachedKey> {
        let mut keys = write(&self.keys);
        let before = keys.get(name);
        let is_past = written.epoch != self.epoch.load(Ordering::Relaxed);
        if let Some(newer) = before.filter(|before| !is_past && before.written >= written) {
            return newer.clone();
        }
        let before = before.filter(|_| !is_past);
        let is_enabled = |version| record.state(version) == Some(VersionState::Enabled);
        let is_kept = |version| record.state(version).is_some();
        let (privates, publics, counts) = match before {
            Some(before) => (
                before.privates.only(is_enabled),
                before.publics.only(is_kept),
                before.counts.clone(),
            ),
            None => (Kept(RwLock::default()), Kept(RwLock::default()), counts()),
        };
        if before.is_none() && !is_past && keys.len() >= self.limit {
            let oldest = keys
                .values()
                .min_by_key(|key| key.used.load(Ordering::Relaxed));
            if let Some(oldest) = oldest.map(|key| key.name.clone()) {
                keys.remove(&oldest);
            }
        }
        let key = Arc::new(CachedKey {
            name: name.clone(),
            written,
            newest_enabled: record.newest_enabled(),
            record,
            counts,
            privates,
            publics,
            used: AtomicU64::new(self.uses.fetch_add(1, Ordering::Relaxed) + 1),
        });
        if !is_past {
            keys.insert(name.clone(), key.clone());
        }
        key
    }

    /// Forgets all keys, because the storage has other contents than before. Returns the epoch that begins.
    pub(super) fn forget_all(&self) -> u64 {
        let mut keys = write(&self.keys);
        keys.clear();
        self.epoch.fetch_add(1, Ordering::Release) + 1
    }

    /// Forgets a key, so that its next use reads it.
    pub(super) fn forget(&self, name: &KeyName) {
        write(&self.keys).remove(name);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::Policy;

    fn record(states: Vec<VersionState>) -> KeyRecord {
        KeyRecord {
            serial: 1,
            algorithm: pq_keys::any::AnyAlgorithm::named("ML-DSA-44").unwrap(),
            policy: Policy::default(),
            created: 0,
            rotated: 0,
            first: Version::FIRST,
            states,
            token: None,
        }
    }

    #[test]
    fn what_was_read_before_all_was_forgotten_does_not_come_back() {
        let cache = Cache::new(2, Arc::default());
        let name: KeyName = "t/p/a".parse().unwrap();
        let put = |epoch, revision, state| {
            let written = Moment { epoch, revision };
            let key = cache.put(&name, written, record(vec![state]), Arc::default);
            key.newest_enabled.is_some()
        };
        assert!(put(0, 100, VersionState::Enabled));
        assert_eq!(cache.forget_all(), 1);
        // It is for whoever has read it, and for nobody else.
        assert!(put(0, 101, VersionState::Enabled));
        assert!(cache.get(&name).is_none());
        assert!(!put(1, 3, VersionState::Disabled));
        assert!(put(0, 102, VersionState::Enabled));
        assert!(cache.get(&name).unwrap().newest_enabled.is_none());
        // Within an epoch the later one counts.
        assert!(!put(1, 2, VersionState::Enabled));
        assert!(put(1, 4, VersionState::Enabled));
    }
}
