//! Keeps the parts of providers that rustls wants as `&'static` references, and makes each only once.

use core::ptr;
use std::sync::{Mutex, PoisonError};

/// Values that live as long as the process, each made once.
///
/// rustls holds the parts of a `CryptoProvider` by `&'static` reference, and ours
/// depend on the base, which is known only at run time. So each part is leaked once
/// for every distinct base. Building the same provider again finds what the first
/// build made. What is leaked is bounded by the number of different bases (and
/// choices of algorithms) in the process, a few hundred bytes each.
///
/// If a caller's bases are all different, for example because it leaks a new key
/// provider for every connection, this list grows with them, and each build searches
/// all of it: build providers once. Nothing here grows with identities, sessions
/// or roots.
pub(crate) struct Interned<K, V: ?Sized + 'static> {
    // A list: there are as many entries as there are different bases.
    entries: Mutex<Vec<(K, &'static V)>>,
}

impl<K: PartialEq, V: ?Sized> Interned<K, V> {
    pub(crate) const fn new() -> Self {
        Self {
            entries: Mutex::new(Vec::new()),
        }
    }

    /// The value made for `key`, now or by an earlier call.
    pub(crate) fn find_or_insert(&self, key: K, make: impl FnOnce() -> Box<V>) -> &'static V {
        // The list is consistent whenever the lock is free, even after a panic in `make`.
        let mut entries = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, value)) = entries.iter().find(|(known, _)| *known == key) {
            return value;
        }

        let value = Box::leak(make());
        entries.push((key, value));
        value
    }

    /// The value that was made and is such a one.
    pub(crate) fn find(&self, is_such: impl Fn(&V) -> bool) -> Option<&'static V> {
        let entries = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
        let mut values = entries.iter().map(|(_, value)| *value);
        values.find(|value| is_such(value))
    }
}

/// A reference that equals another one if both are the same pointer: address, and
/// vtable or length.
///
/// Two such references behave the same in every use, even if the type has no size or
/// the linker has merged vtables. Two references to the same value may still compare as
/// different (a vtable can exist twice), which costs an entry and nothing else.
pub(crate) struct Same<T: ?Sized + 'static>(pub(crate) &'static T);

impl<T: ?Sized> PartialEq for Same<T> {
    fn eq(&self, other: &Self) -> bool {
        ptr::eq(self.0, other.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn makes_each_value_once() {
        static VALUES: Interned<u8, str> = Interned::new();

        let first = VALUES.find_or_insert(1, || "one".into());
        let again = VALUES.find_or_insert(1, || unreachable!("made already"));
        let other = VALUES.find_or_insert(2, || "two".into());

        assert!(ptr::eq(first, again));
        assert_eq!((first, other), ("one", "two"));
    }

    #[test]
    fn survives_a_panic() {
        static VALUES: Interned<u8, str> = Interned::new();

        std::panic::catch_unwind(|| VALUES.find_or_insert(1, || panic!("on purpose")))
            .expect_err("the panic is passed on");
        assert_eq!(VALUES.find_or_insert(1, || "one".into()), "one");
    }

    #[test]
    fn same_means_the_same_pointer() {
        static BYTES: [u8; 2] = [7, 7];
        assert!(Same(&BYTES[..1]) == Same(&BYTES[..1]));
        assert!(Same(&BYTES[..1]) != Same(&BYTES[1..]));
        assert!(Same(&BYTES[..1]) != Same(&BYTES[..]));
    }
}
