//! Numbers of D bits as bytes and back, and the choice of those that are small enough.

use core::arch::wasm32::*;

use super::super::declassify;
use super::super::packing::{self, KEPT_LANES};
use super::coefficients::opaque;
use super::{lanes, read};

/// The layout of 8 or 16 packed numbers of `D` bits; a vector takes `N` of them from 16 bytes.
struct Packed<const D: usize, const N: usize>;

impl<const D: usize, const N: usize> Packed<D, N> {
    /// The bits of a lane.
    const BITS: usize = 128 / N;

    /// Whether each number touches no more bytes than a lane has.
    const FITS: bool = {
        let mut fits = true;
        let mut i = 0;
        while i < N {
            fits &= D * i % 8 + D <= Self::BITS;
            i += 1;
        }
        fits
    };

    /// For each byte of the lanes, the position of its source in bytes that are read from `start`
    /// on: lane i has the bytes of number `first` + i.
    const fn gathered(first: usize, start: usize) -> [u8; 16] {
        let mut bytes = [NONE; 16];
        let mut i = 0;
        while i < 16 {
            let (number, byte) = (first + i / (16 / N), i % (16 / N));
            if 8 * byte < D * number % 8 + D {
                bytes[i] = (D * number / 8 + byte - start) as u8;
            }
            i += 1;
        }
        bytes
    }

    /// From where to read 16 bytes of `len` that contain number `first` and the following ones:
    /// from its first bit on, or the last 16 bytes.
    const fn start(first: usize, len: usize) -> usize {
        let start = D * first / 8;
        if len < 16 {
            0
        } else if start > len - 16 {
            len - 16
        } else {
            start
        }
    }

    /// Factors that shift number `first` + i to the upper end of lane i.
    const fn to_upper_end(first: usize) -> [u32; N] {
        assert!(Self::FITS);
        let mut factors = [0; N];
        let mut i = 0;
        while i < N {
            factors[i] = 1 << (Self::BITS - D - D * (first + i) % 8);
            i += 1;
        }
        factors
    }
}

/// The index that gives a byte of zeros.
const NONE: u8 = 0x80;

/// The bytes at `indices`, and zeros for [`NONE`]. The indices are opaque: the compiler would turn
/// known ones into a shuffle, whose indices are set up each time.
#[inline(always)]
fn pick(x: v128, indices: [u8; 16]) -> v128 {
    i8x16_swizzle(x, opaque(read(&indices)))
}

/// 16 bytes from `start` on; fewer are padded with zeros.
#[inline(always)]
fn read_from(bytes: &[u8], start: usize) -> v128 {
    let mut padded = [0; 16];
    if bytes.len() < 16 {
        padded[..bytes.len()].copy_from_slice(bytes);
    }
    read(bytes[start..].first_chunk().unwrap_or(&padded))
}

#[inline(always)]
pub(super) fn unpack<const D: usize>(bytes: &[u8]) -> [u32; 16] {
    assert_eq!(bytes.len(), 2 * D);
    let mut unpacked = [0; 16];
    macro_rules! fours {
        ($($i:literal)*) => {$(
            let start = const { Packed::<D, 4>::start(4 * $i, 2 * D) };
            let indices = const { Packed::<D, 4>::gathered(4 * $i, Packed::<D, 4>::start(4 * $i, 2 * D)) };
            let mut x = pick(read_from(bytes, start), indices);
            if !D.is_multiple_of(8) {
                let factors = const { Packed::<D, 4>::to_upper_end(4 * $i) };
                x = u32x4_shr(i32x4_mul(x, read(&factors)), const { 32 - D as u32 });
            }
            unpacked.as_chunks_mut::<4>().0[$i] = lanes(x);
        )*};
    }
    fours!(0 1 2 3);
    unpacked
}

#[inline(always)]
pub(super) fn unpack_i16s<const D: usize>(bytes: &[u8]) -> [i16; 32] {
    assert_eq!(bytes.len(), 4 * D);
    let mut unpacked = [0; 32];
    if !const { Packed::<D, 8>::FITS } {
        let halves = unpacked.as_chunks_mut::<16>().0.iter_mut();
        for (half, bytes) in halves.zip(bytes.chunks_exact(2 * D)) {
            let numbers = unpack::<D>(bytes);
            let (eights, _) = numbers.as_chunks::<8>();
            for (half, numbers) in half.as_chunks_mut::<8>().0.iter_mut().zip(eights) {
                let [low, high] = [0, 1].map(|i| read::<u32, 4>(&numbers.as_chunks().0[i]));
                *half = lanes(i16x8_narrow_i32x4(low, high));
            }
        }
        return unpacked;
    }
    macro_rules! eights {
        ($($i:literal)*) => {$(
            let start = const { Packed::<D, 8>::start(8 * $i, 4 * D) };
            let indices = const { Packed::<D, 8>::gathered(8 * $i, Packed::<D, 8>::start(8 * $i, 4 * D)) };
            let x = pick(read_from(bytes, start), indices);
            unpacked.as_chunks_mut::<8>().0[$i] = lanes(numbers_of_16_bits::<D>(x));
        )*};
    }
    eights!(0 1 2 3);
    unpacked
}

/// The numbers that begin anywhere in the first byte of each lane; the first number begins with the
/// first bit.
#[inline(always)]
fn numbers_of_16_bits<const D: usize>(x: v128) -> v128 {
    if D == 8 {
        return x;
    }
    let factors = const {
        let mut factors = [0u16; 8];
        if Packed::<D, 8>::FITS {
            let wide = Packed::<D, 8>::to_upper_end(0);
            let mut i = 0;
            while i < 8 {
                factors[i] = wide[i] as u16;
                i += 1;
            }
        }
        factors
    };
    u16x8_shr(i16x8_mul(x, read(&factors)), const { 16 - D as u32 })
}

#[inline(always)]
pub(super) fn pack<const D: usize>(numbers: &[u32; 16], bytes: &mut [u8]) {
    if D > 16 && !D.is_multiple_of(2) {
        // four numbers end within a byte, and eight don't fit
        return packing::pack::<D>(numbers, bytes);
    }
    let four = |i: usize| join_four(D as u32, read(&numbers.as_chunks::<4>().0[i]));
    if D.is_multiple_of(2) {
        for (i, bytes) in bytes.chunks_exact_mut(D / 2).enumerate() {
            bytes.copy_from_slice(&four(i).to_le_bytes()[..D / 2]);
        }
    } else {
        for (i, bytes) in bytes.chunks_exact_mut(D).enumerate() {
            let eight = four(2 * i) | four(2 * i + 1) << (4 * D);
            bytes.copy_from_slice(&eight.to_le_bytes()[..D]);
        }
    }
}

#[inline(always)]
pub(super) fn pack_i16s<const D: usize>(numbers: &[i16; 32], bytes: &mut [u8]) {
    // even + 2^D · odd
    let factors = i32x4_splat(1 | 1 << (16 + D));
    let eights = numbers.as_chunks::<8>().0.iter();
    for (eight, bytes) in eights.zip(bytes.chunks_exact_mut(D)) {
        let pairs = i32x4_dot_i16x8(read(eight), factors);
        let eight = join_four(2 * D as u32, pairs);
        bytes.copy_from_slice(&eight.to_le_bytes()[..D]);
    }
}

/// Joins four numbers of `d` bits, `d` ≤ 24.
#[inline(always)]
fn join_four(d: u32, x: v128) -> u128 {
    let even = v128_and(x, u64x2_splat(u32::MAX.into()));
    let odd = if d <= 16 {
        // shifts out the even number
        u64x2_shr(x, 32 - d)
    } else {
        u64x2_shl(u64x2_shr(x, 32), d)
    };
    let pairs = v128_or(even, odd);
    let [first, second] = [
        u64x2_extract_lane::<0>(pairs),
        u64x2_extract_lane::<1>(pairs),
    ];
    u128::from(first) | u128::from(second) << (2 * d)
}

/// Without a table in a register: an interpreter, or an engine for a CPU that can't shuffle bytes,
/// may look the table up in memory, and the bits are secret.
#[inline(always)]
pub(super) fn bit_pair_differences(bytes: &[u8; 16], differences: &mut [i16; 32]) {
    let bits = read(bytes);
    let (ones, pair) = (u8x16_splat(0x55), u8x16_splat(3));
    // Each pair of bits becomes their sum. Many CPUs have no shifts of bytes, so the bits that a
    // shift brings in from the next byte are masked.
    let sums = i8x16_add(v128_and(bits, ones), v128_and(u16x8_shr(bits, 1), ones));
    let sum = |i: u32| v128_and(u16x8_shr(sums, 2 * i), pair);
    let (low, high) = (i8x16_sub(sum(0), sum(1)), i8x16_sub(sum(2), sum(3)));
    let [first, second] = interleave_bytes(low, high);
    let (eights, _) = differences.as_chunks_mut::<8>();
    eights[0] = lanes(i16x8_extend_low_i8x16(first));
    eights[1] = lanes(i16x8_extend_high_i8x16(first));
    eights[2] = lanes(i16x8_extend_low_i8x16(second));
    eights[3] = lanes(i16x8_extend_high_i8x16(second));
}

#[inline(always)]
fn interleave_bytes(a: v128, b: v128) -> [v128; 2] {
    [
        i8x16_shuffle::<0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23>(a, b),
        i8x16_shuffle::<8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31>(a, b),
    ]
}

/// The numbers below `limit`, in order, and how many there are.
#[inline(always)]
pub(super) fn keep_below(candidates: &[u32; 4], limit: u32) -> ([u32; 4], usize) {
    let x = read(candidates);
    let mut below = i32x4_bitmask(u32x4_lt(x, u32x4_splat(limit)));
    declassify(&mut below);
    // each byte of the order becomes four
    let order = u32x4_extend_low_u16x8(u16x8_extend_low_u8x16(kept_lanes(below)));
    let order = i32x4_add(
        i32x4_mul(order, u32x4_splat(0x0404_0404)),
        u32x4_splat(0x0302_0100),
    );
    (lanes(i8x16_swizzle(x, order)), below.count_ones() as usize)
}

/// The indices of the lanes in a mask, one byte each.
#[inline(always)]
fn kept_lanes(mask: u8) -> v128 {
    u64x2(KEPT_LANES[usize::from(mask)], 0)
}

/// Eight at a time.
#[inline(always)]
pub(super) fn append_12_bits_below(
    bytes: &[u8; 168],
    limit: u32,
    output: &mut [i16; 256],
    mut filled: usize,
) -> usize {
    debug_assert!(limit <= 1 << 12);
    let limit = i16x8_splat(limit as i16);
    let mut append = |x: v128| {
        let x = numbers_of_16_bits::<12>(x);
        let mut below = i16x8_bitmask(i16x8_lt(x, limit));
        declassify(&mut below);
        // each byte of the order becomes two
        let order = u16x8_extend_low_u8x16(kept_lanes(below));
        let order = i16x8_add(i16x8_mul(order, u16x8_splat(0x0202)), u16x8_splat(0x0100));
        let kept: [i16; 8] = lanes(i8x16_swizzle(x, order));
        filled = packing::append(kept, below.count_ones() as usize, output, filled);
    };
    let indices = const { Packed::<12, 8>::gathered(0, 0) };
    for start in (0..156).step_by(12) {
        append(pick(read_from(bytes, start), indices));
    }
    let indices = const { Packed::<12, 8>::gathered(8, 8) };
    append(pick(read_from(bytes, 152), indices));
    filled
}

/// 16 half-bytes at a time.
#[inline(always)]
pub(super) fn append_4_bits_below(
    bytes: &[u8; 136],
    limit: u32,
    output: &mut [u8; 256],
    mut filled: usize,
) -> usize {
    debug_assert!(limit <= 16);
    let (limit, four) = (u8x16_splat(limit as u8), u8x16_splat(15));
    for bytes in bytes.as_chunks::<8>().0 {
        if filled == 256 {
            break;
        }
        let bytes = u64x2(u64::from_le_bytes(*bytes), 0);
        let [halves, _] = interleave_bytes(bytes, u16x8_shr(bytes, 4));
        let halves = v128_and(halves, four);
        let mut below = i8x16_bitmask(i8x16_lt(halves, limit));
        declassify(&mut below);
        let [first, second] = below.to_le_bytes();
        let upper = i64x2_shuffle::<1, 1>(halves, halves);
        for (halves, below) in [(halves, first), (upper, second)] {
            let kept = i8x16_swizzle(halves, kept_lanes(below));
            let kept = u64x2_extract_lane::<0>(kept).to_le_bytes();
            filled = packing::append(kept, below.count_ones() as usize, output, filled);
        }
    }
    filled
}
