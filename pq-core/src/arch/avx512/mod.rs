//! AVX-512 with the byte, word and permutation extensions: Intel since Ice Lake, AMD
//! since Zen 4.

mod coefficients;
mod model;
mod packing;
mod words;

use core::arch::x86_64::*;

use self::coefficients::{I16x32, I32x16};
use self::model::Model;
use self::packing::{
    append_4_bits_below, append_12_bits_below, append_23_bits_below, bit_pair_differences,
    keep_below, pack, pack_i16s, unpack, unpack_i16s,
};
use self::words::{U32x16, U64x4, U64x8};
use super::instructions::{Integer, numbers, register, run_with, token};
use super::{Backend, FromNumber, Kernel, ShaNi};
use crate::sealed::Sealed;

token! {
    /// The proof that the CPU has AVX-512 F, BW, DQ, VL, VBMI and VBMI2, AVX2, BMI and POPCNT.
    Avx512: "avx512f", "avx512bw", "avx512dq", "avx512vl", "avx512vbmi", "avx512vbmi2",
        "avx2", "bmi1", "bmi2", "popcnt"
}

impl Backend for Avx512 {
    type U64s = U64x8;
    type Few = U64x4;
    type Schedules = U64x4;
    type U32s = U32x16;
    type Sha256 = ShaNi;
    type I16s = I16x32;
    type I32s = I32x16;

    const NAME: &'static str = "AVX-512";
    const RANK: u8 = 2;
    const MAY_ADD_PAIRS: bool = true;

    run_with!(
        run: "avx512f", "avx512bw", "avx512dq", "avx512vl", "avx512vbmi", "avx512vbmi2", "avx2",
            "bmi1", "bmi2", "popcnt"
    );

    run_with!(run_scalar: "bmi1", "bmi2");

    #[inline]
    fn run_few<K: Kernel<Self>>(self, kernel: K) -> K::Output {
        self.run(kernel)
    }

    #[inline]
    fn cost_of_all_lanes(self) -> usize {
        match Model::of_this_cpu() {
            Model::Zen4 => 4,
            Model::Intel => 3,
            Model::Other => 2,
        }
    }

    /// With sums of pairs, eight lanes take 0.94 of the time on Zen 4, and four lanes 0.90; on Emerald
    /// Rapids 1.10 and 1.08.
    #[inline]
    fn adds_pairs_faster(self) -> bool {
        Model::of_this_cpu() == Model::Zen4
    }

    #[inline]
    fn sha256(self) -> Option<ShaNi> {
        ShaNi::detect()
    }

    numbers!();

    #[inline(always)]
    fn unpack_i16s<const D: usize>(self, bytes: &[u8]) -> [i16; 32] {
        // SAFETY: the token proves that the CPU has the instructions.
        unsafe { unpack_i16s::<D>(bytes) }
    }

    #[inline(always)]
    fn append_12_bits_below(
        self,
        bytes: &[u8; 168],
        limit: u32,
        output: &mut [i16; 256],
        filled: usize,
    ) -> usize {
        // SAFETY: the token proves that the CPU has the instructions.
        unsafe { append_12_bits_below(bytes, limit, output, filled) }
    }

    #[inline(always)]
    fn append_23_bits_below(
        self,
        bytes: &[u8; 168],
        limit: u32,
        output: &mut [i32; 256],
        filled: usize,
    ) -> usize {
        // SAFETY: the token proves that the CPU has the instructions.
        unsafe { append_23_bits_below(bytes, limit, output, filled) }
    }

    #[inline(always)]
    fn append_4_bits_below(
        self,
        bytes: &[u8; 136],
        limit: u32,
        output: &mut [u8; 256],
        filled: usize,
    ) -> usize {
        // SAFETY: the token proves that the CPU has the instructions.
        unsafe { append_4_bits_below(bytes, limit, output, filled) }
    }
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn add_pair_products(a: &[i16; 32], b: &[i16; 32], sums: &mut [i32; 16]) {
    let products = _mm512_madd_epi16(read(a), read(b));
    *sums = lanes(_mm512_add_epi32(read(sums), products));
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn halves(even: &[i32; 16], odd: &[i32; 16]) -> [[i16; 32]; 2] {
    const ODD_LANES: __mmask32 = 0xaaaa_aaaa;
    let (even, odd) = (read(even), read(odd));
    let low = _mm512_mask_blend_epi16(ODD_LANES, even, _mm512_slli_epi32::<16>(odd));
    let high = _mm512_mask_blend_epi16(ODD_LANES, _mm512_srli_epi32::<16>(even), odd);
    [lanes(low), lanes(high)]
}

register!(__m512i, "avx512f", _mm512_loadu_si512, _mm512_storeu_si512);
