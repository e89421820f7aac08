//! Words of the abstract backend: numbers, one at a time, as the portable backend has them.

use super::backend::Abstract;
use crate::arch::{Portable, U32s, U64s, Vector, Words};
use crate::sealed::Sealed;

/// A word of the backend with `LANES` lanes of coefficients.
#[derive(Clone, Copy)]
pub(super) struct Word<W, const LANES: usize, const ROUNDS: bool>(W);

impl<W, const LANES: usize, const ROUNDS: bool> Sealed for Word<W, LANES, ROUNDS> {}

macro_rules! words {
    ($($word:ty)*) => {$(
        impl<const LANES: usize, const ROUNDS: bool> Vector for Word<$word, LANES, ROUNDS> {
            type Token = Abstract<LANES, ROUNDS>;
            type Element = $word;
            type Array = [$word; 1];

            const LANES: usize = 1;

            fn splat(_: Self::Token, element: $word) -> Self {
                Self(element)
            }

            fn load(_: Self::Token, array: &[$word; 1]) -> Self {
                Self(array[0])
            }

            fn store(self, array: &mut [$word; 1]) {
                array[0] = self.0;
            }

            fn chunks(elements: &[$word]) -> &[[$word; 1]] {
                elements.as_chunks().0
            }

            fn chunks_mut(elements: &mut [$word]) -> &mut [[$word; 1]] {
                elements.as_chunks_mut().0
            }
        }

        impl<const LANES: usize, const ROUNDS: bool> Words for Word<$word, LANES, ROUNDS> {
            fn add(self, other: Self) -> Self {
                Self(Words::add(self.0, other.0))
            }

            fn sub(self, other: Self) -> Self {
                Self(Words::sub(self.0, other.0))
            }

            fn xor(self, other: Self) -> Self {
                Self(self.0.xor(other.0))
            }

            fn xor3(self, b: Self, c: Self) -> Self {
                Self(self.0.xor3(b.0, c.0))
            }

            fn choose(self, b: Self, c: Self) -> Self {
                Self(self.0.choose(b.0, c.0))
            }

            fn majority(self, b: Self, c: Self) -> Self {
                Self(self.0.majority(b.0, c.0))
            }

            fn shift_right<const N: i32>(self) -> Self {
                Self(self.0.shift_right::<N>())
            }

            fn shift_in<const N: i32>(self, next: Self) -> Self {
                Self(self.0.shift_in::<N>(next.0))
            }
        }
    )*};
}
words!(u32 u64);

impl<const LANES: usize, const ROUNDS: bool> U32s for Word<u32, LANES, ROUNDS> {}

impl<const LANES: usize, const ROUNDS: bool> U64s for Word<u64, LANES, ROUNDS> {
    fn chi(self, b: Self, c: Self) -> Self {
        Self(self.0.chi(b.0, c.0))
    }

    fn mask(_: Self::Token, lanes: u32) -> Self {
        Self(u64::mask(Portable, lanes))
    }
}
