//! The lanes of hash functions, in whole registers and in halves.

use core::arch::asm;
use core::arch::x86_64::*;

use super::super::avx2;
use super::super::instructions::{instructions, vector};
use super::super::{U32s, U64s, Vector, Words};
use super::Avx512;
use crate::sealed::Sealed;

/// Vectors of words: the same instructions for both widths.
macro_rules! words {
    (
        $name:ident, $add:ident, $sub:ident, $shift_right:ident, $shift_in:ident,
        $rotate_left:ident, $add_late:ident, $xor:ident, $ternary:ident
    ) => {
        impl Words for $name {
            instructions! {
                add => $add(other);
                add_late => $add_late(late);
                sub => $sub(other);
                xor => $xor(other);
                xor3 => $ternary::xor3(b, c);
                choose => $ternary::choose(b, c);
                majority => $ternary::majority(b, c);
            }

            #[inline(always)]
            fn shift_right<const N: i32>(self) -> Self {
                // SAFETY: `self` proves that the CPU has the instruction.
                Self(unsafe { $shift_right(self.0, _mm_cvtsi32_si128(N)) })
            }

            #[inline(always)]
            fn shift_in<const N: i32>(self, next: Self) -> Self {
                // SAFETY: `self` proves that the CPU has the instruction.
                Self(unsafe { $shift_in::<N>(self.0, next.0) })
            }

            #[inline(always)]
            fn rotate_left<const N: i32>(self) -> Self {
                // SAFETY: `self` proves that the CPU has the instruction.
                Self(unsafe { $rotate_left::<N>(self.0) })
            }
        }
    };
}

vector! {
    /// 16 lanes of SHA-256.
    U32x16: __m512i = [u32; 16] of Avx512,
    |x| _mm512_set1_epi32(x.cast_signed()), _mm512_loadu_si512, _mm512_storeu_si512
}

words!(
    U32x16,
    _mm512_add_epi32,
    _mm512_sub_epi32,
    _mm512_srl_epi32,
    _mm512_shldi_epi32,
    _mm512_rol_epi32,
    add_late_32,
    _mm512_xor_si512,
    whole
);

impl U32s for U32x16 {}

vector! {
    /// Eight lanes of Keccak or SHA-512.
    U64x8: __m512i = [u64; 8] of Avx512,
    |x| _mm512_set1_epi64(x.cast_signed()), _mm512_loadu_si512, _mm512_storeu_si512
}

words!(
    U64x8,
    _mm512_add_epi64,
    _mm512_sub_epi64,
    _mm512_srl_epi64,
    _mm512_shldi_epi64,
    _mm512_rol_epi64,
    add_late_64,
    _mm512_xor_si512,
    whole
);

vector! {
    /// Four lanes of Keccak: half a register. They take less time than eight on CPUs that execute
    /// 512 bits in halves or on fewer ports, and the same time on others.
    U64x4: __m256i = [u64; 4] of Avx512,
    |x| _mm256_set1_epi64x(x.cast_signed()), _mm256_loadu_si256, _mm256_storeu_si256
}

words!(
    U64x4,
    _mm256_add_epi64,
    _mm256_sub_epi64,
    _mm256_srl_epi64,
    _mm256_shldi_epi64,
    _mm256_rol_epi64,
    _mm256_add_epi64,
    _mm256_xor_si256,
    half
);

/// The operations that Keccak has in addition.
macro_rules! keccak_words {
    ($name:ident, $ternary:ident, $masked_splat:ident, $transpose:expr) => {
        impl U64s for $name {
            instructions! {
                chi => $ternary::chi(b, c);
            }

            /// Words then wait less for each other: on Zen 4, a permutation takes 3 to 4 % less
            /// time.
            const CHI_LAST: bool = true;

            /// Adds pairs without copies of words that are needed later.
            #[inline(always)]
            fn xor5<const PAIRS: bool>(self, b: Self, c: Self, d: Self, e: Self) -> Self {
                if PAIRS {
                    self.xor(b).xor3(c, d).xor(e)
                } else {
                    self.xor3(b, c).xor3(d, e)
                }
            }

            /// A sum of three words is one instruction; sums of two columns would be five more.
            #[inline(always)]
            fn theta<const PAIRS: bool>(self, left: Self, right: Self) -> Self {
                if PAIRS {
                    self.xor(left.xor_rotated(right))
                } else {
                    self.xor3(left, right.rotate_left::<1>())
                }
            }

            #[inline(always)]
            fn theta_rotate<const N: i32, const PAIRS: bool>(
                self,
                left: Self,
                right: Self,
            ) -> Self {
                self.theta::<PAIRS>(left, right).rotate_left::<N>()
            }

            #[inline(always)]
            fn mask(_: Avx512, lanes: u32) -> Self {
                // SAFETY: the token proves that the CPU has the instruction.
                Self(unsafe { $masked_splat(lanes as __mmask8, -1) })
            }

            #[inline(always)]
            fn transpose(vectors: &[Self; 24], blocks: &mut [[u8; 192]]) {
                let mut registers = [vectors[0].0; 24];
                for (register, vector) in registers.iter_mut().zip(vectors) {
                    *register = vector.0;
                }
                // SAFETY: the vectors prove that the CPU has the instructions.
                unsafe { $transpose(&registers, blocks) }
            }
        }
    };
}

keccak_words!(U64x8, whole, _mm512_maskz_set1_epi64, transpose);
keccak_words!(U64x4, half, _mm256_maskz_set1_epi64, avx2::transpose);

/// Transposes three times eight vectors.
#[inline]
#[target_feature(enable = "avx512f")]
fn transpose(vectors: &[__m512i; 24], blocks: &mut [[u8; 192]]) {
    for (third, eight) in vectors.as_chunks::<8>().0.iter().enumerate() {
        let rows = transpose_eight(*eight);
        for (block, row) in blocks.iter_mut().zip(rows) {
            let bytes: &mut [u8; 64] = &mut block.as_chunks_mut().0[third];
            // SAFETY: the array has the size of a register.
            unsafe { _mm512_storeu_si512(bytes.as_mut_ptr().cast(), row) }
        }
    }
}

#[inline]
#[target_feature(enable = "avx512f")]
fn transpose_eight(rows: [__m512i; 8]) -> [__m512i; 8] {
    // The even lanes of two rows, and the odd lanes.
    let pairs = |i| {
        (
            _mm512_unpacklo_epi64(rows[i], rows[i + 1]),
            _mm512_unpackhi_epi64(rows[i], rows[i + 1]),
        )
    };
    let ((a0, a1), (b0, b1), (c0, c1), (d0, d1)) = (pairs(0), pairs(2), pairs(4), pairs(6));
    // The first and third, or the second and fourth pair of lanes of four vectors.
    let (even0, odd0) = transpose_pairs(a0, b0, c0, d0);
    let (even1, odd1) = transpose_pairs(a1, b1, c1, d1);
    [
        even0[0], even1[0], odd0[0], odd1[0], even0[1], even1[1], odd0[1], odd1[1],
    ]
}

/// Lanes 0, 4 and lanes 2, 6 of eight rows, from the even or odd lanes of two each.
#[inline]
#[target_feature(enable = "avx512f")]
fn transpose_pairs(a: __m512i, b: __m512i, c: __m512i, d: __m512i) -> ([__m512i; 2], [__m512i; 2]) {
    const EVEN: i32 = 0b10_00_10_00;
    const ODD: i32 = 0b11_01_11_01;
    let even = (
        _mm512_shuffle_i64x2::<EVEN>(a, b),
        _mm512_shuffle_i64x2::<EVEN>(c, d),
    );
    let odd = (
        _mm512_shuffle_i64x2::<ODD>(a, b),
        _mm512_shuffle_i64x2::<ODD>(c, d),
    );
    (
        [
            _mm512_shuffle_i64x2::<EVEN>(even.0, even.1),
            _mm512_shuffle_i64x2::<ODD>(even.0, even.1),
        ],
        [
            _mm512_shuffle_i64x2::<EVEN>(odd.0, odd.1),
            _mm512_shuffle_i64x2::<ODD>(odd.0, odd.1),
        ],
    )
}

/// Functions of three bits: bit 4a + 2b + c of the truth table is the result.
macro_rules! ternary {
    ($module:ident, $register:ty, $features:literal, $instruction:ident) => {
        mod $module {
            use super::*;

            ternary! { @ $register, $features, $instruction,
                /// a ⊕ b ⊕ c
                xor3 0b1001_0110
                /// a ⊕ (¬b ∧ c)
                chi 0b1101_0010
                /// (a ∧ b) ⊕ (¬a ∧ c)
                choose 0b1100_1010
                /// (a ∧ b) ⊕ (a ∧ c) ⊕ (b ∧ c)
                majority 0b1110_1000
            }
        }
    };
    (
        @ $register:ty, $features:literal, $instruction:ident,
        $($(#[$doc:meta])* $name:ident $table:literal)*
    ) => {$(
        $(#[$doc])*
        #[inline]
        #[target_feature(enable = $features)]
        pub(super) fn $name(a: $register, b: $register, c: $register) -> $register {
            $instruction::<$table>(a, b, c)
        }
    )*};
}
ternary!(whole, __m512i, "avx512f", _mm512_ternarylogic_epi64);
ternary!(half, __m256i, "avx512f,avx512vl", _mm256_ternarylogic_epi64);

/// Sums that are opaque to the compiler.
macro_rules! add_late {
    ($name:ident, $instruction:literal) => {
        #[inline]
        #[target_feature(enable = "avx512f")]
        fn $name(early: __m512i, late: __m512i) -> __m512i {
            let sum;
            // SAFETY: the instruction only computes a register from two others.
            unsafe {
                asm!(
                    concat!($instruction, " {}, {}, {}"),
                    lateout(zmm_reg) sum,
                    in(zmm_reg) early,
                    in(zmm_reg) late,
                    options(pure, nomem, nostack, preserves_flags),
                );
            }
            sum
        }
    };
}
add_late!(add_late_32, "vpaddd");
add_late!(add_late_64, "vpaddq");
