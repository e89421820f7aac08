//! Verifying keys that are kept expanded.

use core::convert::Infallible;
use core::hint::black_box;

use pq_x509::verification::ExpandedKeys;

use crate::timing::Passes;

const KEYS: usize = 100;

/// A key as long as one of ML-DSA-65.
fn key(n: usize) -> [u8; 1952] {
    let mut key = [7; 1952];
    key[..8].copy_from_slice(&(n as u64 + 1).to_le_bytes());
    key
}

fn use_key(keys: &ExpandedKeys<usize>, n: usize) -> bool {
    let Ok(found) = keys.find(&key(n), || Ok::<_, Infallible>(n));
    found.is_some()
}

pub(super) fn look_up(size: usize) -> Passes<'static> {
    let keys = ExpandedKeys::new();
    for n in 0..size {
        use_key(&keys, n);
    }
    // The keys of some servers that are used often.
    for n in (0..8).chain(0..8) {
        use_key(&keys, size + n);
    }
    Passes::new(KEYS, move || {
        for n in 0..KEYS {
            assert!(use_key(&keys, black_box(size + n % 8)));
        }
    })
}

pub(super) fn insertion(size: usize) -> Passes<'static> {
    let keys = ExpandedKeys::new();
    for n in 0..size {
        use_key(&keys, n);
    }
    let mut next = size;
    Passes::new(KEYS, move || {
        for _ in 0..KEYS {
            assert!(!use_key(&keys, next));
            assert!(use_key(&keys, next));
            next += 1;
        }
    })
}
