//! Numbers of D bits as bytes and back, and the choice of those that are small enough.

use core::arch::x86_64::*;

use super::super::pairs::bit_difference;
use super::{lanes, read};

/// The layout of packed numbers: `N` numbers of `D` bits in a quadword, half of them in each of its
/// lanes.
struct Packed<const D: usize, const N: usize>;

impl<const D: usize, const N: usize> Packed<D, N> {
    /// How many bits of a quadword are used.
    const BITS: usize = N * D;

    /// One bit for each of the packed bytes.
    const BYTES: __mmask64 = (1 << Self::BITS) - 1;

    /// The bit of its first byte in which each quadword begins.
    const PHASES: [u64; 8] = {
        let mut phases = [0; 8];
        let mut i = 0;
        while i < 8 {
            phases[i] = (Self::BITS * i % 8) as u64;
            i += 1;
        }
        phases
    };

    /// For each packed byte, the byte of a quadword (shifted by its phase) that has its low bits,
    /// and the byte that has the rest, if any. No byte has more parts, except with quadwords of two
    /// bits.
    const PARTS: [[u8; 64]; 2] = {
        assert!(Self::BITS <= 48, "a quadword has room for a phase");
        let mut parts = [[0; 64]; 2];
        let mut i = 0;
        while i < Self::BITS {
            let (low, high) = (8 * i / Self::BITS, (8 * i + 7) / Self::BITS);
            parts[0][i] = (8 * low + i - Self::BITS * low / 8) as u8;
            parts[1][i] = (8 * high) as u8;
            i += 1;
        }
        parts
    };

    /// One bit for each packed byte that has bits of two quadwords.
    const SHARED: __mmask64 = {
        let mut shared = 0;
        let mut i = 0;
        while i < Self::BITS {
            if 8 * i / Self::BITS != (8 * i + 7) / Self::BITS {
                shared |= 1 << i;
            }
            i += 1;
        }
        shared
    };

    /// For each quadword, the packed bytes from its first bit on.
    const GATHERED: [u8; 64] = {
        let mut bytes = [0; 64];
        let mut i = 0;
        while i < 64 {
            bytes[i] = (Self::BITS * (i / 8) / 8 + i % 8) as u8;
            i += 1;
        }
        bytes
    };

    /// For each byte of the numbers, the bit of the gathered quadword in which it begins.
    const SHIFTS: [u8; 64] = {
        let mut shifts = [0; 64];
        let mut i = 0;
        while i < 64 {
            // the bytes of a number
            let len = 8 / N;
            shifts[i] = (Self::BITS * (i / 8) % 8 + i / len % N * D + i % len * 8) as u8;
            i += 1;
        }
        shifts
    };
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
pub(super) fn pack<const D: usize>(numbers: &[u32; 16], bytes: &mut [u8]) {
    let x = read(numbers);
    if D == 1 {
        let bits = _mm512_test_epi32_mask(x, _mm512_set1_epi32(1));
        bytes.copy_from_slice(&bits.to_le_bytes());
    } else {
        pack_lanes::<D, 2>(x, bytes);
    }
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
pub(super) fn pack_i16s<const D: usize>(numbers: &[i16; 32], bytes: &mut [u8]) {
    let x = read(numbers);
    if D == 1 {
        let bits = _mm512_test_epi16_mask(x, _mm512_set1_epi16(1));
        bytes.copy_from_slice(&bits.to_le_bytes());
    } else {
        // even + 2^D · odd
        let factors = _mm512_set1_epi32(1 | 1 << (16 + D));
        pack_lanes::<D, 4>(_mm512_madd_epi16(x, factors), bytes);
    }
}

/// Packs lanes of 32 bits with `N` / 2 numbers each.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
fn pack_lanes<const D: usize, const N: usize>(x: __m512i, bytes: &mut [u8]) {
    assert_eq!(bytes.len(), Packed::<D, N>::BITS);
    // Shifts the even lanes to their upper ends, and then both kinds down.
    let free = 32 - Packed::<D, N>::BITS / 2;
    let aligned = _mm512_sllv_epi32(x, _mm512_set1_epi64(free as i64));
    let quadwords = _mm512_srl_epi64(aligned, _mm_cvtsi32_si128(free as i32));
    let quadwords = _mm512_rolv_epi64(quadwords, read(&Packed::<D, N>::PHASES));
    let low = _mm512_permutexvar_epi8(read(&Packed::<D, N>::PARTS[0]), quadwords);
    let high = read(&Packed::<D, N>::PARTS[1]);
    let high = _mm512_maskz_permutexvar_epi8(Packed::<D, N>::SHARED, high, quadwords);
    let packed = _mm512_or_si512(low, high);
    // SAFETY: the mask has one bit for each of the bytes that `bytes` has.
    unsafe { _mm512_mask_storeu_epi8(bytes.as_mut_ptr().cast(), Packed::<D, N>::BYTES, packed) }
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
pub(super) fn unpack<const D: usize>(bytes: &[u8]) -> [u32; 16] {
    let mask = _mm512_set1_epi32((1 << D) - 1);
    lanes(_mm512_and_si512(unpack_with_excess::<D, 2>(bytes), mask))
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
pub(super) fn unpack_i16s<const D: usize>(bytes: &[u8]) -> [i16; 32] {
    let mask = _mm512_set1_epi16((1 << D) - 1);
    lanes(_mm512_and_si512(unpack_with_excess::<D, 4>(bytes), mask))
}

/// Uses a table in a register.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
pub(super) fn bit_pair_differences(bytes: &[u8; 16], differences: &mut [i16; 32]) {
    // Not with a mask: the load would have to wait for bytes that were just written in parts.
    let packed = u128::from_le_bytes(*bytes).cast_signed();
    let packed = _mm_set_epi64x((packed >> 64) as i64, packed as i64);
    let bits = unpack_from_register::<4, 4>(_mm512_zextsi128_si512(packed));
    *differences = lanes(_mm512_permutexvar_epi16(bits, read(&BIT_PAIR_DIFFERENCES)));
}

/// The results for each four bits, with any bit after them.
static BIT_PAIR_DIFFERENCES: [i16; 32] = {
    let mut differences = [0; 32];
    let mut bits = 0;
    while bits < 32 {
        differences[bits] = bit_difference(bits as u8) as i16;
        bits += 1;
    }
    differences
};

/// The numbers, each with some of the bits that follow it.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
fn unpack_with_excess<const D: usize, const N: usize>(bytes: &[u8]) -> __m512i {
    assert_eq!(bytes.len(), Packed::<D, N>::BITS);
    // SAFETY: the mask has one bit for each of the bytes that `bytes` has.
    let packed = unsafe { _mm512_maskz_loadu_epi8(Packed::<D, N>::BYTES, bytes.as_ptr().cast()) };
    unpack_from_register::<D, N>(packed)
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
fn unpack_from_register<const D: usize, const N: usize>(packed: __m512i) -> __m512i {
    let gathered = _mm512_permutexvar_epi8(read(&Packed::<D, N>::GATHERED), packed);
    _mm512_multishift_epi64_epi8(read(&Packed::<D, N>::SHIFTS), gathered)
}

/// The numbers below `limit`, in order and followed by zeros, and how many there are.
#[inline]
#[target_feature(enable = "avx512f,popcnt")]
pub(super) fn keep_below(candidates: &[u32; 16], limit: u32) -> ([u32; 16], usize) {
    let x = read(candidates);
    let below = _mm512_cmplt_epu32_mask(x, _mm512_set1_epi32(limit.cast_signed()));
    let kept = _mm512_maskz_compress_epi32(below, x);
    (lanes(kept), below.count_ones() as usize)
}

/// 32 numbers at a time, and 16 at the end.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi,avx512vbmi2,bmi2,popcnt")]
pub(super) fn append_12_bits_below(
    bytes: &[u8; 168],
    limit: u32,
    output: &mut [i16; 256],
    mut filled: usize,
) -> usize {
    let [first, second, third] = thirds(bytes);
    let limit = _mm512_set1_epi16(limit as i16);
    let phases = _mm512_set1_epi32(4 << 16);
    let groups = [
        (first, first, __mmask32::MAX),
        (first, second, __mmask32::MAX),
        (second, third, __mmask32::MAX),
        (third, third, 0xffff),
    ];
    for ((a, b, there), pairs) in groups.into_iter().zip(&PAIRS_OF_BYTES) {
        let pairs = _mm512_permutex2var_epi8(a, read(pairs), b);
        let numbers = _mm512_and_si512(_mm512_srlv_epi16(pairs, phases), _mm512_set1_epi16(0xfff));
        let below = _mm512_mask_cmplt_epu16_mask(there, numbers, limit);
        let kept = _mm512_maskz_compress_epi16(below, numbers);
        // No branch on the position of the last one: it would be mispredicted for each polynomial.
        let rest = &mut output[filled..];
        let count = rest.len().min(below.count_ones() as usize);
        let mask = _bzhi_u32(u32::MAX, count as u32);
        // SAFETY: the mask has one bit for each of `count` elements, which exist.
        unsafe { _mm512_mask_storeu_epi16(rest.as_mut_ptr(), mask, kept) }
        filled += count;
    }
    filled
}

/// A block of SHAKE128 in vectors, the last of which is not full.
///
/// It is read in whole vectors, as it was written, so no load waits for two stores.
#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn thirds(bytes: &[u8; 168]) -> [__m512i; 3] {
    let [first, second]: &[[u8; 64]; 2] = bytes
        .as_chunks()
        .0
        .first_chunk()
        .expect("two of 64 fit 168 bytes");
    // SAFETY: the mask has one bit for each byte after the first 128.
    let third = unsafe { _mm512_maskz_loadu_epi8((1 << 40) - 1, bytes[128..].as_ptr().cast()) };
    [read(first), read(second), third]
}

/// 16 numbers at a time, and 8 at the end.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi,bmi2,popcnt")]
pub(super) fn append_23_bits_below(
    bytes: &[u8; 168],
    limit: u32,
    output: &mut [i32; 256],
    mut filled: usize,
) -> usize {
    let [first, second, third] = thirds(bytes);
    let limit = _mm512_set1_epi32(limit.cast_signed());
    let mut numbers = [
        _mm512_permutexvar_epi8(read(&TRIPLES_OF_BYTES[0]), first),
        _mm512_permutex2var_epi8(first, read(&TRIPLES_OF_BYTES[1]), second),
        _mm512_permutex2var_epi8(second, read(&TRIPLES_OF_BYTES[2]), third),
        _mm512_permutexvar_epi8(read(&TRIPLES_OF_BYTES[3]), third),
    ];
    let mut below = [0; 4];
    for ((numbers, below), there) in numbers.iter_mut().zip(&mut below).zip(THERE) {
        *numbers = _mm512_and_si512(*numbers, _mm512_set1_epi32(0x7f_ffff));
        *below = _mm512_mask_cmplt_epu32_mask(there, *numbers, limit);
    }
    // Most often all numbers are accepted.
    let rest = &mut output[filled..];
    if below == THERE
        && let Some(room) = rest.first_chunk_mut::<64>()
    {
        for (numbers, room) in numbers.into_iter().zip(room.as_chunks_mut::<16>().0) {
            *room = lanes(numbers);
        }
        return filled + 56;
    }
    for (numbers, below) in numbers.into_iter().zip(below) {
        let kept = _mm512_maskz_compress_epi32(below, numbers);
        filled += store_some(kept, below.count_ones(), &mut output[filled..]);
    }
    filled
}

/// Stores the first `count` of 16 numbers, or all if `count` is greater, at the beginning of
/// `rest`, while there is room, and returns how many were stored.
#[inline]
#[target_feature(enable = "avx512f,bmi2")]
fn store_some(numbers: __m512i, count: u32, rest: &mut [i32]) -> usize {
    let count = rest.len().min(count as usize);
    let mask = _bzhi_u32(0xffff, count as u32) as __mmask16;
    // SAFETY: the mask has one bit for each of at most 16 elements, which exist.
    unsafe { _mm512_mask_storeu_epi32(rest.as_mut_ptr(), mask, numbers) }
    count.min(16)
}

/// One bit for each number of 23 bits in a group.
const THERE: [__mmask16; 4] = [0xffff, 0xffff, 0xffff, 0xff];

/// For each group of 16 numbers, the three bytes of each number and one more, in the two vectors
/// that contain bytes 48i and following; the first and the last group are in one vector.
static TRIPLES_OF_BYTES: [[u8; 64]; 4] = bytes_of_numbers(4);

/// For each group of 48 bytes, which has 64 / `width` numbers, the `width` bytes from the beginning
/// of each number on, by their positions in the two vectors that contain them.
const fn bytes_of_numbers(width: usize) -> [[u8; 64]; 4] {
    let mut bytes = [[0; 64]; 4];
    let mut i = 0;
    while i < 4 * 64 {
        let (group, number) = (i / 64, i % 64 / width);
        let byte = 48 * group + 3 * width * number / 4 + i % width;
        // where the first vector of the group begins
        let start = [0, 0, 64, 128][group];
        bytes[group][i % 64] = (byte - start) as u8;
        i += 1;
    }
    bytes
}

/// 64 half-bytes at a time, and 16 at the end.
#[inline]
#[target_feature(enable = "avx,avx512f,avx512bw,avx512vbmi2,bmi2,popcnt")]
pub(super) fn append_4_bits_below(
    bytes: &[u8; 136],
    limit: u32,
    output: &mut [u8; 256],
    mut filled: usize,
) -> usize {
    debug_assert!(limit <= 16);
    let limit = _mm512_set1_epi8(limit as i8);
    let (groups, last) = bytes.as_chunks::<32>();
    let last: &[u8; 8] = last.first_chunk().expect("136 bytes are 4 · 32 and 8");
    for group in 0..=groups.len() {
        if filled == 256 {
            break;
        }
        let (x, there) = match groups.get(group) {
            // SAFETY: the array has the size of a register of 256 bits.
            Some(group) => (
                unsafe { _mm256_loadu_si256(group.as_ptr().cast()) },
                u64::MAX,
            ),
            None => {
                // SAFETY: the array has the 64 bits that are read.
                let x = unsafe { _mm_loadl_epi64(last.as_ptr().cast()) };
                (_mm256_zextsi128_si256(x), 0xffff)
            }
        };
        let x = _mm512_cvtepu8_epi16(x);
        let halves = _mm512_or_si512(x, _mm512_slli_epi16::<4>(x));
        let halves = _mm512_and_si512(halves, _mm512_set1_epi8(0xf));
        let below = _mm512_mask_cmplt_epu8_mask(there, halves, limit);
        let kept = _mm512_maskz_compress_epi8(below, halves);
        let rest = &mut output[filled..];
        let count = rest.len().min(below.count_ones() as usize);
        if let Some(room) = rest.first_chunk_mut::<64>() {
            // The next group, if there is one, overwrites the elements after the kept ones.
            *room = lanes(kept);
        } else {
            let mask = _bzhi_u64(u64::MAX, count as u32);
            // SAFETY: the mask has one bit for each of at most 63 elements, which exist.
            unsafe { _mm512_mask_storeu_epi8(rest.as_mut_ptr().cast(), mask, kept) }
        }
        filled += count;
    }
    filled
}

/// For each group of 32 numbers of 12 bits, the two bytes of each, in the two vectors that contain
/// bytes 48i and following; the last group ends in its only vector, whose rest is ignored.
static PAIRS_OF_BYTES: [[u8; 64]; 4] = bytes_of_numbers(2);
