//! Numbers of D bits as bytes and back, sixteen at a time, in general registers: the defaults of
//! the methods of [`Backend`](super::Backend).

use super::{Backend, FromNumber, declassify};

/// See [`Backend::pack`](super::Backend::pack).
#[inline(always)]
pub(super) fn pack<const D: usize>(numbers: &[u32; 16], bytes: &mut [u8]) {
    for (c, bytes) in numbers.chunks_exact(8).zip(bytes.chunks_exact_mut(D)) {
        // Byte j takes bits from all numbers that it overlaps.
        for (j, byte) in bytes.iter_mut().enumerate() {
            let mut bits = 0;
            for (i, c) in c.iter().enumerate() {
                let (first, last) = (i * D, (i + 1) * D);
                if first < 8 * (j + 1) && 8 * j < last {
                    bits |= if first <= 8 * j {
                        c >> (8 * j - first)
                    } else {
                        c << (first - 8 * j)
                    };
                }
            }
            *byte = bits as u8;
        }
    }
}

/// See [`Backend::unpack`](super::Backend::unpack).
#[inline(always)]
pub(super) fn unpack<const D: usize>(bytes: &[u8]) -> [u32; 16] {
    let mut numbers = [0; 16];
    for (c, bytes) in numbers.chunks_exact_mut(8).zip(bytes.chunks_exact(D)) {
        for (i, c) in c.iter_mut().enumerate() {
            let (first, phase) = (i * D / 8, i * D % 8);
            let mut word = 0;
            for (j, byte) in bytes[first..].iter().take(4).enumerate() {
                word |= u32::from(*byte) << (8 * j);
            }
            *c = word >> phase & ((1 << D) - 1);
        }
    }
    numbers
}

/// See [`Backend::append_below`](super::Backend::append_below).
#[inline(always)]
pub(super) fn append_below<T: FromNumber>(
    numbers: &[u32; 16],
    limit: u32,
    output: &mut [T; 256],
    mut filled: usize,
) -> usize {
    for number in numbers {
        let Some(element) = output.get_mut(filled) else {
            break;
        };
        // The next number overwrites one that is not below. The comparison uses the carry, so that
        // no compiler makes it a branch.
        *element = T::from_number(*number);
        let mut is_below = number.wrapping_sub(limit) >> 31;
        declassify(&mut is_below);
        filled += is_below as usize;
    }
    filled
}

/// See [`Backend::append_23_bits_below`](super::Backend::append_23_bits_below).
#[inline(always)]
pub(super) fn append_23_bits_below<B: Backend>(
    b: B,
    bytes: &[u8; 168],
    limit: u32,
    output: &mut [i32; 256],
    mut filled: usize,
) -> usize {
    filled = append_23_bits::<_, 0, 0>(b, bytes, limit, output, filled);
    filled = append_23_bits::<_, 48, 0>(b, bytes, limit, output, filled);
    filled = append_23_bits::<_, 96, 0>(b, bytes, limit, output, filled);
    // The last group overlaps with the one before, and skips the numbers that were in that one.
    append_23_bits::<_, 120, 8>(b, bytes, limit, output, filled)
}

/// The numbers of the 48 bytes from `START` on, without the first `SEEN`.
#[inline(always)]
fn append_23_bits<B: Backend, const START: usize, const SEEN: usize>(
    b: B,
    bytes: &[u8; 168],
    limit: u32,
    output: &mut [i32; 256],
    filled: usize,
) -> usize {
    if filled == 256 {
        return 256;
    }
    let mut numbers = b.unpack::<24>(&bytes[START..START + 48]);
    for number in &mut numbers {
        *number &= 0x7f_ffff;
    }
    // Most often all numbers are accepted.
    let unseen = &numbers[SEEN..];
    let refused = unseen
        .iter()
        .fold(false, |refused, number| refused | (*number >= limit));
    if !refused && let Some(room) = output.get_mut(filled..filled + unseen.len()) {
        for (element, number) in room.iter_mut().zip(unseen) {
            *element = number.cast_signed();
        }
        return filled + unseen.len();
    }
    numbers[..SEEN].fill(limit);
    b.append_below(&numbers, limit, output, filled)
}

/// Appends the first `count` of `elements` to the first `filled` of `output`, while there is room,
/// and returns how many there are then.
#[cfg(any(
    target_arch = "x86_64",
    all(target_arch = "wasm32", target_feature = "simd128")
))]
#[inline(always)]
pub(super) fn append<T: Copy, const N: usize>(
    elements: [T; N],
    count: usize,
    output: &mut [T; 256],
    filled: usize,
) -> usize {
    if let Some(room) = output[filled..].first_chunk_mut() {
        // The next call, if there is one, overwrites the elements after the first `count`.
        *room = elements;
        filled + count
    } else {
        let count = count.min(256 - filled);
        output[filled..filled + count].copy_from_slice(&elements[..count]);
        filled + count
    }
}

/// For every subset of eight lanes, their indices, one byte each.
#[cfg(any(
    target_arch = "x86_64",
    all(target_arch = "wasm32", target_feature = "simd128")
))]
pub(super) static KEPT_LANES: [u64; 256] = {
    let mut lanes = [0; 256];
    let mut choice = 0;
    while choice < 256 {
        let (mut i, mut count) = (0, 0);
        while i < 8 {
            if choice >> i & 1 == 1 {
                lanes[choice] |= i << (8 * count);
                count += 1;
            }
            i += 1;
        }
        choice += 1;
    }
    lanes
};

#[cfg(test)]
mod tests {
    extern crate alloc;

    use alloc::vec::Vec;

    use super::pack;
    use crate::arch::{Backend, FromNumber, on_each_backend};
    use crate::test_random::{Random, inputs};

    /// Every width, bit by bit.
    #[test]
    fn packs_bits_in_order() {
        fn check<B: Backend, const D: usize>(b: B) {
            let mut state = 1u32;
            for _ in 0..inputs(50) {
                let numbers: [u32; 16] = core::array::from_fn(|_| {
                    state = state.wrapping_mul(0x915f_77f5).wrapping_add(1);
                    state >> (32 - D)
                });
                let mut storage = [0xa5; 64];
                b.pack::<D>(&numbers, &mut storage[1..][..2 * D]);
                assert_eq!(storage[0], 0xa5);
                assert!(storage[1 + 2 * D..].iter().all(|byte| *byte == 0xa5));
                for i in 0..16 * D {
                    let bit = u32::from(storage[1 + i / 8]) >> (i % 8) & 1;
                    assert_eq!(bit, numbers[i / D] >> (i % D) & 1, "D = {D}");
                }
                assert_eq!(b.unpack::<D>(&storage[1..][..2 * D]), numbers, "D = {D}");
            }
        }

        macro_rules! check_each {
            ($b:ident: $($d:literal)*) => { $(check::<_, $d>($b);)* };
        }
        on_each_backend!(b => {
            check_each!(b: 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24);
        });
    }

    /// Every width, with coefficients.
    #[test]
    fn packs_coefficients_as_numbers() {
        /// Compiled once for each width, and not for each backend.
        #[inline(never)]
        fn textbook<const D: usize>(numbers: &[i16; 16], bytes: &mut [u8]) {
            pack::<D>(&numbers.map(|x| x as u32), bytes);
        }

        fn check<B: Backend, const D: usize>(b: B) {
            let mut random = Random::new(5);
            for _ in 0..inputs(50) {
                let numbers: [i16; 32] = core::array::from_fn(|_| random.below(1 << D) as i16);
                let mut storage = [0xa5; 50];
                let (packed, rest) = storage[1..].split_at_mut(4 * D);
                b.pack_i16s::<D>(&numbers, packed);
                assert_eq!(rest[0], 0xa5);
                let mut expected = [0; 48];
                let halves = numbers.as_chunks::<16>().0.iter();
                for (half, bytes) in halves.zip(expected.chunks_exact_mut(2 * D)) {
                    textbook::<D>(half, bytes);
                }
                assert_eq!(packed, &expected[..4 * D], "D = {D}");
                assert_eq!(b.unpack_i16s::<D>(packed), numbers, "D = {D}");
                assert_eq!(storage[0], 0xa5);
            }
        }

        macro_rules! check_each {
            ($b:ident: $($d:literal)*) => { $(check::<_, $d>($b);)* };
        }
        on_each_backend!(b => {
            check_each!(b: 1 2 3 4 5 6 7 8 9 10 11 12);
        });
    }

    /// Every subset of numbers below the limit, at every position.
    #[test]
    fn appends_what_is_below_in_order() {
        fn check<T: FromNumber + PartialEq + core::fmt::Debug>(b: impl Backend, limits: &[u32]) {
            for limit in limits {
                for below in (0..=u16::MAX).step_by(if cfg!(miri) { 997 } else { 1 }) {
                    if limit != &limits[0] && below % 97 != 0 {
                        continue;
                    }
                    let number = |i: u32| match below >> i & 1 {
                        1 => limit - 1 - i * 7 % limit,
                        _ => limit + i,
                    };
                    let numbers = core::array::from_fn(|i| number(i as u32));
                    let mut output = [T::from_number(12); 256];
                    let before = usize::from(below) * 5 % 257;
                    let filled = b.append_below(&numbers, *limit, &mut output, before);
                    let accepted = numbers.iter().filter(|number| *number < limit);
                    let accepted = accepted.map(|number| T::from_number(*number));
                    assert_eq!(filled, 256.min(before + accepted.clone().count()));
                    assert_eq!(output[..before], [T::from_number(12); 256][..before]);
                    let room = 256 - before;
                    assert!(
                        output[before..filled]
                            .iter()
                            .copied()
                            .eq(accepted.take(room))
                    );
                }
            }
        }

        on_each_backend!(b => {
            check::<i16>(b, &[9, 1, 15, 3329]);
            check::<i32>(b, &[9, 1, 15, 8_380_417, 1 << 24]);
        });
    }

    /// Random blocks, and blocks of which all or no numbers are below the limit, at every position:
    /// `append` must find the numbers that `numbers` returns, which are all of a block.
    fn assert_appends_in_order<T: FromNumber + PartialEq, const LEN: usize>(
        limits: &[u32],
        numbers: fn(&[u8; LEN]) -> Vec<u32>,
        append: impl Fn(&[u8; LEN], u32, &mut [T; 256], usize) -> usize,
    ) {
        let twelve = T::from_number(12);
        let random = (0..inputs(10) as u64).map(|seed| Random::new(seed).bytes());
        for bytes in random.chain([[0; LEN], [0xff; LEN]]) {
            let numbers = numbers(&bytes);
            for limit in limits {
                for before in (0..=256).step_by(if cfg!(miri) { 255 } else { 3 }) {
                    let mut output = [twelve; 256];
                    let filled = append(&bytes, *limit, &mut output, before);
                    let accepted = numbers.iter().filter(|x| *x < limit);
                    let expected = [twelve; 256].into_iter().take(before);
                    let expected = expected.chain(accepted.map(|x| T::from_number(*x)));
                    assert!(output[..filled].iter().copied().eq(expected.take(256)));
                }
            }
        }
    }

    #[test]
    fn appends_23_bits_in_order() {
        fn numbers(bytes: &[u8; 168]) -> Vec<u32> {
            let number = |c: &[u8; 3]| u32::from_le_bytes([c[0], c[1], c[2] & 0x7f, 0]);
            bytes.as_chunks().0.iter().map(number).collect()
        }

        let limits = [1, 1 << 20, 8_380_417, (1 << 23) - 1];
        on_each_backend!(b => assert_appends_in_order(&limits, numbers, |bytes, limit, output, n| {
            b.append_23_bits_below(bytes, limit, output, n)
        }));
    }

    #[test]
    fn appends_4_bits_in_order() {
        fn numbers(bytes: &[u8; 136]) -> Vec<u32> {
            let halves = bytes.iter().flat_map(|byte| [byte & 15, byte >> 4]);
            halves.map(u32::from).collect()
        }

        let limits = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15];
        on_each_backend!(b => assert_appends_in_order(&limits, numbers, |bytes, limit, output, n| {
            b.append_4_bits_below(bytes, limit, output, n)
        }));
    }

    #[test]
    fn appends_12_bits_in_order() {
        fn numbers(bytes: &[u8; 168]) -> Vec<u32> {
            let number = |i: usize| {
                let (byte, phase) = (12 * i / 8, 12 * i % 8);
                u32::from(bytes[byte]) >> phase | u32::from(bytes[byte + 1]) << (8 - phase)
            };
            (0..112).map(|i| number(i) & 0xfff).collect()
        }

        let limits = [1, 1000, 3329, 4095];
        on_each_backend!(b => assert_appends_in_order(&limits, numbers, |bytes, limit, output, n| {
            b.append_12_bits_below(bytes, limit, output, n)
        }));
    }
}
