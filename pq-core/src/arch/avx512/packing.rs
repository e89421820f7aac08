//! Numbers of D bits as bytes and back, and those among them that are small enough.

use core::arch::x86_64::*;

use super::{lanes, read};

/// Where the bits of packed numbers are: `N` numbers of `D` bits to a quadword, half of them
/// to each of its lanes.
struct Packed<const D: usize, const N: usize>;

impl<const D: usize, const N: usize> Packed<D, N> {
    /// Bits of a quadword.
    const BITS: usize = N * D;

    /// A bit for each of the packed bytes.
    const BYTES: __mmask64 = (1 << Self::BITS) - 1;

    /// The bit of its first byte where each quadword begins.
    const PHASES: [u64; 8] = {
        let mut phases = [0; 8];
        let mut i = 0;
        while i < 8 {
            phases[i] = (Self::BITS * i % 8) as u64;
            i += 1;
        }
        phases
    };

    /// For each packed byte the byte of a quadword, moved by its phase, that has its low
    /// bits, and that which has the rest if there is one; there are no more, but for quadwords
    /// of two bits.
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

    /// A bit for each of the packed bytes that has bits of two quadwords.
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

    /// For each quadword the packed bytes from its first bit on.
    const GATHERED: [u8; 64] = {
        let mut bytes = [0; 64];
        let mut i = 0;
        while i < 64 {
            bytes[i] = (Self::BITS * (i / 8) / 8 + i % 8) as u8;
            i += 1;
        }
        bytes
    };

    /// For each byte of the numbers the bit of the gathered quadword where it begins.
    const SHIFTS: [u8; 64] = {
        let mut shifts = [0; 64];
        let mut i = 0;
        while i < 64 {
            // how many bytes a number has
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

/// Lanes of 32 bits that have `N` / 2 numbers each.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
fn pack_lanes<const D: usize, const N: usize>(x: __m512i, bytes: &mut [u8]) {
    assert_eq!(bytes.len(), Packed::<D, N>::BITS);
    // The even lanes go to their upper ends, and then both down.
    let free = 32 - Packed::<D, N>::BITS / 2;
    let aligned = _mm512_sllv_epi32(x, _mm512_set1_epi64(free as i64));
    let quadwords = _mm512_srl_epi64(aligned, _mm_cvtsi32_si128(free as i32));
    let quadwords = _mm512_rolv_epi64(quadwords, read(&Packed::<D, N>::PHASES));
    let low = _mm512_permutexvar_epi8(read(&Packed::<D, N>::PARTS[0]), quadwords);
    let high = read(&Packed::<D, N>::PARTS[1]);
    let high = _mm512_maskz_permutexvar_epi8(Packed::<D, N>::SHARED, high, quadwords);
    let packed = _mm512_or_si512(low, high);
    // SAFETY: the mask has a bit for each of the bytes that `bytes` has.
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

/// The numbers with some of the bits that follow them.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
fn unpack_with_excess<const D: usize, const N: usize>(bytes: &[u8]) -> __m512i {
    assert_eq!(bytes.len(), Packed::<D, N>::BITS);
    // SAFETY: the mask has a bit for each of the bytes that `bytes` has.
    let packed = unsafe { _mm512_maskz_loadu_epi8(Packed::<D, N>::BYTES, bytes.as_ptr().cast()) };
    let gathered = _mm512_permutexvar_epi8(read(&Packed::<D, N>::GATHERED), packed);
    _mm512_multishift_epi64_epi8(read(&Packed::<D, N>::SHIFTS), gathered)
}

/// Those that are below `limit`, in their order and then zeros, and how many there are.
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
    // Read as they were written, in whole vectors: no load waits for two stores.
    let [first, second]: &[[u8; 64]; 2] = bytes
        .as_chunks()
        .0
        .first_chunk()
        .expect("two of 64 fit 168 bytes");
    let (first, second) = (read(first), read(second));
    // SAFETY: the mask has a bit for each byte that follows the first 128.
    let third = unsafe { _mm512_maskz_loadu_epi8((1 << 40) - 1, bytes[128..].as_ptr().cast()) };
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
        // No branch on where the last one is: it would be mispredicted for each polynomial.
        let rest = &mut output[filled..];
        let count = rest.len().min(below.count_ones() as usize);
        let mask = _bzhi_u32(u32::MAX, count as u32);
        // SAFETY: the mask has a bit for each of `count` elements, which there are.
        unsafe { _mm512_mask_storeu_epi16(rest.as_mut_ptr(), mask, kept) }
        filled += count;
    }
    filled
}

/// For each group of 32 numbers of 12 bits the two bytes of each, in the two vectors that
/// have bytes 48i and following; the last group ends in its one vector, whose rest counts
/// for nothing.
static PAIRS_OF_BYTES: [[u8; 64]; 4] = {
    let mut bytes = [[0; 64]; 4];
    let mut i = 0;
    while i < 4 * 64 {
        let (group, number) = (i / 64, i % 64 / 2);
        let byte = 48 * group + 3 * number / 2 + i % 2;
        // where the first vector of the group begins
        let start = [0, 0, 64, 128][group];
        bytes[group][i % 64] = (byte - start) as u8;
        i += 1;
    }
    bytes
};
