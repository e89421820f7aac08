//! Secrets, cut into pieces to look for.

use alloc::collections::{BTreeMap, BTreeSet};
use core::fmt;
use std::collections::{HashMap, HashSet};

use crate::stack::bytes_of;

/// Secrets to look for, and public data, which may be found.
#[derive(Clone, Default)]
pub struct Sought {
    secrets: Vec<Secret>,
    public: Vec<Vec<u8>>,
}

/// A secret, and the length of its pieces.
#[derive(Clone)]
struct Secret {
    what: &'static str,
    bytes: Vec<u8>,
    /// How many bytes a piece has.
    piece: usize,
}

/// How much of a secret was found.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Found {
    /// The secret.
    pub what: &'static str,
    /// How many of its pieces were found.
    pub pieces: usize,
    /// How many pieces it has.
    pub of: usize,
}

/// The bytes of a piece: as many as one instruction writes, and too many to be found by chance.
const PIECE: usize = 16;

/// The bytes of a piece of small numbers that take 32 bits each. Four numbers from -2 to 2 are often on a
/// stack by chance; eight are not.
const PIECE_OF_NUMBERS: usize = 32;

/// The bytes of a piece of small numbers that take 16 bits each. Eight numbers from -3 to 3 were on a stack by chance
/// once in many runs; for twelve, this is five hundred times less likely.
const PIECE_OF_SHORT_NUMBERS: usize = 24;

/// The distance between the beginnings of pieces. Pieces overlap, so a run of a secret's bytes that is a piece and
/// this many bytes long contains a whole piece, wherever it begins.
const STEP: usize = 8;

/// Pieces with fewer different bytes than this are not looked for: zeros and the like, which are on every
/// stack.
const DIFFERENT_BYTES: usize = 4;

impl Sought {
    /// Adds a secret.
    #[must_use]
    pub fn secret(self, what: &'static str, bytes: &[u8]) -> Self {
        self.cut(what, bytes, PIECE)
    }

    /// Adds a secret that consists of small numbers in places of 32 bits.
    #[must_use]
    pub fn secret_numbers(self, what: &'static str, bytes: &[u8]) -> Self {
        self.cut(what, bytes, PIECE_OF_NUMBERS)
    }

    /// Adds a secret that consists of small numbers in places of 16 bits.
    #[must_use]
    pub fn secret_short_numbers(self, what: &'static str, bytes: &[u8]) -> Self {
        self.cut(what, bytes, PIECE_OF_SHORT_NUMBERS)
    }

    fn cut(mut self, what: &'static str, bytes: &[u8], piece: usize) -> Self {
        assert!(bytes.len() >= piece, "{what} is too short to be looked for");
        self.secrets.push(Secret {
            what,
            bytes: bytes.to_vec(),
            piece,
        });
        self
    }

    /// Adds a value as it is in memory. `again` was made from the same secrets in another way, and
    /// `other` from other secrets. Bytes that differ in `again` are padding between the fields, with old bytes of the
    /// stack; bytes that are equal in `other` are not secret.
    #[must_use]
    pub fn in_memory<T>(mut self, what: &'static str, value: &T, again: &T, other: &T) -> Self {
        let other = bytes_of(other);
        for (start, run) in same(value, again) {
            let words = run.chunks(STEP).zip(other[start..].chunks(STEP));
            let is_secret: Vec<bool> = words
                .map(|(word, other)| !other.starts_with(word))
                .collect();
            let mut start = 0;
            for words in is_secret.chunk_by(|a, b| a == b) {
                let end = (start + STEP * words.len()).min(run.len());
                if words[0] && end - start >= PIECE {
                    self = self.secret(what, &run[start..end]);
                }
                start = end;
            }
        }
        self
    }

    /// Adds public data: pieces of secrets that occur in it are not looked for.
    #[must_use]
    pub fn public(mut self, bytes: &[u8]) -> Self {
        self.public.push(bytes.to_vec());
        self
    }

    /// Adds a public value as it is in memory. `again` is the same value, made in another way: bytes that differ
    /// are padding between the fields.
    #[must_use]
    pub fn public_in_memory<T>(mut self, value: &T, again: &T) -> Self {
        self.public.extend(same(value, again).map(|(_, run)| run));
        self
    }

    /// Adds all that is in `other`.
    #[must_use]
    pub fn and(mut self, other: Self) -> Self {
        self.secrets.extend(other.secrets);
        self.public.extend(other.public);
        self
    }

    /// The names of the secrets, each with bytes that begin with a piece to look for.
    ///
    /// # Panics
    ///
    /// If a secret has no piece to look for: all of it is public, or has too few different bytes.
    pub(crate) fn examples(&self) -> BTreeMap<&'static str, &[u8]> {
        let public = self.public_words();
        let mut examples = BTreeMap::new();
        for secret in &self.secrets {
            if let Some((start, _)) = secret.sought(&public).next() {
                examples
                    .entry(secret.what)
                    .or_insert_with(|| &secret.bytes[start..]);
            }
        }
        for Secret { what, .. } in &self.secrets {
            assert!(examples.contains_key(what), "{what}: nothing to look for");
        }
        assert!(!examples.is_empty(), "there is nothing to look for");
        examples
    }

    fn public_words(&self) -> HashSet<&[u8]> {
        let public = self.public.iter();
        public.flat_map(|bytes| bytes.windows(STEP)).collect()
    }

    /// Looks for the pieces. A piece of several secrets counts for each of them.
    ///
    /// # Panics
    ///
    /// Like [`examples`](Self::examples): a secret without pieces to look for could not be found.
    pub(crate) fn in_stack(&self, stack: &[u8]) -> Vec<Found> {
        self.examples();
        let public = self.public_words();
        let mut pieces: HashMap<&[u8], BTreeSet<&'static str>> = HashMap::new();
        for secret in &self.secrets {
            for (_, piece) in secret.sought(&public) {
                pieces.entry(piece).or_default().insert(secret.what);
            }
        }
        let mut counts: BTreeMap<&'static str, usize> = BTreeMap::new();
        for what in pieces.values().flatten() {
            *counts.entry(what).or_default() += 1;
        }
        let lengths: BTreeSet<usize> = self.secrets.iter().map(|secret| secret.piece).collect();
        let mut found: HashSet<&[u8]> = HashSet::new();
        for window in lengths.iter().flat_map(|len| stack.windows(*len)) {
            // most of the stack was never written
            if window.iter().any(|byte| *byte != 0) && pieces.contains_key(window) {
                found.insert(window);
            }
        }
        let mut found_of: BTreeMap<&'static str, usize> = BTreeMap::new();
        for what in found.iter().flat_map(|piece| &pieces[piece]) {
            *found_of.entry(what).or_default() += 1;
        }
        let found = found_of.into_iter().map(|(what, pieces)| Found {
            what,
            pieces,
            of: counts[what],
        });
        found.collect()
    }
}

impl Secret {
    /// The pieces to look for, and where they begin. Left out are pieces that can be on a stack by chance, and
    /// public ones, also those made of several public parts.
    fn sought<'a>(
        &'a self,
        public: &'a HashSet<&[u8]>,
    ) -> impl Iterator<Item = (usize, &'a [u8])> + 'a {
        let last = self.bytes.len() - self.piece;
        let starts = (0..=last).step_by(STEP).chain([last]);
        let pieces = starts.map(|start| (start, &self.bytes[start..][..self.piece]));
        pieces.filter(|(_, piece)| {
            let different = piece.iter().collect::<BTreeSet<_>>().len();
            different >= DIFFERENT_BYTES && !piece.chunks(STEP).all(|word| public.contains(word))
        })
    }
}

/// The runs of words that are equal in two values, and where they begin.
fn same<T>(value: &T, again: &T) -> impl Iterator<Item = (usize, Vec<u8>)> {
    let [value, again] = [value, again].map(bytes_of);
    let words = value.chunks(STEP).zip(again.chunks(STEP));
    let is_same: Vec<bool> = words.map(|(word, again)| word == again).collect();
    let mut runs = Vec::new();
    let mut start = 0;
    for words in is_same.chunk_by(|a, b| a == b) {
        let end = (start + STEP * words.len()).min(value.len());
        if words[0] {
            runs.push((start, value[start..end].to_vec()));
        }
        start = end;
    }
    runs.into_iter()
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

    /// Four small numbers in a row can be on a stack by chance.
    #[test]
    fn small_numbers_are_found_by_eight() {
        let numbers = [-2, 1, 0, 2, -1, 0, 1, -2, 0, 2_i32];
        let bytes: Vec<u8> = numbers.iter().flat_map(|n| n.to_le_bytes()).collect();
        let sought = Sought::default().secret_numbers("numbers", &bytes);
        for offset in 0..9 {
            let mut stack = vec![0; 64];
            stack[offset..][..28].copy_from_slice(&bytes[..28]);
            assert_eq!(found(&sought, &stack), []);
            stack[offset..][..40].copy_from_slice(&bytes);
            assert_eq!(found(&sought, &stack), [("numbers", 2, 2)]);
        }
    }

    /// Secrets are found at all places, whole and in part, and nothing else is found.
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

    /// Bytes that two values have in common are not secret, and bytes that depend on how a value was made
    /// are not part of it.
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

    #[test]
    #[should_panic(expected = "zeros: nothing to look for")]
    fn one_that_is_not_sought_is_an_error() {
        Sought::default()
            .secret("key", &bytes(1, 16))
            .secret("zeros", &[0; 64])
            .in_stack(&[0; 64]);
    }

    /// The padding between the fields of a public value is not public.
    #[test]
    fn padding_is_not_public() {
        let value = [1, 2, 3, 4].map(|n: u64| n * 0x0102_0304_0506_0708);
        let again = [value[0], value[1], 5, 6];
        let sought = Sought::default()
            .secret("value", &bytes_of(&value))
            .public_in_memory(&value, &again);
        assert_eq!(found(&sought, &bytes_of(&value)), [("value", 2, 2)]);
    }
}
