//! Coefficients of both rings.

use core::arch::x86_64::*;

use super::super::instructions::{instructions, lane_orders, sums, vector};
use super::super::{Coefficients, I16s, I32s, Vector};
use super::Avx2;
use crate::sealed::Sealed;

vector! {
    /// 16 coefficients of ML-KEM.
    I16x16: __m256i = [i16; 16] of Avx2,
    |x| _mm256_set1_epi16(x), _mm256_loadu_si256, _mm256_storeu_si256
}

impl Coefficients for I16x16 {
    instructions! {
        add => _mm256_add_epi16(other);
        sub => _mm256_sub_epi16(other);
        mul_low => _mm256_mullo_epi16(other);
        mul_high => _mm256_mulhi_epi16(other);
    }

    #[inline(always)]
    fn shift_right<const N: i32>(self) -> Self {
        // SAFETY: `self` proves that the CPU has the instruction.
        Self(unsafe { _mm256_srai_epi16::<N>(self.0) })
    }

    lane_orders!(2);
}

impl I16s for I16x16 {}

vector! {
    /// Eight coefficients of ML-DSA.
    I32x8: __m256i = [i32; 8] of Avx2,
    |x| _mm256_set1_epi32(x), _mm256_loadu_si256, _mm256_storeu_si256
}

impl Coefficients for I32x8 {
    instructions! {
        add => _mm256_add_epi32(other);
        sub => _mm256_sub_epi32(other);
        mul_low => _mm256_mullo_epi32(other);
        mul_high => mul_high(other);
        montgomery_product => montgomery_product(factor, factor_over_q, q);
    }

    #[inline(always)]
    fn shift_right<const N: i32>(self) -> Self {
        // SAFETY: `self` proves that the CPU has the instruction.
        Self(unsafe { _mm256_srai_epi32::<N>(self.0) })
    }

    lane_orders!(1);
}

sums! {
    /// The sums of the even and of the odd lanes.
    I32x8: [__m256i; 2] of Avx2, _mm256_setzero_si256()
}

/// High halves of products of 32 bits, which no instruction computes: from the products of the even
/// lanes and of the odd lanes, in 64 bits.
#[inline]
#[target_feature(enable = "avx2")]
fn mul_high(a: __m256i, b: __m256i) -> __m256i {
    let even = _mm256_mul_epi32(a, b);
    let odd = _mm256_mul_epi32(odd_lanes(a), odd_lanes(b));
    high_halves(even, odd)
}

/// As the default method, but takes the high halves after the subtraction, and avoids the low
/// products of 32 bits, which take longer than those of 64.
#[inline]
#[target_feature(enable = "avx2")]
fn montgomery_product(x: __m256i, factor: __m256i, factor_over_q: __m256i, q: __m256i) -> __m256i {
    let (x_odd, factor_odd) = (odd_lanes(x), odd_lanes(factor));
    let m = _mm256_mul_epi32(x, factor_over_q);
    let m_odd = _mm256_mul_epi32(x_odd, odd_lanes(factor_over_q));
    let even = _mm256_sub_epi64(_mm256_mul_epi32(x, factor), _mm256_mul_epi32(m, q));
    let odd = _mm256_sub_epi64(
        _mm256_mul_epi32(x_odd, factor_odd),
        _mm256_mul_epi32(m_odd, q),
    );
    high_halves(even, odd)
}

#[inline]
#[target_feature(enable = "avx2")]
fn add_product(a: __m256i, b: __m256i, [even, odd]: [__m256i; 2]) -> [__m256i; 2] {
    [
        _mm256_add_epi64(even, _mm256_mul_epi32(a, b)),
        _mm256_add_epi64(odd, _mm256_mul_epi32(odd_lanes(a), odd_lanes(b))),
    ]
}

#[inline]
#[target_feature(enable = "avx2")]
fn montgomery_reduce([even, odd]: [__m256i; 2], q_inverse: __m256i, q: __m256i) -> __m256i {
    let (m, m_odd) = (
        _mm256_mul_epi32(even, q_inverse),
        _mm256_mul_epi32(odd, q_inverse),
    );
    high_halves(
        _mm256_sub_epi64(even, _mm256_mul_epi32(m, q)),
        _mm256_sub_epi64(odd, _mm256_mul_epi32(m_odd, q)),
    )
}

/// The odd lanes of `even` as even lanes, and those of `odd` as odd lanes.
#[inline]
#[target_feature(enable = "avx2")]
fn high_halves(even: __m256i, odd: __m256i) -> __m256i {
    _mm256_blend_epi32::<0b1010_1010>(odd_lanes(even), odd)
}

/// Moves each odd lane to the even lane before it.
#[inline]
#[target_feature(enable = "avx2")]
fn odd_lanes(x: __m256i) -> __m256i {
    _mm256_shuffle_epi32::<0b11_11_01_01>(x)
}

/// Exchanges each odd block of `BITS` bits of `a` and the even block of `b` before it.
#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn transpose_blocks<const BITS: usize>(a: __m256i, b: __m256i) -> (__m256i, __m256i) {
    match BITS {
        32 => (
            _mm256_blend_epi32::<0b1010_1010>(a, _mm256_slli_epi64::<32>(b)),
            _mm256_blend_epi32::<0b1010_1010>(_mm256_srli_epi64::<32>(a), b),
        ),
        64 => (_mm256_unpacklo_epi64(a, b), _mm256_unpackhi_epi64(a, b)),
        _ => (
            _mm256_permute2x128_si256::<0x20>(a, b),
            _mm256_permute2x128_si256::<0x31>(a, b),
        ),
    }
}

/// Exchanges the second and the third quadword: most instructions work on halves, and this makes
/// them work on the whole.
#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn swap_middle(x: __m256i) -> __m256i {
    _mm256_permute4x64_epi64::<0b11_01_10_00>(x)
}

#[inline]
#[target_feature(enable = "avx2")]
fn deinterleave(a: __m256i, b: __m256i) -> (__m256i, __m256i) {
    let (a, b) = (_mm256_castsi256_ps(a), _mm256_castsi256_ps(b));
    (
        swap_middle(_mm256_castps_si256(_mm256_shuffle_ps::<0b10_00_10_00>(
            a, b,
        ))),
        swap_middle(_mm256_castps_si256(_mm256_shuffle_ps::<0b11_01_11_01>(
            a, b,
        ))),
    )
}

#[inline]
#[target_feature(enable = "avx2")]
fn interleave(a: __m256i, b: __m256i) -> (__m256i, __m256i) {
    transpose_blocks::<128>(_mm256_unpacklo_epi32(a, b), _mm256_unpackhi_epi32(a, b))
}
