//! The portable backend: one lane, no instructions beyond the target's own.

use super::{
    Backend, Coefficients, I16s, I32s, Kernel, Sha256Instructions, U32s, U64s, Vector, Words,
};
use crate::sealed::Sealed;

/// The backend that runs everywhere.
#[derive(Clone, Copy, Debug, Default)]
pub struct Portable;

impl Sealed for Portable {}

impl Backend for Portable {
    type U64s = u64;
    type Few = u64;
    type Schedules = u64;
    type U32s = u32;
    type Sha256 = NoSha256;
    type I16s = i16;
    type I32s = i32;

    const NAME: &'static str = "portable";
    const RANK: u8 = 0;
    const COMPLEMENTS: bool = true;

    #[inline(always)]
    fn run<K: Kernel<Self>>(self, kernel: K) -> K::Output {
        if K::LARGE {
            self.run_scalar(kernel)
        } else {
            kernel.run(self)
        }
    }

    // A function, or Keccak and transforms would be compiled into each of their many users.
    #[inline(never)]
    fn run_scalar<K: Kernel<Self>>(self, kernel: K) -> K::Output {
        kernel.run(self)
    }
}

macro_rules! one_lane {
    ($element:ty) => {
        impl Sealed for $element {}

        impl Vector for $element {
            type Token = Portable;
            type Element = $element;
            type Array = [$element; 1];

            const LANES: usize = 1;

            #[inline(always)]
            fn splat(_: Portable, element: $element) -> Self {
                element
            }

            #[inline(always)]
            fn load(_: Portable, array: &[$element; 1]) -> Self {
                array[0]
            }

            #[inline(always)]
            fn store(self, array: &mut [$element; 1]) {
                array[0] = self;
            }

            #[inline(always)]
            fn chunks(elements: &[$element]) -> &[[$element; 1]] {
                elements.as_chunks().0
            }

            #[inline(always)]
            fn chunks_mut(elements: &mut [$element]) -> &mut [[$element; 1]] {
                elements.as_chunks_mut().0
            }
        }
    };
}

one_lane!(u64);
one_lane!(u32);
one_lane!(i16);
one_lane!(i32);

macro_rules! one_lane_words {
    ($element:ty $(, $($method:item)*)?) => {
        impl Words for $element {
            $($($method)*)?

            #[inline(always)]
            fn add(self, other: Self) -> Self {
                self.wrapping_add(other)
            }

            #[inline(always)]
            fn sub(self, other: Self) -> Self {
                self.wrapping_sub(other)
            }

            #[inline(always)]
            fn xor(self, other: Self) -> Self {
                self ^ other
            }

            #[inline(always)]
            fn xor3(self, b: Self, c: Self) -> Self {
                self ^ b ^ c
            }

            #[inline(always)]
            fn choose(self, b: Self, c: Self) -> Self {
                self & (b ^ c) ^ c
            }

            #[inline(always)]
            fn majority(self, b: Self, c: Self) -> Self {
                (self ^ b) & (b ^ c) ^ b
            }

            #[inline(always)]
            fn shift_right<const N: i32>(self) -> Self {
                self >> N
            }

            #[inline(always)]
            fn shift_in<const N: i32>(self, next: Self) -> Self {
                self << N | next >> (Self::BITS as i32 - N)
            }
        }
    };
}

one_lane_words!(u32);
one_lane_words! { u64,
    #[cfg(target_arch = "x86_64")]
    #[inline(always)]
    fn add_late(self, late: Self) -> Self {
        super::late::add(self, late)
    }

    /// The bits that are set in two of the words come early, and those of `a` last.
    #[cfg(target_arch = "x86_64")]
    #[inline(always)]
    fn add_majority(self, a: Self, b: Self, c: Self) -> Self {
        self.wrapping_add(b & c).add_late(a & (b ^ c))
    }
}

impl U32s for u32 {}

impl U64s for u64 {
    #[inline(always)]
    fn chi(self, b: Self, c: Self) -> Self {
        self ^ (!b & c)
    }

    #[inline(always)]
    fn xor_and(self, b: Self, c: Self) -> Self {
        self ^ (b & c)
    }

    #[inline(always)]
    fn xor_or(self, b: Self, c: Self) -> Self {
        self ^ (b | c)
    }

    #[inline(always)]
    fn mask(_: Portable, lanes: u32) -> Self {
        Self::from(lanes & 1).wrapping_neg()
    }
}

macro_rules! one_lane_coefficients {
    ($element:ty, $double:ty) => {
        impl Coefficients for $element {
            #[inline(always)]
            fn add(self, other: Self) -> Self {
                self + other
            }

            #[inline(always)]
            fn sub(self, other: Self) -> Self {
                self - other
            }

            #[inline(always)]
            fn mul_low(self, other: Self) -> Self {
                self.wrapping_mul(other)
            }

            #[inline(always)]
            fn mul_high(self, other: Self) -> Self {
                ((<$double>::from(self) * <$double>::from(other)) >> Self::BITS) as Self
            }

            #[inline(always)]
            fn shift_right<const N: i32>(self) -> Self {
                self >> N
            }

            #[inline(always)]
            fn barrett_product(self, factor: Self, factor_over_q: Self, q: Self) -> Self {
                let quotient = self.mul_high(factor_over_q);
                self.mul_low(factor).wrapping_sub(quotient.mul_low(q))
            }

            // With one lane there are no blocks below the width.
            #[inline(always)]
            fn transpose<const LEN: usize>(a: Self, b: Self) -> (Self, Self) {
                (a, b)
            }

            #[inline(always)]
            fn deinterleave(a: Self, b: Self) -> (Self, Self) {
                (a, b)
            }

            #[inline(always)]
            fn interleave(a: Self, b: Self) -> (Self, Self) {
                (a, b)
            }
        }
    };
}

one_lane_coefficients!(i16, i32);
one_lane_coefficients!(i32, i64);

impl I16s for i16 {}

impl I32s for i32 {
    type Sums = i64;

    #[inline(always)]
    fn zero_sums(_: Portable) -> i64 {
        0
    }

    #[inline(always)]
    fn add_product(self, other: Self, sum: i64) -> i64 {
        sum + i64::from(self) * i64::from(other)
    }

    #[inline(always)]
    fn montgomery_reduce(sum: i64, q_inverse: Self, q: Self) -> Self {
        let m = (sum as Self).wrapping_mul(q_inverse);
        ((sum - i64::from(m) * i64::from(q)) >> 32) as Self
    }
}

/// A CPU without instructions for SHA-256: there is no such token.
#[derive(Clone, Copy, Debug)]
pub enum NoSha256 {}

impl Sealed for NoSha256 {}

impl Sha256Instructions for NoSha256 {
    type Words = Self;
    type State = Self;

    fn run<K: Kernel<Self>>(self, _: K) -> K::Output {
        match self {}
    }

    fn load(self, _: &[u32; 4]) -> Self {
        self
    }

    fn add(self, _: Self, _: Self) -> Self {
        self
    }

    fn schedule(self, _: [Self; 4]) -> Self {
        self
    }

    fn pack(self, _: &[u32; 8]) -> Self {
        self
    }

    fn unpack(self, _: Self) -> [u32; 8] {
        match self {}
    }

    fn add_states(self, _: Self, _: Self) -> Self {
        self
    }

    fn four_rounds(self, _: Self, _: Self) -> Self {
        self
    }
}
