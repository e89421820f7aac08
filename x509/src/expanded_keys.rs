use alloc::sync::Arc;
use alloc::vec::Vec;
use core::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};
use std::sync::{PoisonError, RwLock};

use pq_core::ml_dsa::{ExpandedVerifyingKey, ParameterSet, VerifyingKey};

/// The verifying keys that keep coming back, such as those of roots, expanded.
///
/// Most of a verification is what depends on the key alone: **Â** and H(pk) (FIPS 204,
/// algorithm 8, lines 5 and 6). webpki and rustls give keys as bytes, so whoever verifies for
/// them must know a key again to save that.
///
/// A key is expanded when it is used for the second time, and then kept until
/// [`KEPT`] others were used more recently: 38 KiB each for ML-DSA-65. Keys that
/// are used once, such as those of a server's many clients, displace nothing. Verifying keys
/// are public; that a signature under one of these verifies faster says which keys this
/// process has seen lately.
pub(crate) struct ExpandedKeys<P: ParameterSet> {
    kept: RwLock<Vec<Kept<P>>>,
    /// [Marks](mark) of keys that were used once, in a ring.
    seen: [AtomicU64; SEEN],
    /// How many marks were ever put into the ring.
    marks: AtomicUsize,
    /// How often a kept key was used.
    uses: AtomicU64,
}

/// How many keys are kept: the roots and intermediates of a process that speaks with a few
/// public key infrastructures.
const KEPT: usize = 8;

/// How many keys may be used between a key's first and second use.
const SEEN: usize = 32;

struct Kept<P: ParameterSet> {
    key: Arc<ExpandedVerifyingKey<P>>,
    /// The count of uses when this was last used.
    used: AtomicU64,
}

impl<P: ParameterSet> ExpandedKeys<P> {
    pub(crate) const fn new() -> Self {
        Self {
            kept: RwLock::new(Vec::new()),
            seen: [const { AtomicU64::new(0) }; SEEN],
            marks: AtomicUsize::new(0),
            uses: AtomicU64::new(0),
        }
    }

    /// The key in expanded form, unless it is new here.
    pub(crate) fn find(&self, key: &VerifyingKey<P>) -> Option<Arc<ExpandedVerifyingKey<P>>> {
        if let Some(kept) = self.kept(key) {
            return Some(kept);
        }
        if !self.was_seen(mark(key)) {
            return None;
        }
        let key = Arc::new(key.expand());
        self.keep(key.clone());
        Some(key)
    }

    fn kept(&self, key: &VerifyingKey<P>) -> Option<Arc<ExpandedVerifyingKey<P>>> {
        // The list is whole whenever the lock is free, also after a panic.
        let kept = self.kept.read().unwrap_or_else(PoisonError::into_inner);
        let found = kept.iter().find(|kept| kept.key.verifying_key() == key)?;
        found.used.store(self.use_up(), Relaxed);
        Some(found.key.clone())
    }

    /// Whether the mark is in the ring; it is from now on.
    fn was_seen(&self, mark: u64) -> bool {
        if self.seen.iter().any(|seen| seen.load(Relaxed) == mark) {
            return true;
        }
        let slot = self.marks.fetch_add(1, Relaxed) % SEEN;
        self.seen[slot].store(mark, Relaxed);
        false
    }

    fn keep(&self, key: Arc<ExpandedVerifyingKey<P>>) {
        let new = Kept {
            key,
            used: AtomicU64::new(self.use_up()),
        };
        let mut kept = self.kept.write().unwrap_or_else(PoisonError::into_inner);
        let same = |kept: &Kept<P>| kept.key.verifying_key() == new.key.verifying_key();
        // Another thread may have come first.
        if kept.iter().any(same) {
            return;
        }
        if kept.len() < KEPT {
            kept.push(new);
        } else if let Some(oldest) = kept.iter_mut().min_by_key(|kept| kept.used.load(Relaxed)) {
            *oldest = new;
        }
    }

    fn use_up(&self) -> u64 {
        self.uses.fetch_add(1, Relaxed)
    }
}

/// Part of ρ, with which a key begins: enough to tell keys apart where a mistake only
/// means that a key is expanded too early.
fn mark<P: ParameterSet>(key: &VerifyingKey<P>) -> u64 {
    key.as_bytes()
        .first_chunk()
        .map_or(0, |bytes| u64::from_le_bytes(*bytes))
}

#[cfg(test)]
mod tests {
    use pq_core::ml_dsa::{MlDsa44, SigningKey};

    use super::*;

    type Keys = ExpandedKeys<MlDsa44>;

    fn key(number: usize) -> VerifyingKey<MlDsa44> {
        let mut seed = [0; 32];
        seed[..8].copy_from_slice(&number.to_le_bytes());
        SigningKey::from_seed(&seed).verifying_key().clone()
    }

    fn kept(keys: &Keys) -> usize {
        keys.kept.read().unwrap().len()
    }

    #[test]
    fn the_second_use_expands_and_the_third_finds() {
        let keys = Keys::new();
        let (one, other) = (key(1), key(2));
        assert!(keys.find(&one).is_none());
        assert!(keys.find(&other).is_none());
        let second = keys.find(&one).expect("expanded");
        let third = keys.find(&one).expect("kept");
        assert!(Arc::ptr_eq(&second, &third));
        assert_eq!(*second.verifying_key(), one);
        assert_eq!(*keys.find(&other).expect("expanded").verifying_key(), other);
    }

    #[test]
    fn the_least_recently_used_goes() {
        let keys = Keys::new();
        let many: Vec<_> = (0..KEPT).map(key).collect();
        for key in many.iter().chain(&many) {
            keys.find(key);
        }
        assert_eq!(kept(&keys), KEPT);

        // The first is used again, so that the second is the oldest.
        assert!(keys.kept(&many[0]).is_some());
        keys.keep(Arc::new(key(KEPT).expand()));
        assert_eq!(kept(&keys), KEPT);
        assert!(keys.kept(&many[0]).is_some());
        assert!(keys.kept(&many[1]).is_none());
        assert!(keys.kept(&key(KEPT)).is_some());
    }

    #[test]
    fn keys_used_once_displace_nothing() {
        let keys = Keys::new();
        for _ in 0..2 {
            keys.find(&key(0));
        }
        for number in 1..=2 * SEEN {
            assert!(keys.find(&key(number)).is_none());
        }
        assert_eq!(kept(&keys), 1);
        assert!(keys.kept(&key(0)).is_some());
        // The ring has forgotten the first of them.
        assert!(keys.find(&key(1)).is_none());
    }
}
