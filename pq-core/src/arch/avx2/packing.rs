//! Numbers of D bits as bytes and back, and the choice of those that are small enough.

use core::arch::x86_64::*;

use super::super::declassify;
use super::super::packing::{self, KEPT_LANES};
use super::super::pairs::bit_difference;
use super::coefficients::swap_middle;
use super::{lanes, read};

/// The layout of packed numbers: `N` numbers of `D` bits in a quadword, half of them in each of its
/// lanes.
struct Packed<const D: usize, const N: usize>;

impl<const D: usize, const N: usize> Packed<D, N> {
    /// How many bits of a quadword are used.
    const BITS: usize = N * D;

    /// For each byte of two packed quadwords, the byte of a quadword that has its low bits, and the
    /// byte that has the rest. The second quadword is shifted by its phase.
    const PARTS: [[u8; 16]; 2] = {
        assert!(Self::BITS <= 48, "a quadword has room for a phase");
        let mut parts = [[NONE; 16]; 2];
        let mut i = 0;
        while i < (2 * Self::BITS).div_ceil(8) {
            let (low, high) = (8 * i / Self::BITS, (8 * i + 7) / Self::BITS);
            parts[0][i] = (8 * low + i - Self::BITS * low / 8) as u8;
            if low == 0 && high == 1 {
                parts[1][i] = 8;
            }
            i += 1;
        }
        parts
    };
}

/// The layout of 16 packed numbers of `D` bits, four in each half of a vector.
struct Unpacked<const D: usize>;

impl<const D: usize> Unpacked<D> {
    /// From where to read 16 bytes that contain four packed numbers: from their first bit on, or
    /// the last 16 bytes.
    const STARTS: [usize; 4] = {
        let mut starts = [0; 4];
        let mut i = 0;
        while i < 4 && 2 * D >= 16 {
            starts[i] = D * i / 2;
            if starts[i] > 2 * D - 16 {
                starts[i] = 2 * D - 16;
            }
            i += 1;
        }
        starts
    };

    /// For each byte of the numbers, the byte among those read in which it begins.
    const GATHERED: [[u8; 32]; 2] = {
        let mut bytes = [[NONE; 32]; 2];
        let mut i = 0;
        while i < 64 {
            let byte = D * (i / 4) / 8 + i % 4 - Self::STARTS[i / 16];
            if byte < 16 {
                bytes[i / 32][i % 32] = byte as u8;
            }
            i += 1;
        }
        bytes
    };

    /// The bit of its first byte in which each number begins.
    const PHASES: [[u32; 8]; 2] = {
        let mut phases = [[0; 8]; 2];
        let mut i = 0;
        while i < 16 {
            phases[i / 8][i % 8] = (D * i % 8) as u32;
            i += 1;
        }
        phases
    };
}

/// The index that gives a byte of zeros.
const NONE: u8 = 0x80;

/// Half a vector from memory.
#[inline]
#[target_feature(enable = "avx2")]
fn read_half(bytes: &[u8; 16]) -> __m128i {
    // SAFETY: the array has the size of the register.
    unsafe { _mm_loadu_si128(bytes.as_ptr().cast()) }
}

#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn pack<const D: usize>(numbers: &[u32; 16], bytes: &mut [u8]) {
    if D == 1 || D > 16 && !D.is_multiple_of(2) {
        // four numbers end within a byte, or a number is a single bit
        return packing::pack::<D>(numbers, bytes);
    }
    for (numbers, bytes) in numbers.as_chunks().0.iter().zip(bytes.chunks_exact_mut(D)) {
        let numbers: &[u32; 8] = numbers;
        pack_lanes::<D, 2>(read(numbers), bytes);
    }
}

#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn pack_i16s<const D: usize>(numbers: &[i16; 32], bytes: &mut [u8]) {
    let [x, y]: &[[i16; 16]; 2] = numbers
        .as_chunks()
        .0
        .first_chunk()
        .expect("two of 16 are 32");
    let (x, y) = (read(x), read(y));
    if D == 1 {
        // the sign bits of bytes
        let (x, y) = (_mm256_slli_epi16::<15>(x), _mm256_slli_epi16::<15>(y));
        let bits = _mm256_movemask_epi8(swap_middle(_mm256_packs_epi16(x, y)));
        bytes.copy_from_slice(&bits.to_le_bytes());
        return;
    }
    // even + 2^D · odd
    let factors = _mm256_set1_epi32(1 | 1 << (16 + D));
    for (x, bytes) in [x, y].into_iter().zip(bytes.chunks_exact_mut(2 * D)) {
        pack_lanes::<D, 4>(_mm256_madd_epi16(x, factors), bytes);
    }
}

/// Packs lanes of 32 bits with `N` / 2 numbers each.
#[inline]
#[target_feature(enable = "avx2")]
fn pack_lanes<const D: usize, const N: usize>(x: __m256i, bytes: &mut [u8]) {
    let bits = Packed::<D, N>::BITS;
    let low_parts = _mm256_broadcastsi128_si256(read_half(&Packed::<D, N>::PARTS[0]));
    let high_parts = _mm256_broadcastsi128_si256(read_half(&Packed::<D, N>::PARTS[1]));
    // Shifts the even lanes to their upper ends, and then both kinds down. Of two quadwords, the
    // second is shifted up by the phase of its bits.
    let free = 32 - bits / 2;
    let phase = (bits % 8) as i64;
    let aligned = _mm256_sllv_epi32(x, _mm256_set1_epi64x(free as i64));
    let quadwords = _mm256_srl_epi64(aligned, _mm_cvtsi32_si128(free as i32));
    let quadwords = _mm256_sllv_epi64(quadwords, _mm256_setr_epi64x(0, phase, 0, phase));
    let packed = _mm256_or_si256(
        _mm256_shuffle_epi8(quadwords, low_parts),
        _mm256_shuffle_epi8(quadwords, high_parts),
    );
    let [first, second] = halves(packed);
    if bits <= 32 {
        let packed = first | second << (2 * bits);
        bytes.copy_from_slice(&packed.to_le_bytes()[..bits / 2]);
    } else {
        let (start, end) = bytes.split_at_mut(bits / 4);
        start.copy_from_slice(&first.to_le_bytes()[..bits / 4]);
        end.copy_from_slice(&second.to_le_bytes()[..bits / 4]);
    }
}

#[inline]
#[target_feature(enable = "avx2")]
fn halves(x: __m256i) -> [u128; 2] {
    let mut halves = [0; 2];
    // SAFETY: the array has the size of the register.
    unsafe { _mm256_storeu_si256(halves.as_mut_ptr().cast(), x) }
    halves
}

#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn unpack<const D: usize>(bytes: &[u8]) -> [u32; 16] {
    assert_eq!(bytes.len(), 2 * D);
    let mut padded = [0; 16];
    let four = |i: usize| {
        let start = Unpacked::<D>::STARTS[i];
        bytes[start..].first_chunk()
    };
    let quarters = if 2 * D < 16 {
        padded[..2 * D].copy_from_slice(bytes);
        [&padded; 4]
    } else {
        [0, 1, 2, 3].map(|i| four(i).unwrap_or(&padded))
    };
    let mask = _mm256_set1_epi32((1 << D) - 1);
    let mut unpacked = [0; 16];
    for (i, unpacked) in unpacked.as_chunks_mut::<8>().0.iter_mut().enumerate() {
        let x = _mm256_set_m128i(read_half(quarters[2 * i + 1]), read_half(quarters[2 * i]));
        let gathered = _mm256_shuffle_epi8(x, read(&Unpacked::<D>::GATHERED[i]));
        let shifted = _mm256_srlv_epi32(gathered, read(&Unpacked::<D>::PHASES[i]));
        *unpacked = lanes(_mm256_and_si256(shifted, mask));
    }
    unpacked
}

/// Uses a table in a register.
#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn bit_pair_differences(bytes: &[u8; 16], differences: &mut [i16; 32]) {
    let (bytes, four) = (read_half(bytes), _mm_set1_epi8(15));
    let low = _mm_and_si128(bytes, four);
    let high = _mm_and_si128(_mm_srli_epi16::<4>(bytes), four);
    let table = read_half(&BIT_PAIR_DIFFERENCES);
    let in_order = [_mm_unpacklo_epi8(low, high), _mm_unpackhi_epi8(low, high)];
    for (differences, bits) in differences.as_chunks_mut::<16>().0.iter_mut().zip(in_order) {
        *differences = lanes(_mm256_cvtepi8_epi16(_mm_shuffle_epi8(table, bits)));
    }
}

/// The results for each four bits, as signed bytes.
static BIT_PAIR_DIFFERENCES: [u8; 16] = {
    let mut differences = [0; 16];
    let mut bits = 0;
    while bits < 16 {
        differences[bits] = bit_difference(bits as u8).cast_unsigned();
        bits += 1;
    }
    differences
};

/// The numbers below `limit`, in order, and how many there are.
#[inline]
#[target_feature(enable = "avx2,popcnt")]
pub(super) fn keep_below(candidates: &[u32; 8], limit: u32) -> ([u32; 8], usize) {
    let x = read(candidates);
    let below = _mm256_cmpgt_epi32(_mm256_set1_epi32(limit.cast_signed()), x);
    let mut below = _mm256_movemask_ps(_mm256_castsi256_ps(below)).cast_unsigned();
    declassify(&mut below);
    let kept = KEPT_LANES[below as usize & 0xff].to_le_bytes();
    // SAFETY: the array has the eight bytes that are read.
    let order = unsafe { _mm_loadl_epi64(kept.as_ptr().cast()) };
    let kept = _mm256_permutevar8x32_epi32(x, _mm256_cvtepu8_epi32(order));
    (lanes(kept), below.count_ones() as usize)
}

/// 16 half-bytes at a time.
#[inline]
#[target_feature(enable = "avx2,popcnt")]
pub(super) fn append_4_bits_below(
    bytes: &[u8; 136],
    limit: u32,
    output: &mut [u8; 256],
    mut filled: usize,
) -> usize {
    debug_assert!(limit <= 16);
    let (limit, four) = (_mm_set1_epi8(limit as i8), _mm_set1_epi8(15));
    for bytes in bytes.as_chunks::<8>().0 {
        if filled == 256 {
            break;
        }
        let bytes = _mm_cvtsi64_si128(i64::from_le_bytes(*bytes));
        let halves = _mm_unpacklo_epi8(bytes, _mm_srli_epi16::<4>(bytes));
        let halves = _mm_and_si128(halves, four);
        let below = _mm_cmpgt_epi8(limit, halves);
        let mut below = _mm_movemask_epi8(below).cast_unsigned();
        declassify(&mut below);
        for (halves, below) in [
            (halves, below & 0xff),
            (_mm_srli_si128::<8>(halves), below >> 8),
        ] {
            let order = _mm_cvtsi64_si128(KEPT_LANES[below as usize].cast_signed());
            let kept = _mm_cvtsi128_si64(_mm_shuffle_epi8(halves, order)).to_le_bytes();
            filled = packing::append(kept, below.count_ones() as usize, output, filled);
        }
    }
    filled
}
