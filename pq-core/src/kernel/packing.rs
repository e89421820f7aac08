//! 256 coefficients of D bits each as 32 · D bytes, least significant bit first:
//! ByteEncode and ByteDecode (FIPS 203, algorithms 5 and 6), SimpleBitPack and
//! SimpleBitUnpack (FIPS 204, algorithms 16 and 18).

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
    fn run(self, _: B) {
        debug_assert_eq!(self.output.len(), 32 * D);
        for (group, bytes) in self.output.as_chunks_mut::<D>().0.iter_mut().enumerate() {
            let mut c = [0; 8];
            for (i, c) in c.iter_mut().enumerate() {
                *c = (self.coefficient)(8 * group + i);
                debug_assert!(*c < 1 << D);
            }
            // Byte j takes its bits from as many coefficients as it touches.
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
    fn run(mut self, _: B) {
        debug_assert_eq!(self.input.len(), 32 * D);
        for (group, bytes) in self.input.as_chunks::<D>().0.iter().enumerate() {
            for i in 0..8 {
                let (first, last) = (i * D, (i + 1) * D);
                let mut c = 0;
                for (j, byte) in bytes.iter().enumerate() {
                    let byte = u32::from(*byte);
                    if first < 8 * (j + 1) && 8 * j < last {
                        c |= if first <= 8 * j {
                            byte << (8 * j - first)
                        } else {
                            byte >> (first - 8 * j)
                        };
                    }
                }
                (self.coefficient)(8 * group + i, c & ((1 << D) - 1));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Pack, Unpack};
    use crate::arch::wide::Wide;
    use crate::arch::{Backend, Portable};
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
            check::<_, 1>(b);
            check::<_, 3>(b);
            check::<_, 4>(b);
            check::<_, 5>(b);
            check::<_, 6>(b);
            check::<_, 10>(b);
            check::<_, 11>(b);
            check::<_, 12>(b);
            check::<_, 13>(b);
            check::<_, 18>(b);
            check::<_, 20>(b);
        }

        check_all(Portable);
        check_all(Wide);
    }
}
