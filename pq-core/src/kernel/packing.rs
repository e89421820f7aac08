//! 256 coefficients of D bits each as 32 · D bytes, least significant bit first:
//! SimpleBitPack and SimpleBitUnpack (FIPS 204, algorithms 16 and 18).
//!
//! The standards go by single bits: IntegerToBits and BitsToInteger, then BitsToBytes and BytesToBits
//! (FIPS 204, algorithms 9, 10, 12 and 13; FIPS 203, algorithms 3 and 4). Nothing here does: a number
//! is shifted to its place among its neighbours, which puts the same bits into the same bytes.

use crate::arch::{Backend, Kernel};

/// Packs the coefficients that `coefficient(0..256)` gives.
///
/// Each is less than 2^D, D ≤ 20; `output` has 32 · D bytes.
pub(crate) struct Pack<'a, const D: usize, F> {
    pub(crate) coefficient: F,
    pub(crate) output: &'a mut [u8],
}

impl<B: Backend, const D: usize, F: Fn(usize) -> u32> Kernel<B> for Pack<'_, D, F> {
    type Output = ();

    #[inline(always)]
    fn run(self, b: B) {
        debug_assert_eq!(self.output.len(), 32 * D);
        for (group, bytes) in (0..16).zip(self.output.chunks_exact_mut(2 * D)) {
            let mut numbers = [0; 16];
            for (i, number) in numbers.iter_mut().enumerate() {
                *number = (self.coefficient)(16 * group + i);
                debug_assert!(*number < 1 << D);
            }
            b.pack::<D>(&numbers, bytes);
        }
    }
}

/// Hands coefficient i of `input` to `coefficient(i, ·)`, each less than 2^D.
///
/// `input` has 32 · D bytes, D ≤ 20.
pub(crate) struct Unpack<'a, const D: usize, F> {
    pub(crate) input: &'a [u8],
    pub(crate) coefficient: F,
}

impl<B: Backend, const D: usize, F: FnMut(usize, u32)> Kernel<B> for Unpack<'_, D, F> {
    type Output = ();

    #[inline(always)]
    fn run(mut self, b: B) {
        debug_assert_eq!(self.input.len(), 32 * D);
        for (group, bytes) in (0..16).zip(self.input.chunks_exact(2 * D)) {
            for (i, number) in b.unpack::<D>(bytes).into_iter().enumerate() {
                (self.coefficient)(16 * group + i, number);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Pack, Unpack};
    use crate::arch::{Backend, on_each_backend};
    use crate::test_random::Random;

    /// Every width in use, against the standards' definition by single bits.
    #[test]
    fn packs_bits_in_order() {
        fn check<B: Backend, const D: usize>(b: B) {
            let mut random = Random::new(1);
            let coefficients: [u32; 256] = core::array::from_fn(|_| random.below(1 << D));
            let mut storage = [0; 32 * 20];
            let packed = &mut storage[..32 * D];
            b.run(Pack::<D, _> {
                coefficient: |i| coefficients[i],
                output: packed,
            });
            for i in 0..256 * D {
                let bit = u32::from(packed[i / 8]) >> (i % 8) & 1;
                assert_eq!(bit, coefficients[i / D] >> (i % D) & 1);
            }
            let mut unpacked = [0; 256];
            b.run(Unpack::<D, _> {
                input: packed,
                coefficient: |i, c| unpacked[i] = c,
            });
            assert_eq!(unpacked, coefficients);
        }

        fn check_all<B: Backend>(b: B) {
            check::<_, 3>(b);
            check::<_, 4>(b);
            check::<_, 6>(b);
            check::<_, 10>(b);
            check::<_, 13>(b);
            check::<_, 18>(b);
            check::<_, 20>(b);
        }

        on_each_backend!(b => check_all(b));
    }
}
