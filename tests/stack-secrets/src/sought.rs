//! Secrets, cut in pieces that are looked for.

use alloc::collections::{BTreeMap, BTreeSet};
use core::fmt;
use std::collections::{HashMap, HashSet};

use crate::stack::bytes_of;

/// Secrets to be looked for, and what is public and may be found.
#[derive(Clone, Default)]
pub struct Sought {
    secrets: Vec<(&'static str, Vec<u8>)>,
    public: Vec<Vec<u8>>,
}

/// What was found of a secret.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Found {
    /// The secret.
    pub what: &'static str,
    /// How many of its pieces.
    pub pieces: usize,
    /// How many there are.
    pub of: usize,
}

/// Bytes of a piece: what one instruction writes, and too many to be found by chance.
const PIECE: usize = 16;

/// Pieces overlap, so that of whatever has 24 bytes of a secret in a row one is found, as long as it
/// begins at a multiple of this in either.
const STEP: usize = 8;

/// What has fewer different bytes than this is not looked for: zeros, and small numbers in places
/// of 32 bits, which are on every stack.
const DIFFERENT_BYTES: usize = 4;

type Piece = [u8; PIECE];

impl Sought {
    /// Adds a secret.
    #[must_use]
    pub fn secret(mut self, what: &'static str, bytes: &[u8]) -> Self {
        assert!(bytes.len() >= PIECE, "{what} is too short to be looked for");
        self.secrets.push((what, bytes.to_vec()));
        self
    }

    /// Adds a value as it lies in memory. `again` was made of the same secrets in another way, and
    /// `other` of others: what differs from `again` was on the stack before and lies between the
    /// fields, and what is equal in `other` is no secret.
    #[must_use]
    pub fn in_memory<T>(mut self, what: &'static str, value: &T, again: &T, other: &T) -> Self {
        let [bytes, again, other] = [value, again, other].map(bytes_of);
        let words = |bytes: &[u8]| Vec::from_iter(bytes.chunks(STEP).map(<[u8]>::to_vec));
        let others = words(&again).into_iter().zip(words(&other));
        let words = words(&bytes).into_iter().zip(others);
        let is_secret = words.map(|(word, (again, other))| word == again && word != other);
        let is_secret: Vec<bool> = is_secret.collect();
        let mut start = 0;
        for run in is_secret.chunk_by(|a, b| a == b) {
            let end = (start + STEP * run.len()).min(bytes.len());
            if run[0] && end - start >= PIECE {
                self = self.secret(what, &bytes[start..end]);
            }
            start = end;
        }
        self
    }

    /// Adds what is known to everybody: pieces of secrets that are in it are not looked for.
    #[must_use]
    pub fn public(mut self, bytes: &[u8]) -> Self {
        self.public.push(bytes.to_vec());
        self
    }

    /// Adds all that is in `other`.
    #[must_use]
    pub fn and(mut self, other: Self) -> Self {
        self.secrets.extend(other.secrets);
        self.public.extend(other.public);
        self
    }

    /// The bytes of a secret of this name.
    pub(crate) fn bytes_of(&self, what: &str) -> &[u8] {
        let mut secrets = self.secrets.iter();
        let secret = secrets.find(|(name, _)| *name == what);
        &secret.expect("a secret of this name").1
    }

    /// Looks for the pieces.
    ///
    /// # Panics
    ///
    /// If there are none, so that nothing could be found.
    pub(crate) fn in_stack(&self, stack: &[u8]) -> Vec<Found> {
        let public = self.public.iter().flat_map(|bytes| bytes.windows(STEP));
        let public: HashSet<&[u8]> = public.collect();
        // where two things that are public meet, too
        let is_public = |piece: &Piece| piece.chunks(STEP).all(|half| public.contains(half));
        let mut pieces: HashMap<Piece, &'static str> = HashMap::new();
        let mut counts: BTreeMap<&'static str, usize> = BTreeMap::new();
        for (what, bytes) in &self.secrets {
            let starts = (0..=bytes.len() - PIECE).step_by(STEP);
            for start in starts.chain([bytes.len() - PIECE]) {
                let piece: Piece = bytes[start..][..PIECE].try_into().expect("of this length");
                let different = piece.iter().collect::<BTreeSet<_>>().len();
                if different >= DIFFERENT_BYTES && !is_public(&piece) {
                    pieces.entry(piece).or_insert_with(|| {
                        *counts.entry(what).or_default() += 1;
                        what
                    });
                }
            }
        }
        assert!(!pieces.is_empty(), "there is nothing to look for");
        let mut found: HashSet<Piece> = HashSet::new();
        for window in stack.windows(PIECE) {
            // most of it was never written
            if window[0] | window[PIECE - 1] != 0
                && let Some((piece, _)) = window
                    .try_into()
                    .ok()
                    .and_then(|w: Piece| pieces.get_key_value(&w))
            {
                found.insert(*piece);
            }
        }
        let mut found_of: BTreeMap<&'static str, usize> = BTreeMap::new();
        for piece in found {
            *found_of.entry(pieces[&piece]).or_default() += 1;
        }
        let found = found_of.into_iter().map(|(what, pieces)| Found {
            what,
            pieces,
            of: counts[what],
        });
        found.collect()
    }
}

impl fmt::Display for Found {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { what, pieces, of } = self;
        write!(f, "{what} ({pieces} of {of} pieces)")
    }
}

#[cfg(test)]
mod tests {
    use super::{Found, PIECE, Sought, bytes_of};

    fn bytes(from: u8, len: u8) -> Vec<u8> {
        (from..from + len).collect()
    }

    fn found(sought: &Sought, stack: &[u8]) -> Vec<(&'static str, usize, usize)> {
        let found = sought.in_stack(stack).into_iter();
        found
            .map(|Found { what, pieces, of }| (what, pieces, of))
            .collect()
    }

    /// Wherever they lie, whole and in part, and nothing else.
    #[test]
    fn secrets_are_found() {
        let secret = bytes(1, 36);
        let sought = Sought::default().secret("secret", &secret);
        for offset in 0..20 {
            let mut stack = vec![0; 100];
            assert_eq!(found(&sought, &stack), []);
            stack[offset..][..36].copy_from_slice(&secret);
            assert_eq!(found(&sought, &stack), [("secret", 4, 4)]);
            stack.fill(0);
            stack[offset..][..PIECE].copy_from_slice(&secret[20..]);
            assert_eq!(found(&sought, &stack), [("secret", 1, 4)]);
            stack[offset + 5] ^= 1;
            assert_eq!(found(&sought, &stack), []);
        }
    }

    #[test]
    fn what_is_public_is_not_sought() {
        let sought = Sought::default()
            .secret("key", &[bytes(1, 16), bytes(101, 16)].concat())
            .public(&bytes(0, 20));
        let stack = [bytes(1, 16), vec![9; 3]].concat();
        assert_eq!(found(&sought, &stack), []);
        assert_eq!(found(&sought, &bytes(100, 20)), [("key", 1, 2)]);
    }

    /// What two values have in common is nobody's secret, and what depends on how a value was made
    /// is none of its own.
    #[test]
    fn memory_is_compared() {
        let value = [1, 2, 3, 4, 5, 6].map(|n: u64| n * 0x0102_0304_0506_0708);
        let sought = |again, other| Sought::default().in_memory("value", &value, again, other);
        let memory = bytes_of(&value);
        assert_eq!(found(&sought(&value, &[9; 6]), &memory), [("value", 5, 5)]);
        let other = [9, 9, value[2], value[3], value[4], value[5]];
        assert_eq!(found(&sought(&value, &other), &memory), [("value", 1, 1)]);
        let again = [value[0], value[1], 7, 7, value[4], value[5]];
        assert_eq!(found(&sought(&again, &[9; 6]), &memory), [("value", 2, 2)]);
    }

    #[test]
    #[should_panic(expected = "nothing to look for")]
    fn zeros_are_not_sought() {
        Sought::default()
            .secret("zeros", &[0; 64])
            .in_stack(&[0; 64]);
    }
}
