//! The items of a batch, a few at a time.

use core::array;

/// Has `work` done on `items`, `N` at a time.
///
/// In the last group the places that no items are left for are at the end, and empty.
pub(crate) fn in_groups<T, const N: usize>(
    items: impl IntoIterator<Item = T>,
    mut work: impl FnMut([Option<T>; N]),
) {
    let mut items = items.into_iter().fuse();
    loop {
        let group = array::from_fn(|_| items.next());
        if let Some(None) | None = group.first() {
            return;
        }
        work(group);
    }
}

#[cfg(test)]
mod tests {
    use core::iter;

    use super::in_groups;

    #[test]
    fn groups_have_every_item_once() {
        for count in 0..10 {
            let (mut seen, mut ended) = (0, false);
            in_groups(0..count, |group: [Option<usize>; 4]| {
                assert!(!ended && group[0].is_some());
                for item in group {
                    ended |= item.is_none();
                    if let Some(item) = item {
                        assert!(!ended && item == seen);
                        seen += 1;
                    }
                }
            });
            assert_eq!(seen, count);
        }
    }

    /// An iterator may give more after its end.
    #[test]
    fn nothing_follows_the_end() {
        let mut calls = 0;
        let items = iter::from_fn(|| {
            calls += 1;
            (calls % 3 > 0).then_some(calls)
        });
        let mut seen = 0;
        in_groups(items, |group: [Option<usize>; 4]| {
            seen += group.iter().flatten().count()
        });
        assert_eq!(seen, 2);
    }
}
