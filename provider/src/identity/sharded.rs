//! A hash map whose copies share what they have in common.

use alloc::sync::Arc;
use core::borrow::Borrow;
use core::hash::{BuildHasher, Hash};
use std::collections::HashMap;
use std::hash::RandomState;

/// A hash map that costs nothing to copy. A change in a copy first copies the part that it changes: two
/// lists of [`FAN`] pointers, and a small map that has some two dozen of 100,000 keys, with their values:
/// what a value has many of must be shared.
///
/// Keys come from the network, so the hash has a secret key.
#[derive(Clone)]
pub(super) struct Sharded<K, V> {
    hasher: RandomState,
    root: Arc<Branch<Branch<Leaf<K, V>>>>,
}

type Branch<T> = [Option<Arc<T>>; FAN];
type Leaf<K, V> = HashMap<K, V>;

/// Six bits of the hash choose among so many branches, and six more among as many leaves.
const FAN: usize = 64;

impl<K: Clone + Eq + Hash, V: Clone> Sharded<K, V> {
    pub(super) fn new() -> Self {
        Self {
            hasher: RandomState::new(),
            root: Arc::new([const { None }; FAN]),
        }
    }

    pub(super) fn get<Q: Eq + Hash + ?Sized>(&self, key: &Q) -> Option<&V>
    where
        K: Borrow<Q>,
    {
        let [branch, leaf] = self.place(key);
        self.root[branch].as_ref()?[leaf].as_ref()?.get(key)
    }

    /// The value for a key. If there is none, the default is inserted.
    pub(super) fn get_or_default(&mut self, key: K) -> &mut V
    where
        V: Default,
    {
        let [branch, leaf] = self.place(&key);
        let branch = Arc::make_mut(&mut self.root)[branch]
            .get_or_insert_with(|| Arc::new([const { None }; FAN]));
        let leaf = Arc::make_mut(branch)[leaf].get_or_insert_default();
        Arc::make_mut(leaf).entry(key).or_default()
    }

    pub(super) fn remove<Q: Eq + Hash + ?Sized>(&mut self, key: &Q) -> Option<V>
    where
        K: Borrow<Q>,
    {
        let [branch, leaf] = self.place(key);
        let branch = Arc::make_mut(&mut self.root)[branch].as_mut()?;
        Arc::make_mut(Arc::make_mut(branch)[leaf].as_mut()?).remove(key)
    }

    /// All values, in no order.
    pub(super) fn values(&self) -> impl Iterator<Item = &V> {
        self.leaves().flat_map(|leaf| leaf.values())
    }

    fn leaves(&self) -> impl Iterator<Item = &Arc<Leaf<K, V>>> {
        let branches = self.root.iter().flatten();
        branches.flat_map(|branch| branch.iter().flatten())
    }

    fn place(&self, key: &(impl Hash + ?Sized)) -> [usize; 2] {
        let hash = self.hasher.hash_one(key) as usize;
        [hash % FAN, hash / FAN % FAN]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEYS: usize = 100_000;

    fn filled() -> Sharded<Arc<str>, usize> {
        let mut map = Sharded::new();
        for key in 0..KEYS {
            *map.get_or_default(format!("{key}.example.org").into()) = key;
        }
        map
    }

    #[test]
    fn finds_what_is_there() {
        let mut map = filled();
        assert_eq!(map.values().count(), KEYS);
        assert_eq!(map.get("77.example.org"), Some(&77));
        assert_eq!(map.remove("77.example.org"), Some(77));
        assert_eq!(map.remove("77.example.org"), None);
        assert_eq!(map.get("77.example.org"), None);
        assert_eq!(map.get("78.example.org"), Some(&78));
        assert_eq!(map.values().count(), KEYS - 1);

        let mut empty = Sharded::<Arc<str>, usize>::new();
        assert_eq!(empty.get(""), None);
        assert_eq!(empty.remove(""), None);
    }

    /// A search among 100,000 keys looks into one small map, and a change copies one.
    #[test]
    fn a_key_has_few_beside_it() {
        let map = filled();
        // 24 on average; the probability that one has 100 is 10^-28.
        assert!(map.leaves().all(|leaf| leaf.len() < 100));
        assert!(map.leaves().count() > FAN * FAN / 2);
    }

    #[test]
    fn copies_share_the_rest() {
        let map = filled();
        let mut changed = map.clone();
        *changed.get_or_default("77.example.org".into()) = 0;
        *changed.get_or_default("new.example.org".into()) = 1;
        changed.remove("78.example.org");
        assert_eq!(map.get("77.example.org"), Some(&77));
        assert_eq!(map.get("new.example.org"), None);
        assert_eq!(map.get("78.example.org"), Some(&78));
        let of_both = map.leaves().zip(changed.leaves());
        let differing = of_both.filter(|(one, other)| !Arc::ptr_eq(one, other));
        assert!(differing.count() <= 3);
    }
}
