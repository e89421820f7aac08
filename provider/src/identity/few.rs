//! A list that nearly always has one element.

use alloc::sync::Arc;
use core::slice;

/// Some elements. One that has always been alone takes no memory of its own, and is found without another memory access.
/// A copy shares several, however many they are, and what is left of several.
#[derive(Clone, Debug, Default)]
pub(super) enum Few<T> {
    #[default]
    None,
    One(T),
    Several(Arc<Vec<T>>),
}

impl<T: Clone> Few<T> {
    pub(super) fn as_slice(&self) -> &[T] {
        match self {
            Self::None => &[],
            Self::One(one) => slice::from_ref(one),
            Self::Several(all) => all,
        }
    }

    /// Inserts an element before the one that has this position; at the end if there are no more.
    pub(super) fn insert(&mut self, at: usize, new: T) {
        *self = match core::mem::take(self) {
            Self::None => Self::One(new),
            Self::One(one) if at == 0 => Self::Several(vec![new, one].into()),
            Self::One(one) => Self::Several(vec![one, new].into()),
            Self::Several(mut all) => {
                let end = all.len();
                Arc::make_mut(&mut all).insert(at.min(end), new);
                Self::Several(all)
            }
        };
    }

    pub(super) fn push(&mut self, new: T) {
        self.insert(self.as_slice().len(), new);
    }

    pub(super) fn retain(&mut self, mut is_kept: impl FnMut(&T) -> bool) {
        match self {
            Self::One(one) if !is_kept(one) => *self = Self::None,
            Self::None | Self::One(_) => {}
            Self::Several(all) => Arc::make_mut(all).retain(is_kept),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As a vector does, whatever the order; and no copy is changed by what becomes of the other.
    #[test]
    fn does_what_a_vector_does() {
        for positions in [[0, 0, 0, 0], [0, 1, 2, 3], [0, 0, 1, 2], [0, 1, 0, 2]] {
            let (mut few, mut all) = (Few::None, Vec::new());
            for (new, at) in positions.into_iter().enumerate() {
                let (before, copy) = (all.clone(), few.clone());
                few.insert(at, new);
                all.insert(at, new);
                assert_eq!(few.as_slice(), all);
                assert_eq!(copy.as_slice(), before);
            }
            for gone in [2, 7, 0, 3, 1, 1] {
                let (before, copy) = (all.clone(), few.clone());
                few.retain(|&one| one != gone);
                all.retain(|&one| one != gone);
                assert_eq!(few.as_slice(), all);
                assert_eq!(copy.as_slice(), before);
            }
            few.push(9);
            assert_eq!(few.as_slice(), [9]);
            few.push(8);
            assert_eq!(few.as_slice(), [9, 8]);
        }
    }
}
