//! A backend of several lanes in plain Rust: it stands in tests for what a SIMD
//! backend does, so that code for one lane can't pass as code for many.

use super::{
    Backend, Coefficients, I16s, I32s, Kernel, NoSha256, Portable, U32s, U64s, Vector, Words,
};
use crate::sealed::Sealed;

/// Four lanes of 64 bits, of which two are few, eight of 32, sixteen of 16.
#[derive(Clone, Copy, Debug)]
pub struct Wide;

impl Sealed for Wide {}

impl Backend for Wide {
    type U64s = Lanes<u64, 4>;
    type Few = Lanes<u64, 2>;
    type U32s = Lanes<u32, 8>;
    type Sha256 = NoSha256;
    type I16s = Lanes<i16, 16>;
    type I32s = Lanes<i32, 8>;

    const NAME: &'static str = "wide";
    const RANK: u8 = 0;
    const COMPLEMENTS: bool = true;

    fn run<K: Kernel<Self>>(self, kernel: K) -> K::Output {
        kernel.run(self)
    }

    fn run_scalar<K: Kernel<Self>>(self, kernel: K) -> K::Output {
        kernel.run(self)
    }
}

#[derive(Clone, Copy, Debug)]
pub struct Lanes<T, const N: usize>([T; N]);

impl<T: Copy, const N: usize> Lanes<T, N> {
    fn map2(self, other: Self, f: impl Fn(T, T) -> T) -> Self {
        Self(core::array::from_fn(|i| f(self.0[i], other.0[i])))
    }
}

macro_rules! lanes {
    ($element:ty, $n:literal) => {
        impl Vector for Lanes<$element, $n> {
            type Token = Wide;
            type Element = $element;
            type Array = [$element; $n];

            const LANES: usize = $n;

            fn splat(_: Wide, element: $element) -> Self {
                Self([element; $n])
            }

            fn load(_: Wide, array: &Self::Array) -> Self {
                Self(*array)
            }

            fn store(self, array: &mut Self::Array) {
                *array = self.0;
            }

            fn chunks(elements: &[$element]) -> &[Self::Array] {
                elements.as_chunks().0
            }

            fn chunks_mut(elements: &mut [$element]) -> &mut [Self::Array] {
                elements.as_chunks_mut().0
            }
        }
    };
}

lanes!(u64, 2);
lanes!(u64, 4);
lanes!(u32, 8);
lanes!(i16, 16);
lanes!(i32, 8);

macro_rules! lanes_of_words {
    ($element:ty, $n:literal) => {
        impl Words for Lanes<$element, $n> {
            fn add(self, other: Self) -> Self {
                self.map2(other, Words::add)
            }

            fn sub(self, other: Self) -> Self {
                self.map2(other, Words::sub)
            }

            fn xor(self, other: Self) -> Self {
                self.map2(other, Words::xor)
            }

            fn xor3(self, b: Self, c: Self) -> Self {
                self.xor(b).xor(c)
            }

            fn choose(self, b: Self, c: Self) -> Self {
                self.map2(b, |x, b| x & b).xor(self.map2(c, |x, c| !x & c))
            }

            fn majority(self, b: Self, c: Self) -> Self {
                let and = |x: Self, y| x.map2(y, |x, y| x & y);
                and(self, b).xor(and(self, c)).xor(and(b, c))
            }

            fn shift_right<const N: i32>(self) -> Self {
                Self(self.0.map(|x| x >> N))
            }

            fn shift_in<const N: i32>(self, next: Self) -> Self {
                self.map2(next, Words::shift_in::<N>)
            }
        }
    };
}

lanes_of_words!(u32, 8);
lanes_of_words!(u64, 2);
lanes_of_words!(u64, 4);

impl U32s for Lanes<u32, 8> {}

impl<const N: usize> U64s for Lanes<u64, N>
where
    Self: Words<Element = u64, Token = Wide>,
{
    fn chi(self, b: Self, c: Self) -> Self {
        self.xor(b.map2(c, |b, c| !b & c))
    }

    fn mask(_: Wide, lanes: u32) -> Self {
        Self(core::array::from_fn(|i| u64::mask(Portable, lanes >> i)))
    }
}

macro_rules! lanes_of_coefficients {
    ($element:ty, $n:literal) => {
        impl Coefficients for Lanes<$element, $n> {
            fn add(self, other: Self) -> Self {
                self.map2(other, Coefficients::add)
            }

            fn sub(self, other: Self) -> Self {
                self.map2(other, Coefficients::sub)
            }

            fn mul_low(self, other: Self) -> Self {
                self.map2(other, Coefficients::mul_low)
            }

            fn mul_high(self, other: Self) -> Self {
                self.map2(other, Coefficients::mul_high)
            }

            fn shift_right<const N: i32>(self) -> Self {
                Self(self.0.map(|x| x >> N))
            }

            fn barrett_product(self, factor: Self, factor_over_q: Self, q: Self) -> Self {
                Self(core::array::from_fn(|i| {
                    self.0[i].barrett_product(factor.0[i], factor_over_q.0[i], q.0[i])
                }))
            }

            fn transpose<const LEN: usize>(a: Self, b: Self) -> (Self, Self) {
                let is_odd = |i: usize| i / LEN % 2 == 1;
                (
                    Self(core::array::from_fn(|i| {
                        if is_odd(i) { b.0[i - LEN] } else { a.0[i] }
                    })),
                    Self(core::array::from_fn(|i| {
                        if is_odd(i) { b.0[i] } else { a.0[i + LEN] }
                    })),
                )
            }

            fn deinterleave(a: Self, b: Self) -> (Self, Self) {
                let len = 32 / <$element>::BITS as usize;
                let lane = |i: usize| if i < $n { a.0[i] } else { b.0[i - $n] };
                let block =
                    |odd: usize| move |i: usize| lane((2 * (i / len) + odd) * len + i % len);
                (
                    Self(core::array::from_fn(block(0))),
                    Self(core::array::from_fn(block(1))),
                )
            }

            fn interleave(a: Self, b: Self) -> (Self, Self) {
                let len = 32 / <$element>::BITS as usize;
                let lane = |i: usize| {
                    let from = if i / len % 2 == 0 { a } else { b };
                    from.0[i / (2 * len) * len + i % len]
                };
                (
                    Self(core::array::from_fn(lane)),
                    Self(core::array::from_fn(|i| lane(i + $n))),
                )
            }
        }
    };
}

lanes_of_coefficients!(i16, 16);
lanes_of_coefficients!(i32, 8);

impl I16s for Lanes<i16, 16> {}

impl I32s for Lanes<i32, 8> {
    type Sums = [i64; 8];

    fn zero_sums(_: Wide) -> [i64; 8] {
        [0; 8]
    }

    fn add_product(self, other: Self, sums: [i64; 8]) -> [i64; 8] {
        core::array::from_fn(|i| self.0[i].add_product(other.0[i], sums[i]))
    }

    fn montgomery_reduce(sums: [i64; 8], q_inverse: Self, q: Self) -> Self {
        let reduced = |i: usize| i32::montgomery_reduce(sums[i], q_inverse.0[i], q.0[i]);
        Self(core::array::from_fn(reduced))
    }
}
