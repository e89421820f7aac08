//! The items of a batch, in groups.

/// Calls `work` on `items` in groups of `N`, each item with one of `places` to work in.
///
/// If the last group has fewer items, the entries at its end are `None`.
pub(crate) fn in_groups<T, S, const N: usize>(
    items: impl IntoIterator<Item = T>,
    places: &mut [S; N],
    mut work: impl FnMut([Option<(T, &mut S)>; N]),
) {
    let mut items = items.into_iter().fuse();
    loop {
        let group = places.each_mut().map(|place| Some((items.next()?, place)));
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
            in_groups(0..count, &mut [0, 1, 2, 3], |group| {
                assert!(!ended && group[0].is_some());
                for entry in group {
                    ended |= entry.is_none();
                    if let Some((item, place)) = entry {
                        assert!(!ended && item == seen && item % 4 == *place);
                        seen += 1;
                    }
                }
            });
            assert_eq!(seen, count);
        }
    }

    /// An iterator may return more items after its end.
    #[test]
    fn nothing_follows_the_end() {
        let mut calls = 0;
        let items = iter::from_fn(|| {
            calls += 1;
            (calls % 3 > 0).then_some(calls)
        });
        let mut seen = 0;
        in_groups(items, &mut [(); 4], |group| {
            seen += group.iter().flatten().count()
        });
        assert_eq!(seen, 2);
    }
}
