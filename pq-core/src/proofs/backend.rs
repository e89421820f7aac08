//! The abstract backend: lanes that stand for every value that a number can have.

use core::array;

use super::inputs::Number;
use super::values::{self, Id};
use super::words::Word;
use crate::arch::{
    Backend, Choice, Coefficients, I16s, I32s, InCrate, IntoChoice, Kernel, NoSha256, Portable,
    Vector,
};
use crate::sealed::Sealed;

/// The token of the backend with `LANES` lanes of every kind. Kernels may have several forms, for different
/// CPUs: `WAY` is one of [`ANY`], [`ROUNDS`], [`COMPLEMENTS`], [`CHI_LAST`], [`IN_MEMORY`] and [`MAY_ADD_PAIRS`].
#[derive(Clone, Copy, Debug)]
pub(super) struct Abstract<const LANES: usize, const WAY: u8 = ANY>;

/// With the defaults of the traits.
pub(super) const ANY: u8 = 0;
/// With [`Coefficients::ROUNDS`], where coefficients have 16 bits.
pub(super) const ROUNDS: u8 = 1;
/// With [`Backend::COMPLEMENTS`].
pub(super) const COMPLEMENTS: u8 = 2;
/// With [`U64s::CHI_LAST`](crate::arch::U64s::CHI_LAST).
pub(super) const CHI_LAST: u8 = 3;
/// With [`U64s::IN_MEMORY`](crate::arch::U64s::IN_MEMORY).
pub(super) const IN_MEMORY: u8 = 4;
/// With [`Backend::MAY_ADD_PAIRS`], on a CPU that doesn't add pairs faster.
pub(super) const MAY_ADD_PAIRS: u8 = 5;

impl<const LANES: usize, const WAY: u8> Sealed for Abstract<LANES, WAY> {}

impl<const LANES: usize, const WAY: u8> From<Abstract<LANES, WAY>> for Portable {
    fn from(_: Abstract<LANES, WAY>) -> Self {
        Self
    }
}

/// No public operation runs on it.
impl<const LANES: usize, const WAY: u8> IntoChoice for Abstract<LANES, WAY> {
    fn choice(self, _: InCrate) -> Choice {
        Choice::Portable(Portable)
    }
}

impl<const LANES: usize, const WAY: u8> Backend for Abstract<LANES, WAY>
where
    [i16; LANES]: Default,
    [i32; LANES]: Default,
    [u32; LANES]: Default,
    [u64; LANES]: Default,
{
    type U64s = Word<u64, LANES, WAY>;
    /// No proof runs kernels on few lanes: they are the same for any number of lanes.
    type Few = u64;
    type Schedules = u64;
    type U32s = Word<u32, LANES, WAY>;
    type Sha256 = NoSha256;
    type I16s = Lanes<i16, LANES, WAY>;
    type I32s = Lanes<i32, LANES, WAY>;

    const NAME: &'static str = "abstract";
    const RANK: u8 = 0;
    const COMPLEMENTS: bool = WAY == COMPLEMENTS;
    const MAY_ADD_PAIRS: bool = WAY == MAY_ADD_PAIRS;

    fn run<K: Kernel<Self>>(self, kernel: K) -> K::Output {
        kernel.run(self)
    }

    fn run_scalar<K: Kernel<Self>>(self, kernel: K) -> K::Output {
        kernel.run(self)
    }

    fn add_pair_products(self, a: &[i16; 32], b: &[i16; 32], sums: &mut [i32; 16]) {
        let zero = values::constant(0, 32);
        for (i, sum) in sums.iter_mut().enumerate() {
            let pair = [2 * i, 2 * i + 1].into_iter().fold(zero, |pair, j| {
                values::add_product(a[j].value(), b[j].value(), pair, 32)
            });
            *sum = i32::name(values::add(sum.value(), pair, 32));
        }
    }

    fn halves(self, even: &[i32; 16], odd: &[i32; 16]) -> [[i16; 32]; 2] {
        let sum = |i: usize| [even, odd][i % 2][i / 2].value();
        [
            array::from_fn(|i| i16::name(values::low(sum(i), 16))),
            array::from_fn(|i| i16::name(values::shift_right(sum(i), 16))),
        ]
    }
}

/// Runs an expression for these numbers of lanes, in one of the ways.
macro_rules! on_widths {
    ($b:ident, $way:ident, $($lanes:literal)* => $body:expr) => {$({
        let $b = $crate::proofs::backend::Abstract::<$lanes, { $crate::proofs::backend::$way }>;
        $body
    })*};
}
pub(super) use on_widths;

/// Runs an expression for each number of lanes that a backend has, in one of the ways.
macro_rules! on_each_width {
    ($b:ident => $body:expr) => {
        $crate::proofs::backend::on_each_width!($b, ANY => $body)
    };
    ($b:ident, $way:ident => $body:expr) => {
        $crate::proofs::backend::on_widths!($b, $way, 1 4 8 16 32 => $body)
    };
}
pub(super) use on_each_width;

/// Runs an expression for each number of lanes of words that a backend has.
macro_rules! on_each_width_of_words {
    ($b:ident => $body:expr) => {
        $crate::proofs::backend::on_widths!($b, ANY, 1 2 4 8 16 => $body)
    };
}
pub(super) use on_each_width_of_words;

/// Runs an expression for up to eight lanes of words, and for each way to permute them, with the numbers of lanes of
/// the backends that use the way.
macro_rules! on_each_way_of_words {
    ($b:ident => $body:expr) => {
        $crate::proofs::backend::on_widths!($b, ANY, 1 2 4 8 => $body);
        $crate::proofs::backend::on_widths!($b, COMPLEMENTS, 1 => $body);
        $crate::proofs::backend::on_widths!($b, CHI_LAST, 4 8 => $body);
        $crate::proofs::backend::on_widths!($b, IN_MEMORY, 2 => $body);
    };
}
pub(super) use on_each_way_of_words;

/// A vector of values. In memory, the names of the values are the numbers.
#[derive(Clone, Copy)]
pub(super) struct Lanes<E: Number, const LANES: usize, const WAY: u8>([E::Handle; LANES]);

impl<E: Number, const LANES: usize, const WAY: u8> Lanes<E, LANES, WAY> {
    fn from_fn(mut id: impl FnMut(usize) -> Id) -> Self {
        let mut lanes = [Id::default().into(); LANES];
        for (i, lane) in lanes.iter_mut().enumerate() {
            *lane = id(i).into();
        }
        Self(lanes)
    }

    fn id(self, lane: usize) -> Id {
        self.0[lane]
            .try_into()
            .unwrap_or_else(|_| unreachable!("handles are made of ids"))
    }

    fn each(self, other: Self, f: impl Fn(Id, Id, u32) -> Id) -> Self {
        Self::from_fn(|i| f(self.id(i), other.id(i), E::BITS))
    }

    /// Value `i` of the lanes of `a`, followed by those of `b`.
    fn id_of_both(a: Self, b: Self, i: usize) -> Id {
        if i < LANES { a.id(i) } else { b.id(i - LANES) }
    }
}

impl<E: Number, const LANES: usize, const WAY: u8> Sealed for Lanes<E, LANES, WAY> {}

// Calls, as those of words.
impl<E: Number, const LANES: usize, const WAY: u8> Vector for Lanes<E, LANES, WAY>
where
    [E; LANES]: Default,
{
    type Token = Abstract<LANES, WAY>;
    type Element = E;
    type Array = [E; LANES];

    const LANES: usize = LANES;

    #[inline(never)]
    fn splat(_: Self::Token, element: E) -> Self {
        Self::from_fn(|_| values::constant(element.into(), E::BITS))
    }

    #[inline(never)]
    fn load(_: Self::Token, array: &Self::Array) -> Self {
        Self::from_fn(|i| array[i].value())
    }

    #[inline(never)]
    fn store(self, array: &mut Self::Array) {
        *array = array::from_fn(|i| E::name(self.id(i)));
    }

    fn chunks(elements: &[E]) -> &[Self::Array] {
        elements.as_chunks().0
    }

    fn chunks_mut(elements: &mut [E]) -> &mut [Self::Array] {
        elements.as_chunks_mut().0
    }
}

impl<E: Number, const LANES: usize, const WAY: u8> Coefficients for Lanes<E, LANES, WAY>
where
    [E; LANES]: Default,
{
    // Vectors of 32 bits never set it.
    const ROUNDS: bool = WAY == ROUNDS && E::BITS == 16;

    #[inline(never)]
    fn add(self, other: Self) -> Self {
        self.each(other, values::add)
    }

    #[inline(never)]
    fn sub(self, other: Self) -> Self {
        self.each(other, |x, y, bits| values::sub(x, y, false, bits))
    }

    #[inline(never)]
    fn mul_low(self, other: Self) -> Self {
        self.each(other, values::mul_low)
    }

    #[inline(never)]
    fn mul_high(self, other: Self) -> Self {
        self.each(other, values::mul_high)
    }

    #[inline(never)]
    fn shift_right<const N: i32>(self) -> Self {
        Self::from_fn(|i| values::shift_right(self.id(i), N as u32))
    }

    /// The default, after a check that the constants belong together.
    #[inline(never)]
    fn montgomery_product(self, factor: Self, factor_over_q: Self, q: Self) -> Self {
        for i in 0..LANES {
            let constants = [factor.id(i), factor_over_q.id(i), q.id(i)];
            values::expect_constants("a factor of Montgomery's", constants, |[c, c_over_q, q]| {
                2 * c.abs() <= q && (c_over_q * q - c) % (1 << E::BITS) == 0
            });
        }
        let m = self.mul_low(factor_over_q);
        self.mul_high(factor).sub(m.mul_high(q))
    }

    /// The default with a difference that may wrap, after a check that the constants belong together.
    #[inline(never)]
    fn barrett_product(self, factor: Self, factor_over_q: Self, q: Self) -> Self {
        for i in 0..LANES {
            let constants = [factor.id(i), factor_over_q.id(i), q.id(i)];
            values::expect_constants("a factor of Barrett's", constants, |[c, c_over_q, q]| {
                2 * c.abs() <= q && 2 * (c_over_q * q - (c << E::BITS)).abs() <= q
            });
        }
        let quotient = self.mul_high(factor_over_q);
        let product = self.mul_low(factor);
        product.each(quotient.mul_low(q), |x, y, bits| {
            values::sub(x, y, true, bits)
        })
    }

    /// With the quotient rounded to the nearest integer, after a check that the constants belong together.
    #[inline(never)]
    fn rounded_product(self, factor: Self, factor_over_q: Self, q: Self) -> Self {
        assert!(Self::ROUNDS, "the default is a Barrett product");
        for i in 0..LANES {
            let constants = [factor.id(i), factor_over_q.id(i), q.id(i)];
            values::expect_constants("a factor, rounded", constants, |[c, c_over_q, q]| {
                2 * c.abs() <= q && 2 * (c_over_q * q - (c << (E::BITS - 1))).abs() <= q
            });
        }
        let quotient = self.each(factor_over_q, values::mul_rounded);
        let product = self.mul_low(factor);
        product.each(quotient.mul_low(q), |x, y, bits| {
            values::sub(x, y, true, bits)
        })
    }

    #[inline(never)]
    fn transpose<const LEN: usize>(a: Self, b: Self) -> (Self, Self) {
        let odd = |i: usize| i / LEN % 2 == 1;
        (
            Self::from_fn(|i| if odd(i) { b.id(i - LEN) } else { a.id(i) }),
            Self::from_fn(|i| if odd(i) { b.id(i) } else { a.id(i + LEN) }),
        )
    }

    #[inline(never)]
    fn deinterleave(a: Self, b: Self) -> (Self, Self) {
        let len = (32 / E::BITS) as usize;
        let block = |i: usize, odd: usize| (2 * (i / len) + odd) * len + i % len;
        (
            Self::from_fn(|i| Self::id_of_both(a, b, block(i, 0))),
            Self::from_fn(|i| Self::id_of_both(a, b, block(i, 1))),
        )
    }

    #[inline(never)]
    fn interleave(a: Self, b: Self) -> (Self, Self) {
        let len = (32 / E::BITS) as usize;
        let lane = |i: usize| {
            let vector = if (i / len).is_multiple_of(2) { a } else { b };
            vector.id(i / (2 * len) * len + i % len)
        };
        (Self::from_fn(lane), Self::from_fn(|i| lane(LANES + i)))
    }
}

impl<const LANES: usize, const WAY: u8> I16s for Lanes<i16, LANES, WAY> where [i16; LANES]: Default {}

impl<const LANES: usize, const WAY: u8> I32s for Lanes<i32, LANES, WAY>
where
    [i32; LANES]: Default,
{
    type Sums = [Id; LANES];

    #[inline(never)]
    fn zero_sums(_: Self::Token) -> Self::Sums {
        [values::constant(0, 64); LANES]
    }

    #[inline(never)]
    fn add_product(self, other: Self, sums: Self::Sums) -> Self::Sums {
        array::from_fn(|i| values::add_product(self.id(i), other.id(i), sums[i], 64))
    }

    /// By halves, as its definition says.
    #[inline(never)]
    fn montgomery_reduce(sums: Self::Sums, q_inverse: Self, q: Self) -> Self {
        Self::from_fn(|i| {
            let m = values::mul_low(values::low(sums[i], 32), q_inverse.id(i), 32);
            let high = values::shift_right(sums[i], 32);
            values::sub(high, values::mul_high(m, q.id(i), 32), false, 32)
        })
    }
}
