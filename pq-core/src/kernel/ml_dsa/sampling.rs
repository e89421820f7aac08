//! Sampling from hash output (FIPS 204, algorithms 30 and 31).

use crate::arch::{Backend, Kernel};
use crate::kernel::ntt::{Q8380417, Ring};

/// One block of RejNTTPoly (algorithm 30): appends to the first `filled`
/// coefficients of `f` those that `block` yields, and returns how many there are.
///
/// `block` is public, and of 56 coefficients: as long as the rate of SHAKE128. Gives 0 ≤ x < q.
pub(crate) struct RejectUniform<'a> {
    pub(crate) block: &'a [u8; 168],
    pub(crate) f: &'a mut [i32; 256],
    pub(crate) filled: usize,
}

impl<B: Backend> Kernel<B> for RejectUniform<'_> {
    type Output = usize;

    #[inline(always)]
    fn run(self, b: B) -> usize {
        let Self { block, f, filled } = self;
        // CoeffFromThreeBytes (algorithm 14); it refuses one in a thousand.
        let filled = b.append_23_bits_below(block, Q8380417::Q as u32, f, filled);
        debug_assert!(f[..filled].iter().all(|x| (0..Q8380417::Q).contains(x)));
        filled
    }
}

/// One block of RejBoundedPoly (algorithm 31): appends to the first `filled` half-bytes in
/// `eta_less_s`, less than 256, those of `block` that are not refused, and returns how many there
/// are. When there are 256, makes them η − s for the coefficients s that they stand for.
///
/// Gives |s| ≤ η, η = 2 or 4. Which half-bytes are refused is public, as
/// [`append_below`](Backend::append_below) has it: the half-bytes of the hash output are
/// independent, so that where the refused ones were says nothing about the values of the
/// others, and the order of these is all that **s**₁ and **s**₂ take from them. The accepted
/// values don't show.
pub(crate) struct RejectBounded<'a, const ETA: i32> {
    pub(crate) block: &'a [u8; 136],
    pub(crate) eta_less_s: &'a mut [u8; 256],
    pub(crate) filled: usize,
}

impl<B: Backend, const ETA: i32> Kernel<B> for RejectBounded<'_, ETA> {
    type Output = usize;

    #[inline(always)]
    fn run(self, b: B) -> usize {
        let Self {
            block,
            eta_less_s,
            filled,
        } = self;
        let filled = b.append_4_bits_below(block, refused_from::<ETA>(), eta_less_s, filled);
        if filled == 256 {
            for x in eta_less_s.iter_mut() {
                *x = eta_less_coefficient::<ETA>(*x);
            }
            debug_assert!(eta_less_s.iter().all(|x| i32::from(*x) <= 2 * ETA));
        }
        filled
    }
}

/// The least half-byte that CoeffFromHalfByte (algorithm 15) refuses.
#[inline(always)]
fn refused_from<const ETA: i32>() -> u32 {
    const {
        assert!(ETA == 2 || ETA == 4);
    }
    if ETA == 2 { 15 } else { 9 }
}

/// η less CoeffFromHalfByte (algorithm 15) of a half-byte that is not refused.
#[inline(always)]
fn eta_less_coefficient<const ETA: i32>(half: u8) -> u8 {
    if ETA == 2 {
        // half mod 5, by division as multiplication
        half - 5 * ((half * 13/* ceil(2^6 / 5) */) >> 6)
    } else {
        half
    }
}

#[cfg(test)]
mod tests {
    use super::{RejectBounded, RejectUniform, eta_less_coefficient, refused_from};
    use crate::arch::{Backend, on_each_backend};
    use crate::test_random::Random;

    /// Algorithm 14.
    fn textbook_three_bytes(b: &[u8]) -> Option<i32> {
        let b2 = if b[2] > 127 { b[2] - 128 } else { b[2] };
        let z = 65536 * i32::from(b2) + 256 * i32::from(b[1]) + i32::from(b[0]);
        (z < 8_380_417).then_some(z)
    }

    /// Algorithm 15.
    fn textbook_half_byte(eta: i32, b: u8) -> Option<i32> {
        match (eta, i32::from(b)) {
            (2, b) if b < 15 => Some(2 - b % 5),
            (4, b) if b < 9 => Some(4 - b),
            _ => None,
        }
    }

    #[test]
    fn every_half_byte() {
        fn check<const ETA: i32>() {
            for b in 0..16 {
                let accepted = u32::from(b) < refused_from::<ETA>();
                let value = accepted.then(|| ETA - i32::from(eta_less_coefficient::<ETA>(b)));
                assert_eq!(value, textbook_half_byte(ETA, b));
            }
        }

        check::<2>();
        check::<4>();
    }

    #[test]
    fn uniform_rejection_matches_textbook() {
        fn check<B: Backend>(b: B, seed: u64) {
            let mut bytes: [u8; 6 * 168] = Random::new(seed).bytes();
            // coefficients about q, so that many are refused
            for (i, c) in bytes.chunks_exact_mut(3).enumerate().take(200) {
                if !seed.is_multiple_of(3) && i % 7 < 4 {
                    c.copy_from_slice(&[c[0] & 3, 0xe0, 0x7f | c[2]]);
                }
            }
            let mut f = [0; 256];
            let mut filled = 0;
            for block in bytes.as_chunks().0 {
                filled = b.run(RejectUniform {
                    block,
                    f: &mut f,
                    filled,
                });
            }
            let expected = bytes.chunks_exact(3).filter_map(textbook_three_bytes);
            let expected = expected.take(256);
            assert_eq!(filled, expected.clone().count());
            for (actual, expected) in f.iter().zip(expected) {
                assert_eq!(*actual, expected);
            }
        }

        for seed in 0..200 {
            on_each_backend!(b => check(b, seed));
        }
    }

    #[test]
    fn bounded_rejection_matches_textbook() {
        fn check<B: Backend, const ETA: i32>(b: B, seed: u64) {
            let bytes: [u8; 3 * 136] = Random::new(seed).bytes();
            let mut f = [0; 256];
            let mut filled = 0;
            for block in bytes.as_chunks().0 {
                if filled == 256 {
                    break;
                }
                filled = b.run(RejectBounded::<ETA> {
                    block,
                    eta_less_s: &mut f,
                    filled,
                });
            }
            let expected = bytes
                .iter()
                .flat_map(|z| [z % 16, z / 16])
                .filter_map(|half| Some(ETA - textbook_half_byte(ETA, half)?))
                .take(256);
            assert_eq!(filled, expected.clone().count());
            for (actual, expected) in f.iter().zip(expected) {
                assert_eq!(i32::from(*actual), expected);
            }
        }

        for seed in 0..200 {
            on_each_backend!(b => {
                check::<_, 2>(b, seed);
                check::<_, 4>(b, seed);
            });
        }
    }
}
