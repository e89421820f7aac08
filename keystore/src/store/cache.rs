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

/// How many private keys and how many public keys of one key are kept.
const MAX_VERSIONS: usize = 8;

/// A key as it was at one revision of the storage.
pub(super) struct CachedKey {
    pub(super) name: KeyName,
    /// The revision of the key's row.
    pub(super) revision: u64,
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
    limit: usize,
    uses: AtomicU64,
}

impl Cache {
    /// No keys yet, and later at most this many.
    pub(super) fn new(limit: usize) -> Self {
        Self {
            keys: RwLock::new(HashMap::new()),
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

    /// The names and revisions of the keys that are there.
    pub(super) fn revisions(&self) -> Vec<(KeyName, u64)> {
        let keys = read(&self.keys);
        keys.values()
            .map(|key| (key.name.clone(), key.revision))
            .collect()
    }

    /// Puts a key as it was at this revision, unless a newer state is there, and returns what is there now. `counts` is asked
    /// for a key that is new here.
    pub(super) fn put(
        &self,
        name: &KeyName,
        revision: u64,
        record: KeyRecord,
        counts: impl FnOnce() -> Arc<Counts>,
    ) -> Arc<CachedKey> {
        let mut keys = write(&self.keys);
        let before = keys.get(name);
        if let Some(newer) = before.filter(|before| before.revision >= revision) {
            return newer.clone();
        }
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
        if before.is_none() && keys.len() >= self.limit {
            let oldest = keys
                .values()
                .min_by_key(|key| key.used.load(Ordering::Relaxed));
            if let Some(oldest) = oldest.map(|key| key.name.clone()) {
                keys.remove(&oldest);
            }
        }
        let key = Arc::new(CachedKey {
            name: name.clone(),
            revision,
            newest_enabled: record.newest_enabled(),
            record,
            counts,
            privates,
            publics,
            used: AtomicU64::new(self.uses.fetch_add(1, Ordering::Relaxed) + 1),
        });
        keys.insert(name.clone(), key.clone());
        key
    }

    /// Forgets a key, so that its next use reads it.
    pub(super) fn forget(&self, name: &KeyName) {
        write(&self.keys).remove(name);
    }
}
