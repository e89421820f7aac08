//! What is remembered about the signatures of lists.

use std::collections::HashMap;
use std::sync::{PoisonError, RwLock};

/// Remembers which keys signed a list: for each list, by its index, a few keys with the verdict.
///
/// A verdict depends on the list, the key and the algorithms that verify. So verdicts belong to one collection of
/// lists and one set of algorithms, and the owner begins anew when either changes. They depend neither on the
/// time nor on what the policy allows.
#[derive(Debug, Default)]
pub(super) struct Verdicts(RwLock<HashMap<usize, Vec<Verdict>>>);

#[derive(Debug)]
struct Verdict {
    /// The SubjectPublicKeyInfo.
    key: Box<[u8]>,
    is_valid: bool,
}

/// There are few CAs of one name with different keys.
const KEYS_PER_LIST: usize = 4;

impl Verdicts {
    pub(super) fn verdict(&self, index: usize, key: &[u8]) -> Option<bool> {
        // The map is whole whenever the lock is free, also after a panic.
        let verdicts = self.0.read().unwrap_or_else(PoisonError::into_inner);
        let mut known = verdicts.get(&index)?.iter();
        let verdict = known.find(|verdict| *verdict.key == *key)?;
        Some(verdict.is_valid)
    }

    pub(super) fn remember(&self, index: usize, key: &[u8], is_valid: bool) {
        let mut verdicts = self.0.write().unwrap_or_else(PoisonError::into_inner);
        let of_list = verdicts.entry(index).or_default();
        // Another thread may have come to the same verdict meanwhile.
        if of_list.iter().any(|verdict| *verdict.key == *key) {
            return;
        }
        let verdict = Verdict {
            key: key.into(),
            is_valid,
        };
        if of_list.len() < KEYS_PER_LIST {
            of_list.push(verdict);
        } else if is_valid && let Some(invalid) = of_list.iter_mut().find(|known| !known.is_valid) {
            // Whoever may issue CA certificates can give a CA the same name, and any keys.
            *invalid = verdict;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_remembered_of_signatures() {
        let verdicts = Verdicts::default();
        let len = || verdicts.0.read().unwrap()[&7].len();
        for _ in 0..2 * KEYS_PER_LIST {
            verdicts.remember(7, b"first", false);
        }
        assert_eq!(len(), 1);
        for number in 0..9 {
            verdicts.remember(7, &[number], false);
        }
        assert_eq!(len(), KEYS_PER_LIST);
        // The right key replaces an invalid one,
        assert_eq!(verdicts.verdict(7, b"key"), None);
        verdicts.remember(7, b"key", true);
        assert_eq!(len(), KEYS_PER_LIST);
        // and stays.
        for number in 10..20 {
            verdicts.remember(7, &[number], false);
        }
        assert_eq!(verdicts.verdict(7, b"key"), Some(true));
        assert_eq!(verdicts.verdict(7, &[0]), Some(false));
        assert_eq!(verdicts.verdict(8, b"key"), None);
    }
}
