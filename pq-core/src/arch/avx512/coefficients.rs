//! Coefficients of both rings.

use core::arch::x86_64::*;

use super::super::instructions::{instructions, vector};
use super::super::{Coefficients, I16s, I32s, Vector};
use super::{Avx512, read};

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

    #[inline(always)]
    fn deinterleave<const LEN: usize>(a: Self, b: Self) -> (Self, Self) {
        // SAFETY: `a` proves that the CPU has the instructions.
        let (even, odd) = unsafe {
            match LEN {
                1 => permute_words(a.0, b.0, &DEINTERLEAVED_WORDS),
                2 => permute_doublewords(a.0, b.0, &DEINTERLEAVED_DOUBLEWORDS),
                4 => permute_quadwords(a.0, b.0, &DEINTERLEAVED_QUADWORDS[0]),
                8 => permute_quadwords(a.0, b.0, &DEINTERLEAVED_QUADWORDS[1]),
                _ => permute_quadwords(a.0, b.0, &DEINTERLEAVED_QUADWORDS[2]),
            }
        };
        (Self(even), Self(odd))
    }

    #[inline(always)]
    fn interleave<const LEN: usize>(a: Self, b: Self) -> (Self, Self) {
        // SAFETY: `a` proves that the CPU has the instructions.
        let (low, high) = unsafe {
            match LEN {
                1 => permute_words(a.0, b.0, &INTERLEAVED_WORDS),
                2 => permute_doublewords(a.0, b.0, &INTERLEAVED_DOUBLEWORDS),
                4 => permute_quadwords(a.0, b.0, &INTERLEAVED_QUADWORDS[0]),
                8 => permute_quadwords(a.0, b.0, &INTERLEAVED_QUADWORDS[1]),
                _ => permute_quadwords(a.0, b.0, &INTERLEAVED_QUADWORDS[2]),
            }
        };
        (Self(low), Self(high))
    }
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

    #[inline(always)]
    fn deinterleave<const LEN: usize>(a: Self, b: Self) -> (Self, Self) {
        // SAFETY: `a` proves that the CPU has the instructions.
        let (even, odd) = unsafe {
            match LEN {
                1 => permute_doublewords(a.0, b.0, &DEINTERLEAVED_DOUBLEWORDS),
                2 => permute_quadwords(a.0, b.0, &DEINTERLEAVED_QUADWORDS[0]),
                4 => permute_quadwords(a.0, b.0, &DEINTERLEAVED_QUADWORDS[1]),
                _ => permute_quadwords(a.0, b.0, &DEINTERLEAVED_QUADWORDS[2]),
            }
        };
        (Self(even), Self(odd))
    }

    #[inline(always)]
    fn interleave<const LEN: usize>(a: Self, b: Self) -> (Self, Self) {
        // SAFETY: `a` proves that the CPU has the instructions.
        let (low, high) = unsafe {
            match LEN {
                1 => permute_doublewords(a.0, b.0, &INTERLEAVED_DOUBLEWORDS),
                2 => permute_quadwords(a.0, b.0, &INTERLEAVED_QUADWORDS[0]),
                4 => permute_quadwords(a.0, b.0, &INTERLEAVED_QUADWORDS[1]),
                _ => permute_quadwords(a.0, b.0, &INTERLEAVED_QUADWORDS[2]),
            }
        };
        (Self(low), Self(high))
    }
}

impl I32s for I32x16 {}

/// There is no instruction for high halves of 32 bits: products of the even lanes and
/// of the odd lanes, in 64 bits.
#[inline]
#[target_feature(enable = "avx512f")]
fn mul_high(a: __m512i, b: __m512i) -> __m512i {
    let even = _mm512_mul_epi32(a, b);
    let odd = _mm512_mul_epi32(_mm512_srli_epi64::<32>(a), _mm512_srli_epi64::<32>(b));
    _mm512_mask_shuffle_epi32::<_MM_PERM_DDBB>(odd, EVEN_LANES, even)
}

/// As the default method, with the high halves taken after the subtraction.
#[inline]
#[target_feature(enable = "avx512f")]
fn montgomery_product(x: __m512i, factor: __m512i, factor_over_q: __m512i, q: __m512i) -> __m512i {
    let m = _mm512_mullo_epi32(x, factor_over_q);
    let even = _mm512_sub_epi64(_mm512_mul_epi32(x, factor), _mm512_mul_epi32(m, q));
    let odd = _mm512_sub_epi64(
        _mm512_mul_epi32(odd_lanes(x), odd_lanes(factor)),
        _mm512_mul_epi32(odd_lanes(m), odd_lanes(q)),
    );
    _mm512_mask_shuffle_epi32::<_MM_PERM_DDBB>(odd, EVEN_LANES, even)
}

const EVEN_LANES: __mmask16 = 0x5555;

/// Each odd lane in place of the even lane before it.
#[inline]
#[target_feature(enable = "avx512f")]
fn odd_lanes(x: __m512i) -> __m512i {
    _mm512_shuffle_epi32::<_MM_PERM_DDBB>(x)
}

/// Two permutations of the 16-bit lanes of `a` and `b`.
#[inline]
#[target_feature(enable = "avx512bw")]
fn permute_words(a: __m512i, b: __m512i, lanes: &[[u16; 32]; 2]) -> (__m512i, __m512i) {
    let (first, second) = (read(&lanes[0]), read(&lanes[1]));
    (
        _mm512_permutex2var_epi16(a, first, b),
        _mm512_permutex2var_epi16(a, second, b),
    )
}

/// Two permutations of the 32-bit lanes of `a` and `b`.
#[inline]
#[target_feature(enable = "avx512f")]
fn permute_doublewords(a: __m512i, b: __m512i, lanes: &[[u32; 16]; 2]) -> (__m512i, __m512i) {
    let (first, second) = (read(&lanes[0]), read(&lanes[1]));
    (
        _mm512_permutex2var_epi32(a, first, b),
        _mm512_permutex2var_epi32(a, second, b),
    )
}

/// Two permutations of the 64-bit lanes of `a` and `b`.
#[inline]
#[target_feature(enable = "avx512f")]
fn permute_quadwords(a: __m512i, b: __m512i, lanes: &[[u64; 8]; 2]) -> (__m512i, __m512i) {
    let (first, second) = (read(&lanes[0]), read(&lanes[1]));
    (
        _mm512_permutex2var_epi64(a, first, b),
        _mm512_permutex2var_epi64(a, second, b),
    )
}

/// Defines the permutations that take two vectors apart by blocks, the even blocks and
/// the odd, and those that put them together.
macro_rules! permutations {
    ($element:ty, $lanes:literal, $deinterleaved:ident, $interleaved:ident) => {
        const fn $deinterleaved(len: usize) -> [[$element; $lanes]; 2] {
            let mut lanes = [[0; $lanes]; 2];
            let mut i = 0;
            while i < $lanes {
                lanes[0][i] = (2 * (i / len) * len + i % len) as $element;
                lanes[1][i] = ((2 * (i / len) + 1) * len + i % len) as $element;
                i += 1;
            }
            lanes
        }

        const fn $interleaved(len: usize) -> [[$element; $lanes]; 2] {
            let mut lanes = [[0; $lanes]; 2];
            let mut i = 0;
            while i < 2 * $lanes {
                let from = if i / len % 2 == 0 { 0 } else { $lanes };
                lanes[i / $lanes][i % $lanes] = (from + i / (2 * len) * len + i % len) as $element;
                i += 1;
            }
            lanes
        }
    };
}

permutations!(u16, 32, deinterleaved_words, interleaved_words);
permutations!(u32, 16, deinterleaved_doublewords, interleaved_doublewords);
permutations!(u64, 8, deinterleaved_quadwords, interleaved_quadwords);

static DEINTERLEAVED_WORDS: [[u16; 32]; 2] = deinterleaved_words(1);
static INTERLEAVED_WORDS: [[u16; 32]; 2] = interleaved_words(1);
static DEINTERLEAVED_DOUBLEWORDS: [[u32; 16]; 2] = deinterleaved_doublewords(1);
static INTERLEAVED_DOUBLEWORDS: [[u32; 16]; 2] = interleaved_doublewords(1);
/// Blocks of 1, 2 and 4 quadwords.
static DEINTERLEAVED_QUADWORDS: [[[u64; 8]; 2]; 3] = [
    deinterleaved_quadwords(1),
    deinterleaved_quadwords(2),
    deinterleaved_quadwords(4),
];
static INTERLEAVED_QUADWORDS: [[[u64; 8]; 2]; 3] = [
    interleaved_quadwords(1),
    interleaved_quadwords(2),
    interleaved_quadwords(4),
];
