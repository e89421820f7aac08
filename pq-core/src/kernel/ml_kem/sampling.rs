//! Sampling from hash output (FIPS 203, algorithms 7 and 8).

use crate::arch::{Backend, Kernel};
use crate::kernel::ntt::{Q3329, Ring};

/// One block of SampleNTT (algorithm 7), as long as the rate of SHAKE128: appends to the
/// first `filled` coefficients of `f` those that `block` yields, and returns how many there
/// are.
///
/// `block` is public. Gives 0 ≤ x < q.
pub(crate) struct RejectUniform<'a> {
    pub(crate) block: &'a [u8; 168],
    pub(crate) f: &'a mut [i16; 256],
    pub(crate) filled: usize,
}

impl<B: Backend> Kernel<B> for RejectUniform<'_> {
    type Output = usize;

    #[inline(always)]
    fn run(self, b: B) -> usize {
        b.append_12_bits_below(self.block, Q3329::Q as u32, self.f, self.filled)
    }
}

/// SamplePolyCBD_η (algorithm 8), η = 2 or 3, or consecutive coefficients of it: 32 from
/// each 16 bytes, or 4 from each 3.
///
/// Gives |x| ≤ η.
pub(crate) struct CentredBinomial<'a, const ETA: usize> {
    pub(crate) bytes: &'a [u8],
    pub(crate) f: &'a mut [i16],
}

impl<B: Backend, const ETA: usize> Kernel<B> for CentredBinomial<'_, ETA> {
    type Output = ();

    #[inline(always)]
    fn run(self, b: B) {
        const {
            assert!(ETA == 2 || ETA == 3);
        }
        debug_assert_eq!(8 * self.bytes.len(), 2 * ETA * self.f.len());
        if ETA == 2 {
            let (bytes, _) = self.bytes.as_chunks();
            for (f, bytes) in self.f.as_chunks_mut().0.iter_mut().zip(bytes) {
                b.bit_pair_differences(bytes, f);
            }
        } else {
            let (bytes, _) = self.bytes.as_chunks();
            for (f, bytes) in self.f.as_chunks_mut::<4>().0.iter_mut().zip(bytes) {
                let [b0, b1, b2] = *bytes;
                let bits = u32::from_le_bytes([b0, b1, b2, 0]);
                let sums =
                    (bits & 0x0024_9249) + (bits >> 1 & 0x0024_9249) + (bits >> 2 & 0x0024_9249);
                for (i, x) in f.iter_mut().enumerate() {
                    let pair = sums >> (6 * i);
                    *x = (pair & 7) as i16 - (pair >> 3 & 7) as i16;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{CentredBinomial, RejectUniform};
    use crate::arch::{Backend, on_each_backend};
    use crate::test_random::Random;

    /// Algorithm 8, bit by bit.
    #[test]
    fn centred_binomial_matches_textbook() {
        fn check<B: Backend, const ETA: usize>(b: B, bytes: &[u8]) {
            let mut f = [0; 256];
            b.run(CentredBinomial::<ETA> { bytes, f: &mut f });
            let bit = |i: usize| i16::from(bytes[i / 8] >> (i % 8) & 1);
            for (i, actual) in f.iter().enumerate() {
                let x: i16 = (0..ETA).map(|j| bit(2 * i * ETA + j)).sum();
                let y: i16 = (0..ETA).map(|j| bit(2 * i * ETA + ETA + j)).sum();
                assert_eq!(*actual, x - y);
            }
        }

        fn check_all<B: Backend>(b: B) {
            for seed in 0..500 {
                check::<_, 2>(b, &Random::new(seed).bytes::<128>());
                check::<_, 3>(b, &Random::new(seed).bytes::<192>());
            }
            check::<_, 2>(b, &[0xff; 128]);
            check::<_, 3>(b, &[0xff; 192]);
        }

        on_each_backend!(b => check_all(b));
    }

    /// Algorithm 7, whose coefficients are taken one block at a time.
    #[test]
    fn rejection_matches_textbook() {
        fn check<B: Backend>(b: B, seed: u64) {
            let bytes: [u8; 4 * 168] = Random::new(seed).bytes();
            let mut f = [0; 256];
            let mut filled = 0;
            for block in bytes.as_chunks().0 {
                filled = b.run(RejectUniform {
                    block,
                    f: &mut f,
                    filled,
                });
            }
            let expected = bytes.chunks_exact(3).flat_map(|c| {
                let d1 = u16::from(c[0]) + 256 * (u16::from(c[1]) % 16);
                let d2 = u16::from(c[1]) / 16 + 16 * u16::from(c[2]);
                [d1, d2]
            });
            let expected = expected.filter(|d| *d < 3329).take(256);
            assert_eq!(filled, expected.clone().count());
            for (actual, expected) in f.iter().zip(expected) {
                assert_eq!(*actual as u16, expected);
            }
        }

        for seed in 0..200 {
            on_each_backend!(b => check(b, seed));
        }
    }
}
