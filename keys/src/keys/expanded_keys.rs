//! A small cache of expanded verifying keys, because webpki and rustls pass a key as bytes each time.

use alloc::boxed::Box;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};
use std::sync::{RwLock, TryLockError};

/// A cache of verifying keys that are used again and again, such as those of roots, in an expanded form `K`.
///
/// Much of a verification depends only on the key: for ML-DSA **Â** and H(pk) (FIPS 204,
/// algorithm 8, lines 5 and 6), on elliptic curves a table of the point's multiples. webpki and
/// rustls give keys as bytes, so a verifier must recognize a key to save this work.
///
/// A key is expanded at its second use, and then kept until eight others were
/// used more recently: 40 KiB each for ML-DSA-65. Keys that are used once, such as those of a
/// server's many clients, displace nothing: the cache keeps only the first eight bytes of the last
/// 32 of them. So a look-up compares with 40 keys at most, however many were seen, and the memory is
/// that of eight keys. Verifying keys are public; a faster verification reveals
/// that this process has used the key lately.
///
/// Use one `static` for each algorithm:
///
/// ```
/// use pq_core::ml_dsa::{ExpandedVerifyingKey, MlDsa65, Signature, VerifyingKey};
/// use pq_keys::signing::ExpandedKeys;
///
/// fn verify(key: &[u8], message: &[u8], signature: &[u8]) -> Result<(), pq_core::Error> {
///     static EXPANDED: ExpandedKeys<ExpandedVerifyingKey<MlDsa65>> = ExpandedKeys::new();
///
///     let signature = Signature::from_bytes(signature)?;
///     let parse = || VerifyingKey::<MlDsa65>::from_bytes(key);
///     match EXPANDED.find(key, || parse().map(|key| key.expand()))? {
///         Some(key) => key.verify(message, &[], &signature),
///         None => parse()?.verify(message, &[], &signature),
///     }
/// }
/// # assert!(verify(&[0; 1952], b"", &[0; 3309]).is_err());
/// ```
pub struct ExpandedKeys<K> {
    kept: RwLock<Vec<Kept<K>>>,
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

struct Kept<K> {
    bytes: Box<[u8]>,
    key: Arc<K>,
    /// The count of uses when this was last used.
    used: AtomicU64,
}

enum Found<K> {
    Key(Arc<K>),
    Nothing,
    /// Another thread changes the list.
    Busy,
}

impl<K> ExpandedKeys<K> {
    /// No keys yet.
    pub const fn new() -> Self {
        Self {
            kept: RwLock::new(Vec::new()),
            seen: [const { AtomicU64::new(0) }; SEEN],
            marks: AtomicUsize::new(0),
            uses: AtomicU64::new(0),
        }
    }

    /// The key with these bytes in expanded form, which `expand` makes.
    ///
    /// `None` if the key is new here, or if another thread is changing the cache. No thread waits for
    /// another: in a process that was forked meanwhile, the other does not exist, and the wait would
    /// never end.
    ///
    /// # Errors
    ///
    /// The errors of `expand`. Nothing is kept then.
    pub fn find<E>(
        &self,
        bytes: &[u8],
        expand: impl FnOnce() -> Result<K, E>,
    ) -> Result<Option<Arc<K>>, E> {
        match self.kept(bytes) {
            Found::Key(kept) => return Ok(Some(kept)),
            Found::Busy => return Ok(None),
            Found::Nothing => {}
        }
        if !self.was_seen(mark(bytes)) {
            return Ok(None);
        }
        let key = Arc::new(expand()?);
        self.keep(bytes, key.clone());
        Ok(Some(key))
    }

    fn kept(&self, bytes: &[u8]) -> Found<K> {
        let kept = match self.kept.try_read() {
            Ok(kept) => kept,
            // The list is whole whenever the lock is free, also after a panic.
            Err(TryLockError::Poisoned(kept)) => kept.into_inner(),
            Err(TryLockError::WouldBlock) => return Found::Busy,
        };
        let Some(found) = kept.iter().find(|kept| *kept.bytes == *bytes) else {
            return Found::Nothing;
        };
        found.used.store(self.use_up(), Relaxed);
        Found::Key(found.key.clone())
    }

    /// Whether the mark is in the ring. Adds it if it is not.
    fn was_seen(&self, mark: u64) -> bool {
        if self.seen.iter().any(|seen| seen.load(Relaxed) == mark) {
            return true;
        }
        let slot = self.marks.fetch_add(1, Relaxed) % SEEN;
        self.seen[slot].store(mark, Relaxed);
        false
    }

    fn keep(&self, bytes: &[u8], key: Arc<K>) {
        let new = Kept {
            bytes: bytes.into(),
            key,
            used: AtomicU64::new(self.use_up()),
        };
        let mut kept = match self.kept.try_write() {
            Ok(kept) => kept,
            Err(TryLockError::Poisoned(kept)) => kept.into_inner(),
            // A later use keeps it.
            Err(TryLockError::WouldBlock) => return,
        };
        // Another thread may have come first.
        if kept.iter().any(|kept| kept.bytes == new.bytes) {
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

/// The start of a key, a seed or half a coordinate: enough to tell keys apart where a mistake
/// only means that a key is expanded too early.
fn mark(bytes: &[u8]) -> u64 {
    bytes
        .first_chunk()
        .map_or(0, |start| u64::from_le_bytes(*start))
}

#[cfg(test)]
mod tests {
    use core::convert::Infallible;

    use super::*;

    impl<K> Found<K> {
        fn key(self) -> Option<Arc<K>> {
            match self {
                Self::Key(key) => Some(key),
                Self::Nothing | Self::Busy => None,
            }
        }
    }

    /// Keys that expand to their number.
    type Keys = ExpandedKeys<usize>;

    /// The bytes of a key. Like a point, each begins with the same byte.
    fn bytes(number: usize) -> [u8; 17] {
        let mut bytes = [4; 17];
        bytes[1..9].copy_from_slice(&number.to_le_bytes());
        bytes
    }

    fn find(keys: &Keys, number: usize) -> Option<Arc<usize>> {
        let Ok(found) = keys.find(&bytes(number), || Ok::<_, Infallible>(number));
        found
    }

    fn kept(keys: &Keys) -> usize {
        keys.kept.read().unwrap().len()
    }

    #[test]
    fn the_second_use_expands_and_the_third_finds() {
        let keys = Keys::new();
        assert_eq!(find(&keys, 1), None);
        assert_eq!(find(&keys, 2), None);
        let second = find(&keys, 1).expect("expanded");
        let third = find(&keys, 1).expect("kept");
        assert!(Arc::ptr_eq(&second, &third));
        assert_eq!(*second, 1);
        assert_eq!(find(&keys, 2).as_deref(), Some(&2));
    }

    #[test]
    fn every_byte_counts() {
        let keys = Keys::new();
        for _ in 0..2 {
            find(&keys, 1);
        }
        for i in 0..bytes(1).len() {
            let mut other = bytes(1);
            other[i] ^= 1;
            assert_eq!(keys.kept(&other).key(), None);
        }
        assert_eq!(keys.kept(&bytes(1)[1..]).key(), None);
        assert_eq!(keys.kept(&bytes(1)).key().as_deref(), Some(&1));
    }

    #[test]
    fn what_does_not_expand_is_not_kept() {
        let keys = Keys::new();
        assert_eq!(keys.find(&bytes(1), || Err("malformed")), Ok(None));
        assert_eq!(keys.find(&bytes(1), || Err("malformed")), Err("malformed"));
        assert_eq!(kept(&keys), 0);
    }

    #[test]
    fn the_least_recently_used_goes() {
        let keys = Keys::new();
        for number in (0..KEPT).chain(0..KEPT) {
            find(&keys, number);
        }
        assert_eq!(kept(&keys), KEPT);

        // The first is used again, so that the second is the oldest.
        assert!(keys.kept(&bytes(0)).key().is_some());
        keys.keep(&bytes(KEPT), Arc::new(KEPT));
        assert_eq!(kept(&keys), KEPT);
        assert!(keys.kept(&bytes(0)).key().is_some());
        assert!(keys.kept(&bytes(1)).key().is_none());
        assert!(keys.kept(&bytes(KEPT)).key().is_some());
    }

    /// As in a child that was forked while another thread had the lock.
    #[test]
    fn none_waits_for_a_lock() {
        let keys = Keys::new();
        for _ in 0..2 {
            find(&keys, 1);
        }
        let writer = keys.kept.write().unwrap();
        assert_eq!(find(&keys, 1), None);
        drop(writer);
        assert_eq!(find(&keys, 1).as_deref(), Some(&1));

        find(&keys, 2);
        let reader = keys.kept.read().unwrap();
        assert_eq!(find(&keys, 2).as_deref(), Some(&2));
        assert_eq!(reader.len(), 1);
        drop(reader);
        find(&keys, 2);
        assert_eq!(kept(&keys), 2);
    }

    #[test]
    fn keys_used_once_displace_nothing() {
        let keys = Keys::new();
        for _ in 0..2 {
            find(&keys, 0);
        }
        for number in 1..=2 * SEEN {
            assert!(find(&keys, number).is_none());
        }
        assert_eq!(kept(&keys), 1);
        assert!(keys.kept(&bytes(0)).key().is_some());
        // The ring has forgotten the first of these keys.
        assert!(find(&keys, 1).is_none());
    }
}
