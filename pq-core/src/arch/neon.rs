//! NEON, which every 64-bit Arm has, without and with the SHA-3 instructions.

use core::arch::aarch64::*;
use core::convert::identity;

use super::instructions::{instructions, run_with, sums, token, vector};
use super::{
    Backend, Coefficients, I16s, I32s, Kernel, NeonSha2, Portable, U32s, U64s, Vector, Words,
};
use crate::sealed::Sealed;

/// The proof that the CPU has NEON.
#[derive(Clone, Copy, Debug)]
pub struct Neon(());

impl Neon {
    /// The token. The target has NEON, so there always is one.
    #[inline]
    pub fn detect() -> Option<Self> {
        Some(Self(()))
    }
}

token! {
    /// The proof that the CPU has NEON and the SHA-3 instructions.
    NeonSha3: "sha3"
}

impl Sealed for Neon {}

impl Backend for Neon {
    type U64s = U64x2;
    type Few = u64;
    type Schedules = u64;
    type U32s = U32x4;
    type Sha256 = NeonSha2;
    type I16s = I16x8;
    type I32s = I32x4;

    const NAME: &'static str = "NEON";
    const RANK: u8 = 1;

    #[inline]
    fn sha256(self) -> Option<NeonSha2> {
        NeonSha2::detect()
    }

    run_with!(run: "neon");
    run_with!(run_scalar: "neon");
}

impl Backend for NeonSha3 {
    type U64s = U64x2Sha3;
    type Few = u64;
    type Schedules = u64;
    type U32s = U32x4Sha3;
    type Sha256 = NeonSha2;
    type I16s = I16x8Sha3;
    type I32s = I32x4Sha3;

    const NAME: &'static str = "NEON with SHA-3";
    const RANK: u8 = 2;

    #[inline]
    fn sha256(self) -> Option<NeonSha2> {
        NeonSha2::detect()
    }

    run_with!(run: "neon", "sha3");
    run_with!(run_scalar: "neon");
}

/// Vectors of words; except for one instruction they are the same with both tokens.
macro_rules! words {
    ($u32s:ident, $u64s:ident, $token:ty, $xor3_32:ident, $xor3_64:ident) => {
        vector! {
            /// Four lanes of SHA-256.
            $u32s: uint32x4_t = [u32; 4] of $token,
            |x| vdupq_n_u32(x), vld1q_u32, vst1q_u32
        }

        impl Words for $u32s {
            instructions! {
                add => vaddq_u32(other);
                sub => vsubq_u32(other);
                xor => veorq_u32(other);
                xor3 => $xor3_32(b, c);
                choose => vbslq_u32(b, c);
                majority => majority_32(b, c);
            }

            #[inline(always)]
            fn shift_right<const N: i32>(self) -> Self {
                // SAFETY: `self` proves that the CPU has the instruction.
                Self(unsafe { vshrq_n_u32::<N>(self.0) })
            }

            #[inline(always)]
            fn shift_in<const N: i32>(self, next: Self) -> Self {
                // SAFETY: `self` proves that the CPU has the instructions.
                Self(unsafe { shift_in_32::<N>(self.0, next.0) })
            }
        }

        impl U32s for $u32s {}

        vector! {
            /// Two lanes of Keccak, SHA-512.
            $u64s: uint64x2_t = [u64; 2] of $token,
            |x| vdupq_n_u64(x), vld1q_u64, vst1q_u64
        }

        impl Words for $u64s {
            instructions! {
                add => vaddq_u64(other);
                sub => vsubq_u64(other);
                xor => veorq_u64(other);
                xor3 => $xor3_64(b, c);
                choose => vbslq_u64(b, c);
                majority => majority_64(b, c);
            }

            #[inline(always)]
            fn shift_right<const N: i32>(self) -> Self {
                // SAFETY: `self` proves that the CPU has the instruction.
                Self(unsafe { vshrq_n_u64::<N>(self.0) })
            }

            #[inline(always)]
            fn shift_in<const N: i32>(self, next: Self) -> Self {
                // SAFETY: `self` proves that the CPU has the instructions.
                Self(unsafe { shift_in_64::<N>(self.0, next.0) })
            }
        }
    };
}

words!(U32x4, U64x2, Neon, xor3_32, xor3_64);
words!(U32x4Sha3, U64x2Sha3, NeonSha3, xor3_sha3_32, xor3_sha3_64);

impl U64s for U64x2 {
    instructions! {
        chi => chi(b, c);
    }

    #[inline(always)]
    fn mask(_: Neon, lanes: u32) -> Self {
        // SAFETY: the token proves that the CPU has the instructions.
        Self(unsafe { mask(lanes) })
    }
}

impl From<Neon> for Portable {
    fn from(_: Neon) -> Self {
        Self
    }
}

impl U64s for U64x2Sha3 {
    instructions! {
        chi => chi_sha3(b, c);
        xor_rotated => xor_rotated(b);
    }

    #[inline(always)]
    fn xor_rotate<const N: i32>(self, b: Self) -> Self {
        // SAFETY: `self` proves that the CPU has the instruction.
        Self(unsafe { xor_rotate::<N>(self.0, b.0) })
    }

    #[inline(always)]
    fn mask(_: NeonSha3, lanes: u32) -> Self {
        // SAFETY: the token proves that the CPU has the instructions.
        Self(unsafe { mask(lanes) })
    }
}

impl From<NeonSha3> for Portable {
    fn from(_: NeonSha3) -> Self {
        Self
    }
}

#[inline]
#[target_feature(enable = "neon")]
fn mask(lanes: u32) -> uint64x2_t {
    static BITS: [u64; 2] = [1, 2];
    // SAFETY: the array has the size of the register.
    let bits = unsafe { vld1q_u64(BITS.as_ptr()) };
    vtstq_u64(vdupq_n_u64(lanes.into()), bits)
}

/// Calls a function with the constant bits − N, which generic code can't compute.
macro_rules! with_complement {
    ($n:ident of 32, $function:ident($($operand:expr),*)) => {
        with_complement!(
            $n, 32, $function, ($($operand),*);
            1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31
        )
    };
    ($n:ident of 64, $function:ident($($operand:expr),*)) => {
        with_complement!(
            $n, 64, $function, ($($operand),*);
            1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31
            32 33 34 35 36 37 38 39 40 41 42 43 44 45 46 47 48 49 50 51 52 53 54 55 56 57 58 59
            60 61 62 63
        )
    };
    ($n:ident, $bits:literal, $function:ident, $operands:tt; $($i:literal)*) => {
        match $n {
            $($i => with_complement!(@call $function, $bits - $i, $operands),)*
            _ => unreachable!("shifts are by less than a word"),
        }
    };
    (@call $function:ident, $complement:expr, ($($operand:expr),*)) => {
        $function::<{ $complement }>($($operand),*)
    };
}

#[inline]
#[target_feature(enable = "neon")]
fn shift_in_32<const N: i32>(x: uint32x4_t, next: uint32x4_t) -> uint32x4_t {
    let high = vshlq_n_u32::<N>(x);
    with_complement!(N of 32, vsriq_n_u32(high, next))
}

#[inline]
#[target_feature(enable = "neon")]
fn shift_in_64<const N: i32>(x: uint64x2_t, next: uint64x2_t) -> uint64x2_t {
    let high = vshlq_n_u64::<N>(x);
    with_complement!(N of 64, vsriq_n_u64(high, next))
}

/// a ⊕ b, rotated to the left by `N` bits.
#[inline]
#[target_feature(enable = "neon,sha3")]
fn xor_rotate<const N: i32>(a: uint64x2_t, b: uint64x2_t) -> uint64x2_t {
    with_complement!(N of 64, vxarq_u64(a, b))
}

/// Functions with the same instructions for both widths of words.
macro_rules! of_each_width {
    (
        $vector:ty, $xor:ident, $select:ident, $eor3:ident,
        $xor3:ident, $xor3_sha3:ident, $majority:ident
    ) => {
        /// a ⊕ b ⊕ c
        #[inline]
        #[target_feature(enable = "neon")]
        fn $xor3(a: $vector, b: $vector, c: $vector) -> $vector {
            $xor($xor(a, b), c)
        }

        /// a ⊕ b ⊕ c
        #[inline]
        #[target_feature(enable = "neon,sha3")]
        fn $xor3_sha3(a: $vector, b: $vector, c: $vector) -> $vector {
            $eor3(a, b, c)
        }

        /// (a ∧ b) ⊕ (a ∧ c) ⊕ (b ∧ c): where a and b differ, c decides.
        #[inline]
        #[target_feature(enable = "neon")]
        fn $majority(a: $vector, b: $vector, c: $vector) -> $vector {
            $select($xor(a, b), c, b)
        }
    };
}
of_each_width!(
    uint32x4_t,
    veorq_u32,
    vbslq_u32,
    veor3q_u32,
    xor3_32,
    xor3_sha3_32,
    majority_32
);
of_each_width!(
    uint64x2_t,
    veorq_u64,
    vbslq_u64,
    veor3q_u64,
    xor3_64,
    xor3_sha3_64,
    majority_64
);

/// a ⊕ (¬b ∧ c)
#[inline]
#[target_feature(enable = "neon")]
fn chi(a: uint64x2_t, b: uint64x2_t, c: uint64x2_t) -> uint64x2_t {
    veorq_u64(a, vbicq_u64(c, b))
}

/// a ⊕ (¬b ∧ c)
#[inline]
#[target_feature(enable = "neon,sha3")]
fn chi_sha3(a: uint64x2_t, b: uint64x2_t, c: uint64x2_t) -> uint64x2_t {
    vbcaxq_u64(a, c, b)
}

/// a ⊕ b with b rotated to the left by 1.
#[inline]
#[target_feature(enable = "neon,sha3")]
fn xor_rotated(a: uint64x2_t, b: uint64x2_t) -> uint64x2_t {
    vrax1q_u64(a, b)
}

/// Exchanges each odd block of `BITS` bits of `a` and the even block of `b` before it.
#[inline]
#[target_feature(enable = "neon")]
fn transpose<const BITS: usize>(a: int32x4_t, b: int32x4_t) -> (int32x4_t, int32x4_t) {
    if BITS == 32 {
        return (vtrn1q_s32(a, b), vtrn2q_s32(a, b));
    }
    let (a, b) = (vreinterpretq_s64_s32(a), vreinterpretq_s64_s32(b));
    (
        vreinterpretq_s32_s64(vtrn1q_s64(a, b)),
        vreinterpretq_s32_s64(vtrn2q_s64(a, b)),
    )
}

/// The methods that change the order of lanes; the first argument is the number of lanes in 32
/// bits.
macro_rules! lane_orders {
    ($lanes_of_32_bits:literal, $as_32_bits:path, $back:path) => {
        lane_orders! { @ $as_32_bits, $back,
            transpose<const LEN: usize>(a, b) => match LEN / $lanes_of_32_bits {
                1 => transpose::<32>(a, b),
                _ => transpose::<64>(a, b),
            };
            deinterleave<>(a, b) => (vuzp1q_s32(a, b), vuzp2q_s32(a, b));
            interleave<>(a, b) => (vzip1q_s32(a, b), vzip2q_s32(a, b));
        }
    };
    (
        @ $as_32_bits:path, $back:path,
        $($method:ident<$(const $len:ident: usize)?>($a:ident, $b:ident) => $order:expr;)*
    ) => {$(
        #[inline(always)]
        fn $method<$(const $len: usize)?>(a: Self, b: Self) -> (Self, Self) {
            // SAFETY: `a` proves that the CPU has the instructions.
            let (a, b) = unsafe {
                let ($a, $b) = ($as_32_bits(a.0), $as_32_bits(b.0));
                let (a, b) = $order;
                ($back(a), $back(b))
            };
            (Self(a), Self(b))
        }
    )*};
}

/// Vectors of coefficients; they are the same with both tokens.
macro_rules! coefficients {
    ($i16s:ident, $i32s:ident, $token:ty) => {
        vector! {
            /// Eight coefficients of ML-KEM.
            $i16s: int16x8_t = [i16; 8] of $token,
            |x| vdupq_n_s16(x), vld1q_s16, vst1q_s16
        }

        impl Coefficients for $i16s {
            instructions! {
                add => vaddq_s16(other);
                sub => vsubq_s16(other);
                mul_low => vmulq_s16(other);
                mul_high => mul_high_16(other);
                montgomery_product => montgomery_product_16(factor, factor_over_q, q);
            }

            #[inline(always)]
            fn shift_right<const N: i32>(self) -> Self {
                // SAFETY: `self` proves that the CPU has the instruction.
                Self(unsafe { vshrq_n_s16::<N>(self.0) })
            }

            lane_orders!(2, vreinterpretq_s32_s16, vreinterpretq_s16_s32);
        }

        impl I16s for $i16s {}

        vector! {
            /// Four coefficients of ML-DSA.
            $i32s: int32x4_t = [i32; 4] of $token,
            |x| vdupq_n_s32(x), vld1q_s32, vst1q_s32
        }

        impl Coefficients for $i32s {
            instructions! {
                add => vaddq_s32(other);
                sub => vsubq_s32(other);
                mul_low => vmulq_s32(other);
                mul_high => mul_high_32(other);
                montgomery_product => montgomery_product_32(factor, factor_over_q, q);
            }

            #[inline(always)]
            fn shift_right<const N: i32>(self) -> Self {
                // SAFETY: `self` proves that the CPU has the instruction.
                Self(unsafe { vshrq_n_s32::<N>(self.0) })
            }

            lane_orders!(1, identity, identity);
        }

        sums! {
            /// The sums of the lower and of the upper lanes.
            $i32s: [int64x2_t; 2] of $token, vdupq_n_s64(0)
        }
    };
}

coefficients!(I16x8, I32x4, Neon);
coefficients!(I16x8Sha3, I32x4Sha3, NeonSha3);

#[inline]
#[target_feature(enable = "neon")]
fn add_product(a: int32x4_t, b: int32x4_t, [low, high]: [int64x2_t; 2]) -> [int64x2_t; 2] {
    [
        vmlal_s32(low, vget_low_s32(a), vget_low_s32(b)),
        vmlal_high_s32(high, a, b),
    ]
}

#[inline]
#[target_feature(enable = "neon")]
fn montgomery_reduce([low, high]: [int64x2_t; 2], q_inverse: int32x4_t, q: int32x4_t) -> int32x4_t {
    let low_halves = vuzp1q_s32(vreinterpretq_s32_s64(low), vreinterpretq_s32_s64(high));
    let m = vmulq_s32(low_halves, q_inverse);
    let low = vmlsl_s32(low, vget_low_s32(m), vget_low_s32(q));
    let high = vmlsl_high_s32(high, m, q);
    vuzp2q_s32(vreinterpretq_s32_s64(low), vreinterpretq_s32_s64(high))
}

/// ⌊⌊2ab / 2^bits⌋ / 2⌋. The doubled product saturates only if both a and b are the smallest number
/// of the type, which no factor is.
macro_rules! mul_high {
    ($name:ident, $vector:ty, $mul:ident, $shift:ident) => {
        #[inline]
        #[target_feature(enable = "neon")]
        fn $name(a: $vector, b: $vector) -> $vector {
            $shift::<1>($mul(a, b))
        }
    };
}
mul_high!(mul_high_16, int16x8_t, vqdmulhq_s16, vshrq_n_s16);
mul_high!(mul_high_32, int32x4_t, vqdmulhq_s32, vshrq_n_s32);

/// As the default method, but halves the difference of doubled high halves. This is exact: the low
/// bits of the doubled high halves are the high bits of the low halves, which are equal.
macro_rules! montgomery_product {
    ($name:ident, $vector:ty, $mul_low:ident, $mul_high:ident, $halving_sub:ident) => {
        #[inline]
        #[target_feature(enable = "neon")]
        fn $name(x: $vector, factor: $vector, factor_over_q: $vector, q: $vector) -> $vector {
            let m = $mul_low(x, factor_over_q);
            $halving_sub($mul_high(x, factor), $mul_high(m, q))
        }
    };
}
montgomery_product!(
    montgomery_product_16,
    int16x8_t,
    vmulq_s16,
    vqdmulhq_s16,
    vhsubq_s16
);
montgomery_product!(
    montgomery_product_32,
    int32x4_t,
    vmulq_s32,
    vqdmulhq_s32,
    vhsubq_s32
);
