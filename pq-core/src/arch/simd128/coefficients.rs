//! Coefficients of both rings.

use core::arch::wasm32::*;

use super::super::instructions::{instructions, lane_orders, sums, vector};
use super::super::{Coefficients, I16s, I32s, Vector};
use super::Simd128;
use crate::sealed::Sealed;

vector! {
    /// Eight coefficients of ML-KEM.
    I16x8: v128 = [i16; 8] of Simd128,
    |x| i16x8_splat(x), v128_load, v128_store
}

impl Coefficients for I16x8 {
    const ROUNDS: bool = true;

    instructions! {
        add => i16x8_add(other);
        sub => i16x8_sub(other);
        mul_low => i16x8_mul(other);
        mul_high => mul_high_16(other);
        montgomery_product => montgomery_product_16(factor, factor_over_q, q);
        rounded_product => rounded_product_16(factor, factor_over_q, q);
    }

    #[inline(always)]
    fn shift_right<const N: i32>(self) -> Self {
        Self(i16x8_shr(self.0, N.cast_unsigned()))
    }

    lane_orders!(2);
}

impl I16s for I16x8 {}

vector! {
    /// Four coefficients of ML-DSA.
    I32x4: v128 = [i32; 4] of Simd128,
    |x| i32x4_splat(within_loops(x)), v128_load, v128_store
}

impl Coefficients for I32x4 {
    instructions! {
        add => i32x4_add(other);
        sub => i32x4_sub(other);
        mul_low => i32x4_mul(other);
        mul_high => mul_high_32(other);
        montgomery_product => montgomery_product_32(factor, factor_over_q, q);
    }

    #[inline(always)]
    fn shift_right<const N: i32>(self) -> Self {
        Self(i32x4_shr(self.0, N.cast_unsigned()))
    }

    lane_orders!(1);
}

sums! {
    /// The sums of the lower and of the upper lanes.
    I32x4: [v128; 2] of Simd128, i64x2_splat(0)
}

/// The same vector, as the mean of each byte and itself, which the compiler doesn't see through.
///
/// If the compiler knows that a vector is a number in all lanes, a part of another vector, or in
/// memory, it extends the lanes early. Then it does not recognise a product of halves of vectors
/// ([`i64x2_extmul_low_i32x4`]): it multiplies numbers of twice as many bits instead, which takes
/// several times as long.
#[inline(always)]
pub(super) fn opaque(x: v128) -> v128 {
    u8x16_avgr(x, x)
}

/// The same number, which the compiler does not move out of a loop: it would move with it the
/// vectors that [`opaque`] has to keep beside the product.
#[inline(always)]
fn within_loops(x: i32) -> i32 {
    // SAFETY: the pointer is to a variable of this function, which has a value.
    unsafe { (&raw const x).read_volatile() }
}

/// The vector x, which the compiler can't compute before `other`.
///
/// Each bit is selected from x, whether that bit of `other` is set or not. Like [`within_loops`],
/// for vectors that exist before a loop.
#[inline(always)]
fn beside(x: v128, other: v128) -> v128 {
    v128_bitselect(x, x, other)
}

/// As the default method, but halves the difference of high halves that are doubled and rounded.
/// This is exact: the low halves are equal, so the products differ by a multiple of R, and both are
/// rounded by the same amount. No factor is the smallest number of the type; only its product with
/// itself would saturate.
#[inline(always)]
fn montgomery_product_16(x: v128, factor: v128, factor_over_q: v128, q: v128) -> v128 {
    let m = i16x8_mul(x, factor_over_q);
    let doubled = i16x8_sub(i16x8_q15mulr_sat(x, factor), i16x8_q15mulr_sat(m, q));
    i16x8_shr(doubled, 1)
}

/// As the default method.
#[inline(always)]
fn montgomery_product_32(x: v128, factor: v128, factor_over_q: v128, q: v128) -> v128 {
    let m = i32x4_mul(x, factor_over_q);
    i32x4_sub(mul_high_32(x, factor), mul_high_32(m, beside(q, m)))
}

/// Only one of the three products needs its high half, and its instruction rounds as needed.
#[inline(always)]
fn rounded_product_16(x: v128, factor: v128, factor_over_q: v128, q: v128) -> v128 {
    let quotient = i16x8_q15mulr_sat(x, factor_over_q);
    i16x8_sub(i16x8_mul(x, factor), i16x8_mul(quotient, q))
}

/// The high halves of products, which no instruction computes: from the products of the lower and
/// of the upper lanes.
#[inline(always)]
fn mul_high_16(a: v128, b: v128) -> v128 {
    let (a, b) = (opaque(a), opaque(b));
    let (low, high) = (i32x4_extmul_low_i16x8(a, b), i32x4_extmul_high_i16x8(a, b));
    i16x8_shuffle::<1, 3, 5, 7, 9, 11, 13, 15>(low, high)
}

/// As [`mul_high_16`].
#[inline(always)]
fn mul_high_32(a: v128, b: v128) -> v128 {
    let [low, high] = products(a, b);
    odd_lanes(low, high)
}

#[inline(always)]
fn products(a: v128, b: v128) -> [v128; 2] {
    let (a, b) = (opaque(a), opaque(b));
    [i64x2_extmul_low_i32x4(a, b), i64x2_extmul_high_i32x4(a, b)]
}

#[inline(always)]
fn add_product(a: v128, b: v128, [low_sum, high_sum]: [v128; 2]) -> [v128; 2] {
    let [low, high] = products(a, b);
    [i64x2_add(low_sum, low), i64x2_add(high_sum, high)]
}

#[inline(always)]
fn montgomery_reduce([low, high]: [v128; 2], q_inverse: v128, q: v128) -> v128 {
    let m = i32x4_mul(even_lanes(low, high), q_inverse);
    let [m_low, m_high] = products(m, beside(q, m));
    odd_lanes(i64x2_sub(low, m_low), i64x2_sub(high, m_high))
}

#[inline(always)]
fn even_lanes(a: v128, b: v128) -> v128 {
    i32x4_shuffle::<0, 2, 4, 6>(a, b)
}

#[inline(always)]
fn odd_lanes(a: v128, b: v128) -> v128 {
    i32x4_shuffle::<1, 3, 5, 7>(a, b)
}

/// Exchanges each odd block of `BITS` bits of `a` and the even block of `b` before it.
#[inline(always)]
fn transpose_blocks<const BITS: usize>(a: v128, b: v128) -> (v128, v128) {
    if BITS == 32 {
        return (
            i32x4_shuffle::<0, 4, 2, 6>(a, b),
            i32x4_shuffle::<1, 5, 3, 7>(a, b),
        );
    }
    (i64x2_shuffle::<0, 2>(a, b), i64x2_shuffle::<1, 3>(a, b))
}

#[inline(always)]
fn deinterleave(a: v128, b: v128) -> (v128, v128) {
    (even_lanes(a, b), odd_lanes(a, b))
}

#[inline(always)]
fn interleave(a: v128, b: v128) -> (v128, v128) {
    (
        i32x4_shuffle::<0, 4, 1, 5>(a, b),
        i32x4_shuffle::<2, 6, 3, 7>(a, b),
    )
}
