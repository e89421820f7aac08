//! The lanes of hash functions.

use core::arch::x86_64::*;

use super::super::instructions::{instructions, vector};
use super::super::{U32s, U64s, Vector, Words};
use super::Avx2;
use super::coefficients::transpose_blocks;
use crate::sealed::Sealed;

/// Vectors of words: the same instructions for both widths.
macro_rules! words {
    ($name:ident, $bits:literal, $add:ident, $sub:ident, $shift_left:ident, $shift_right:ident) => {
        impl Words for $name {
            instructions! {
                add => $add(other);
                sub => $sub(other);
                xor => _mm256_xor_si256(other);
                xor3 => xor3(b, c);
                choose => choose(b, c);
                majority => majority(b, c);
            }

            #[inline(always)]
            fn shift_right<const N: i32>(self) -> Self {
                // SAFETY: `self` proves that the CPU has the instruction.
                Self(unsafe { $shift_right(self.0, _mm_cvtsi32_si128(N)) })
            }

            #[inline(always)]
            fn shift_in<const N: i32>(self, next: Self) -> Self {
                // SAFETY: `self` proves that the CPU has the instructions.
                Self(unsafe {
                    _mm256_or_si256(
                        $shift_left(self.0, _mm_cvtsi32_si128(N)),
                        $shift_right(next.0, _mm_cvtsi32_si128($bits - N)),
                    )
                })
            }
        }
    };
}

vector! {
    /// Eight lanes of SHA-256.
    U32x8: __m256i = [u32; 8] of Avx2,
    |x| _mm256_set1_epi32(x.cast_signed()), _mm256_loadu_si256, _mm256_storeu_si256
}

words!(
    U32x8,
    32,
    _mm256_add_epi32,
    _mm256_sub_epi32,
    _mm256_sll_epi32,
    _mm256_srl_epi32
);

impl U32s for U32x8 {}

vector! {
    /// Four lanes of Keccak or SHA-512.
    U64x4: __m256i = [u64; 4] of Avx2,
    |x| _mm256_set1_epi64x(x.cast_signed()), _mm256_loadu_si256, _mm256_storeu_si256
}

words!(
    U64x4,
    64,
    _mm256_add_epi64,
    _mm256_sub_epi64,
    _mm256_sll_epi64,
    _mm256_srl_epi64
);

impl U64s for U64x4 {
    instructions! {
        chi => chi(b, c);
    }

    #[inline(always)]
    fn mask(_: Avx2, lanes: u32) -> Self {
        // SAFETY: the token proves that the CPU has the instructions.
        Self(unsafe { mask(lanes) })
    }

    #[inline(always)]
    fn transpose(vectors: &[Self; 24], blocks: &mut [[u8; 192]]) {
        let mut registers = [vectors[0].0; 24];
        for (register, vector) in registers.iter_mut().zip(vectors) {
            *register = vector.0;
        }
        // SAFETY: the vectors prove that the CPU has the instructions.
        unsafe { transpose(&registers, blocks) }
    }
}

#[inline]
#[target_feature(enable = "avx2")]
fn mask(lanes: u32) -> __m256i {
    let bits = _mm256_setr_epi64x(1, 2, 4, 8);
    let lanes = _mm256_set1_epi64x(lanes.into());
    _mm256_cmpeq_epi64(_mm256_and_si256(lanes, bits), bits)
}

/// Transposes six times four vectors.
#[inline]
#[target_feature(enable = "avx2")]
pub(in super::super) fn transpose(vectors: &[__m256i; 24], blocks: &mut [[u8; 192]]) {
    for (sixth, four) in vectors.as_chunks::<4>().0.iter().enumerate() {
        let [a, b, c, d] = *four;
        // The even lanes of two vectors, and the odd lanes.
        let (ab0, ab1) = (_mm256_unpacklo_epi64(a, b), _mm256_unpackhi_epi64(a, b));
        let (cd0, cd1) = (_mm256_unpacklo_epi64(c, d), _mm256_unpackhi_epi64(c, d));
        let (row0, row2) = transpose_blocks::<128>(ab0, cd0);
        let (row1, row3) = transpose_blocks::<128>(ab1, cd1);
        for (block, row) in blocks.iter_mut().zip([row0, row1, row2, row3]) {
            let bytes: &mut [u8; 32] = &mut block.as_chunks_mut().0[sixth];
            // SAFETY: the array has the size of a register.
            unsafe { _mm256_storeu_si256(bytes.as_mut_ptr().cast(), row) }
        }
    }
}

/// a ⊕ b ⊕ c
#[inline]
#[target_feature(enable = "avx2")]
fn xor3(a: __m256i, b: __m256i, c: __m256i) -> __m256i {
    _mm256_xor_si256(_mm256_xor_si256(a, b), c)
}

/// a ⊕ (¬b ∧ c)
#[inline]
#[target_feature(enable = "avx2")]
fn chi(a: __m256i, b: __m256i, c: __m256i) -> __m256i {
    _mm256_xor_si256(a, _mm256_andnot_si256(b, c))
}

/// (a ∧ b) ⊕ (¬a ∧ c)
#[inline]
#[target_feature(enable = "avx2")]
fn choose(a: __m256i, b: __m256i, c: __m256i) -> __m256i {
    _mm256_xor_si256(_mm256_and_si256(a, _mm256_xor_si256(b, c)), c)
}

/// (a ∧ b) ⊕ (a ∧ c) ⊕ (b ∧ c); b ⊕ c is the a ⊕ b of the previous round of SHA-2.
#[inline]
#[target_feature(enable = "avx2")]
fn majority(a: __m256i, b: __m256i, c: __m256i) -> __m256i {
    _mm256_xor_si256(
        _mm256_and_si256(_mm256_xor_si256(a, b), _mm256_xor_si256(b, c)),
        b,
    )
}
