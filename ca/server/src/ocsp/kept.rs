//! Answers that are given again: those that were asked for last, within a bound of memory.

use alloc::sync::Arc;
use core::mem;
use core::sync::atomic::{AtomicU64, Ordering};
use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use pq_x509::pki_types::UnixTime;

use super::answers::Answers;
use crate::http::Document;

/// What an entry takes besides its request and its answer, about.
const BESIDES: usize = 512;

/// An answer that was signed.
pub(super) struct Signed {
    pub(super) document: Document,
    /// From when on it is to be replaced, if that is possible.
    pub(super) renew_at: UnixTime,
    /// When it ends.
    pub(super) end: UnixTime,
}

/// The newest answer to a request.
pub(super) struct Place {
    pub(super) answers: Arc<dyn Answers>,
    pub(super) request: Box<[u8]>,
    signed: Mutex<Arc<Signed>>,
    /// The second in which it was last known to be true.
    known_at: AtomicU64,
    /// Whoever finds out whether it is true still.
    pub(super) turn: tokio::sync::Mutex<()>,
}

impl Place {
    pub(super) fn new(
        answers: Arc<dyn Answers>,
        request: Box<[u8]>,
        signed: Arc<Signed>,
        now: UnixTime,
    ) -> Self {
        Self {
            answers,
            request,
            signed: Mutex::new(signed),
            known_at: AtomicU64::new(now.as_secs()),
            turn: tokio::sync::Mutex::default(),
        }
    }

    /// The answer, if it was found to be true in this very second.
    pub(super) fn known(&self, now: UnixTime) -> Option<Arc<Signed>> {
        (self.known_at.load(Ordering::Acquire) == now.as_secs()).then(|| self.signed())
    }

    pub(super) fn signed(&self) -> Arc<Signed> {
        lock(&self.signed).clone()
    }

    /// The answer was true when it was `now`.
    pub(super) fn is_true(&self, signed: Arc<Signed>, now: UnixTime) {
        *lock(&self.signed) = signed;
        self.known_at.store(now.as_secs(), Ordering::Release);
    }

    fn len(&self) -> usize {
        2 * self.request.len() + lock(&self.signed).document.body().len() + BESIDES
    }
}

/// Places by their requests. Those that nobody asked for since as many others came as half of the memory takes are
/// forgotten.
pub(super) struct Kept {
    most: usize,
    young: HashMap<Box<[u8]>, Arc<Place>>,
    young_len: usize,
    old: HashMap<Box<[u8]>, Arc<Place>>,
}

impl Kept {
    pub(super) fn new(most: usize) -> Self {
        Self {
            most,
            young: HashMap::new(),
            young_len: 0,
            old: HashMap::new(),
        }
    }

    pub(super) fn get(&mut self, request: &[u8]) -> Option<Arc<Place>> {
        if let Some(place) = self.young.get(request) {
            return Some(place.clone());
        }
        let (_, place) = self.old.remove_entry(request)?;
        self.insert(place.clone());
        Some(place)
    }

    pub(super) fn insert(&mut self, place: Arc<Place>) {
        let len = place.len();
        if len > self.most / 2 {
            return;
        }
        if self.young_len + len > self.most / 2 {
            self.old = mem::take(&mut self.young);
            self.young_len = 0;
        }
        let before = self.young.insert(place.request.clone(), place);
        self.young_len += len;
        self.young_len -= before.map_or(0, |before| before.len().min(self.young_len));
    }

    pub(super) fn clear(&mut self) {
        self.young.clear();
        self.young_len = 0;
        self.old.clear();
    }

    #[cfg(test)]
    fn count(&self) -> usize {
        self.young.len() + self.old.len()
    }
}

pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // Nothing panics while one is locked.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use core::time::Duration;

    use pq_x509::certificate::Certificate;
    use pq_x509::ocsp::{OcspRequest, OcspResponse};

    use super::super::answers::NoAnswer;
    use super::*;
    use crate::http::Caching;

    struct Nobody;

    impl Answers for Nobody {
        fn issuer(&self) -> &Certificate {
            unreachable!()
        }

        fn answer(&self, _: &OcspRequest, _: UnixTime) -> Result<OcspResponse, NoAnswer> {
            unreachable!()
        }

        fn still_says(&self, _: &OcspResponse, _: UnixTime) -> Result<bool, NoAnswer> {
            unreachable!()
        }
    }

    fn place(number: u32, len: usize) -> Arc<Place> {
        let now = UnixTime::since_unix_epoch(Duration::from_secs(1));
        let caching = Caching::For(Duration::ZERO);
        let signed = Signed {
            document: Document::new(vec![0; len], "a/b", None, caching),
            renew_at: now,
            end: now,
        };
        let request = number.to_be_bytes().into();
        Arc::new(Place::new(Arc::new(Nobody), request, signed.into(), now))
    }

    #[test]
    fn memory_is_bounded_and_what_is_asked_for_stays() {
        let mut kept = Kept::new(100 * 1024);
        kept.insert(place(0, 1000));
        for number in 1..10_000 {
            kept.insert(place(number, 1000));
            assert!(kept.get(&0_u32.to_be_bytes()).is_some(), "{number}");
            assert!(kept.count() <= 100, "{number}");
            assert!(kept.young_len <= 50 * 1024);
        }
        assert!(kept.get(&1_u32.to_be_bytes()).is_none());
        // One that is too large for all takes nothing.
        kept.insert(place(20_000, 60 * 1024));
        assert!(kept.get(&20_000_u32.to_be_bytes()).is_none());
        // The same one again is one.
        let before = kept.young_len;
        kept.insert(place(0, 1000));
        assert_eq!(kept.young_len, before);
        kept.clear();
        assert_eq!(kept.count(), 0);
    }
}
