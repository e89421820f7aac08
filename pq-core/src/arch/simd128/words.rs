//! The lanes of hash functions.

use core::arch::wasm32::*;

use super::super::instructions::{instructions, vector};
use super::super::{U32s, U64s, Vector, Words};
use super::{Simd128, lanes};
use crate::sealed::Sealed;

/// Vectors of words: the same instructions for both widths.
macro_rules! words {
    ($name:ident, $bits:literal, $add:ident, $sub:ident, $shift_left:ident, $shift_right:ident) => {
        impl Words for $name {
            instructions! {
                add => $add(other);
                sub => $sub(other);
                xor => v128_xor(other);
                xor3 => xor3(b, c);
                choose => choose(b, c);
                majority => majority(b, c);
            }

            #[inline(always)]
            fn shift_right<const N: i32>(self) -> Self {
                Self($shift_right(self.0, N.cast_unsigned()))
            }

            #[inline(always)]
            fn shift_in<const N: i32>(self, next: Self) -> Self {
                let n = N.cast_unsigned();
                Self(v128_or(
                    $shift_left(self.0, n),
                    $shift_right(next.0, $bits - n),
                ))
            }
        }
    };
}

vector! {
    /// Four lanes of SHA-256.
    U32x4: v128 = [u32; 4] of Simd128,
    |x| u32x4_splat(x), v128_load, v128_store
}

words!(U32x4, 32, u32x4_add, u32x4_sub, u32x4_shl, u32x4_shr);

impl U32s for U32x4 {}

vector! {
    /// Two lanes of Keccak or SHA-512.
    U64x2: v128 = [u64; 2] of Simd128,
    |x| u64x2_splat(x), v128_load, v128_store
}

words!(U64x2, 64, u64x2_add, u64x2_sub, u64x2_shl, u64x2_shr);

impl U64s for U64x2 {
    const IN_MEMORY: bool = true;

    instructions! {
        chi => chi(b, c);
    }

    #[inline(always)]
    fn mask(_: Simd128, lanes: u32) -> Self {
        let bits = u64x2(1, 2);
        let lanes = u64x2_splat(lanes.into());
        Self(i64x2_eq(v128_and(lanes, bits), bits))
    }

    #[inline(always)]
    fn transpose(vectors: &[Self; 24], blocks: &mut [[u8; 192]]) {
        let (pairs, _) = vectors.as_chunks::<2>();
        for (i, [a, b]) in pairs.iter().enumerate() {
            let rows = [
                i64x2_shuffle::<0, 2>(a.0, b.0),
                i64x2_shuffle::<1, 3>(a.0, b.0),
            ];
            for (block, row) in blocks.iter_mut().zip(rows) {
                block.as_chunks_mut().0[i] = lanes::<u8, 16>(row);
            }
        }
    }
}

/// a ⊕ b ⊕ c
#[inline(always)]
fn xor3(a: v128, b: v128, c: v128) -> v128 {
    v128_xor(v128_xor(a, b), c)
}

/// a ⊕ (¬b ∧ c)
#[inline(always)]
fn chi(a: v128, b: v128, c: v128) -> v128 {
    v128_xor(a, v128_andnot(c, b))
}

/// (a ∧ b) ⊕ (¬a ∧ c)
#[inline(always)]
fn choose(a: v128, b: v128, c: v128) -> v128 {
    v128_xor(v128_and(a, v128_xor(b, c)), c)
}

/// (a ∧ b) ⊕ (a ∧ c) ⊕ (b ∧ c); b ⊕ c is the a ⊕ b of the previous round of SHA-2.
#[inline(always)]
fn majority(a: v128, b: v128, c: v128) -> v128 {
    v128_xor(v128_and(v128_xor(a, b), v128_xor(b, c)), b)
}
