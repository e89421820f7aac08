//! SIMD128, the vectors of WebAssembly.
//!
//! A program that uses them is not valid on engines that don't know them. So the target decides
//! whether they are used.

mod coefficients;
mod packing;
mod words;

use core::arch::wasm32::*;

use self::coefficients::{I16x8, I32x4};
use self::packing::{
    append_4_bits_below, append_12_bits_below, bit_pair_differences, keep_below, pack, pack_i16s,
    unpack, unpack_i16s,
};
use self::words::{U32x4, U64x2};
use super::instructions::{Integer, numbers, register, run_with};
use super::{Backend, FromNumber, Kernel, NoSha256, Portable};
use crate::sealed::Sealed;

/// The proof that the target has SIMD128.
#[derive(Clone, Copy, Debug)]
pub struct Simd128(());

impl Simd128 {
    /// The token. Where this is compiled, the target has SIMD128, so there always is one.
    #[inline]
    pub fn detect() -> Option<Self> {
        Some(Self(()))
    }
}

impl Sealed for Simd128 {}

impl Backend for Simd128 {
    type U64s = U64x2;
    // In general registers one lane takes as long.
    type Few = U64x2;
    type Schedules = u64;
    type U32s = U32x4;
    type Sha256 = NoSha256;
    type I16s = I16x8;
    type I32s = I32x4;

    const NAME: &'static str = "SIMD128";
    const RANK: u8 = 1;

    run_with!(run: "simd128");
    run_with!(run_scalar: "simd128");

    #[inline]
    fn run_few<K: Kernel<Self>>(self, kernel: K) -> K::Output {
        self.run(kernel)
    }

    numbers!();

    #[inline(always)]
    fn unpack_i16s<const D: usize>(self, bytes: &[u8]) -> [i16; 32] {
        unpack_i16s::<D>(bytes)
    }

    #[inline(always)]
    fn append_12_bits_below(
        self,
        bytes: &[u8; 168],
        limit: u32,
        output: &mut [i16; 256],
        filled: usize,
    ) -> usize {
        append_12_bits_below(bytes, limit, output, filled)
    }

    #[inline(always)]
    fn append_4_bits_below(
        self,
        bytes: &[u8; 136],
        limit: u32,
        output: &mut [u8; 256],
        filled: usize,
    ) -> usize {
        append_4_bits_below(bytes, limit, output, filled)
    }
}

impl From<Simd128> for Portable {
    fn from(_: Simd128) -> Self {
        Self
    }
}

#[inline(always)]
fn add_pair_products(a: &[i16; 32], b: &[i16; 32], sums: &mut [i32; 16]) {
    let (a, b) = (a.as_chunks::<8>().0, b.as_chunks::<8>().0);
    for (sums, (a, b)) in sums.as_chunks_mut::<4>().0.iter_mut().zip(a.iter().zip(b)) {
        let products = i32x4_dot_i16x8(read(a), read(b));
        *sums = lanes(i32x4_add(read(sums), products));
    }
}

#[inline(always)]
fn halves(even: &[i32; 16], odd: &[i32; 16]) -> [[i16; 32]; 2] {
    let (mut low, mut high) = ([0; 32], [0; 32]);
    let halves = low.as_chunks_mut::<8>().0.iter_mut();
    let halves = halves.zip(high.as_chunks_mut::<8>().0);
    let numbers = even.as_chunks::<4>().0.iter().zip(odd.as_chunks::<4>().0);
    for ((low, high), (even, odd)) in halves.zip(numbers) {
        let (even, odd) = (read(even), read(odd));
        *low = lanes(in_turn(even, u32x4_shl(odd, 16)));
        *high = lanes(in_turn(u32x4_shr(even, 16), odd));
    }
    [low, high]
}

/// The even lanes of 16 bits of `even`, and the odd lanes of `odd`.
#[inline(always)]
fn in_turn(even: v128, odd: v128) -> v128 {
    i16x8_shuffle::<0, 9, 2, 11, 4, 13, 6, 15>(even, odd)
}

register!(v128, "simd128", v128_load, v128_store);
