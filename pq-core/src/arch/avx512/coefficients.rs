//! Coefficients of both rings.

use core::arch::x86_64::*;

use super::super::instructions::{instructions, lane_orders, sums, vector};
use super::super::{Coefficients, I16s, I32s, Vector};
use super::{Avx512, read};
use crate::sealed::Sealed;

vector! {
    /// 32 coefficients of ML-KEM.
    I16x32: __m512i = [i16; 32] of Avx512,
    |x| _mm512_set1_epi16(x), _mm512_loadu_si512, _mm512_storeu_si512
}

impl Coefficients for I16x32 {
    instructions! {
        add => _mm512_add_epi16(other);
        sub => _mm512_sub_epi16(other);
        mul_low => _mm512_mullo_epi16(other);
        mul_high => _mm512_mulhi_epi16(other);
    }

    #[inline(always)]
    fn shift_right<const N: i32>(self) -> Self {
        // SAFETY: `self` proves that the CPU has the instruction.
        Self(unsafe { _mm512_sra_epi16(self.0, _mm_cvtsi32_si128(N)) })
    }

    lane_orders!(2);
}

impl I16s for I16x32 {}

vector! {
    /// 16 coefficients of ML-DSA.
    I32x16: __m512i = [i32; 16] of Avx512,
    |x| _mm512_set1_epi32(x), _mm512_loadu_si512, _mm512_storeu_si512
}

impl Coefficients for I32x16 {
    instructions! {
        add => _mm512_add_epi32(other);
        sub => _mm512_sub_epi32(other);
        mul_low => _mm512_mullo_epi32(other);
        mul_high => mul_high(other);
        montgomery_product => montgomery_product(factor, factor_over_q, q);
    }

    #[inline(always)]
    fn shift_right<const N: i32>(self) -> Self {
        // SAFETY: `self` proves that the CPU has the instruction.
        Self(unsafe { _mm512_sra_epi32(self.0, _mm_cvtsi32_si128(N)) })
    }

    lane_orders!(1);
}

sums! {
    /// The sums of the even and of the odd lanes.
    I32x16: [__m512i; 2] of Avx512, _mm512_setzero_si512()
}

/// High halves of products of 32 bits, which no instruction computes: from the products of the even
/// lanes and of the odd lanes, in 64 bits.
#[inline]
#[target_feature(enable = "avx512f")]
fn mul_high(a: __m512i, b: __m512i) -> __m512i {
    let even = _mm512_mul_epi32(a, b);
    let odd = _mm512_mul_epi32(_mm512_srli_epi64::<32>(a), _mm512_srli_epi64::<32>(b));
    high_halves(even, odd)
}

/// As the default method, but takes the high halves after the subtraction.
#[inline]
#[target_feature(enable = "avx512f")]
fn montgomery_product(x: __m512i, factor: __m512i, factor_over_q: __m512i, q: __m512i) -> __m512i {
    let m = _mm512_mullo_epi32(x, factor_over_q);
    let even = _mm512_sub_epi64(_mm512_mul_epi32(x, factor), _mm512_mul_epi32(m, q));
    let odd = _mm512_sub_epi64(
        _mm512_mul_epi32(odd_lanes(x), odd_lanes(factor)),
        _mm512_mul_epi32(odd_lanes(m), odd_lanes(q)),
    );
    high_halves(even, odd)
}

#[inline]
#[target_feature(enable = "avx512f")]
fn add_product(a: __m512i, b: __m512i, [even, odd]: [__m512i; 2]) -> [__m512i; 2] {
    [
        _mm512_add_epi64(even, _mm512_mul_epi32(a, b)),
        _mm512_add_epi64(odd, _mm512_mul_epi32(odd_lanes(a), odd_lanes(b))),
    ]
}

/// Keeps the low halves of all lanes in one vector: for two products of which only low halves are
/// used, LLVM makes products of 64 bits, which take three times as long on Intel's CPUs.
#[inline]
#[target_feature(enable = "avx512f")]
fn montgomery_reduce([even, odd]: [__m512i; 2], q_inverse: __m512i, q: __m512i) -> __m512i {
    let low = _mm512_mask_shuffle_epi32::<_MM_PERM_CCAA>(even, !EVEN_LANES, odd);
    let m = _mm512_mullo_epi32(low, q_inverse);
    high_halves(
        _mm512_sub_epi64(even, _mm512_mul_epi32(m, q)),
        _mm512_sub_epi64(odd, _mm512_mul_epi32(odd_lanes(m), q)),
    )
}

/// The odd lanes of `even` as even lanes, and those of `odd` as odd lanes.
#[inline]
#[target_feature(enable = "avx512f")]
fn high_halves(even: __m512i, odd: __m512i) -> __m512i {
    _mm512_mask_shuffle_epi32::<_MM_PERM_DDBB>(odd, EVEN_LANES, even)
}

const EVEN_LANES: __mmask16 = 0x5555;

/// Moves each odd lane to the even lane before it.
#[inline]
#[target_feature(enable = "avx512f")]
fn odd_lanes(x: __m512i) -> __m512i {
    _mm512_shuffle_epi32::<_MM_PERM_DDBB>(x)
}

/// Exchanges each odd block of `BITS` bits of `a` and the even block of `b` before it.
#[inline]
#[target_feature(enable = "avx512f")]
fn transpose_blocks<const BITS: usize>(a: __m512i, b: __m512i) -> (__m512i, __m512i) {
    match BITS {
        32 => (
            _mm512_mask_shuffle_epi32::<_MM_PERM_CCAA>(a, !EVEN_LANES, b),
            _mm512_mask_shuffle_epi32::<_MM_PERM_DDBB>(b, EVEN_LANES, a),
        ),
        64 => (_mm512_unpacklo_epi64(a, b), _mm512_unpackhi_epi64(a, b)),
        128 => (
            _mm512_mask_permutex_epi64::<0b01_00_01_00>(a, 0b1100_1100, b),
            _mm512_mask_permutex_epi64::<0b11_10_11_10>(b, 0b0011_0011, a),
        ),
        _ => (
            _mm512_shuffle_i64x2::<0b01_00_01_00>(a, b),
            _mm512_shuffle_i64x2::<0b11_10_11_10>(a, b),
        ),
    }
}

#[inline]
#[target_feature(enable = "avx512f")]
fn deinterleave(a: __m512i, b: __m512i) -> (__m512i, __m512i) {
    permute(a, b, &DEINTERLEAVED)
}

#[inline]
#[target_feature(enable = "avx512f")]
fn interleave(a: __m512i, b: __m512i) -> (__m512i, __m512i) {
    permute(a, b, &INTERLEAVED)
}

/// Two permutations of the 32-bit lanes of `a` and `b`.
#[inline]
#[target_feature(enable = "avx512f")]
fn permute(a: __m512i, b: __m512i, lanes: &[[u32; 16]; 2]) -> (__m512i, __m512i) {
    (
        _mm512_permutex2var_epi32(a, read(&lanes[0]), b),
        _mm512_permutex2var_epi32(a, read(&lanes[1]), b),
    )
}

/// The even lanes of two vectors, and the odd lanes.
static DEINTERLEAVED: [[u32; 16]; 2] = {
    let mut lanes = [[0; 16]; 2];
    let mut i = 0;
    while i < 32 {
        lanes[i % 2][i / 2] = i as u32;
        i += 1;
    }
    lanes
};

/// The lanes of two vectors in turn.
static INTERLEAVED: [[u32; 16]; 2] = {
    let mut lanes = [[0; 16]; 2];
    let mut i = 0;
    while i < 32 {
        lanes[i / 16][i % 16] = (i / 2 + i % 2 * 16) as u32;
        i += 1;
    }
    lanes
};
