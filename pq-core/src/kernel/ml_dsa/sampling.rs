//! Sampling from hash output (FIPS 204, algorithms 30 and 31).

use crate::arch::{Backend, Kernel};
use crate::kernel::ntt::{Q8380417, Ring};

/// One block of RejNTTPoly (algorithm 30): appends to the first `filled`
/// coefficients of `f` those that `block` yields, and returns how many there are.
///
/// `block` is public and has a multiple of 3 bytes. Gives 0 ≤ x < q.
pub(crate) struct RejectUniform<'a> {
    pub(crate) block: &'a [u8],
    pub(crate) f: &'a mut [i32; 256],
    pub(crate) filled: usize,
}

impl<B: Backend> Kernel<B> for RejectUniform<'_> {
    type Output = usize;

    #[inline(always)]
    fn run(self, _: B) -> usize {
        let Self {
            block,
            f,
            mut filled,
        } = self;
        debug_assert_eq!(block.len() % 3, 0);
        for [b0, b1, b2] in block.as_chunks().0 {
            let Some(x) = f.get_mut(filled) else { break };
            // CoeffFromThreeBytes (algorithm 14); a coefficient that is not accepted
            // is overwritten by the next
            *x = i32::from_le_bytes([*b0, *b1, *b2 & 0x7f, 0]);
            filled += usize::from(*x < Q8380417::Q);
        }
        debug_assert!(f[..filled].iter().all(|x| (0..Q8380417::Q).contains(x)));
        filled
    }
}

/// One block of RejBoundedPoly (algorithm 31): appends to the first `filled`
/// coefficients of `f` those that `block` yields, and returns how many there are.
///
/// Gives |x| ≤ η, η = 2 or 4. How many half-bytes are refused shows in the time taken,
/// which says nothing about those accepted, since they are independent. The values of
/// these don't show.
pub(crate) struct RejectBounded<'a, const ETA: i32> {
    pub(crate) block: &'a [u8],
    pub(crate) f: &'a mut [i32; 256],
    pub(crate) filled: usize,
}

impl<B: Backend, const ETA: i32> Kernel<B> for RejectBounded<'_, ETA> {
    type Output = usize;

    #[inline(always)]
    fn run(self, _: B) -> usize {
        let Self {
            block,
            f,
            mut filled,
        } = self;
        'block: for byte in block {
            for half in [i32::from(*byte & 0x0f), i32::from(*byte >> 4)] {
                let Some(x) = f.get_mut(filled) else {
                    break 'block;
                };
                let (value, accepted) = coefficient_from_half_byte::<ETA>(half);
                *x = value;
                filled += accepted;
            }
        }
        debug_assert!(f[..filled].iter().all(|x| x.abs() <= ETA));
        filled
    }
}

/// CoeffFromHalfByte (algorithm 15): the coefficient, and 1 if there is one, else 0.
#[inline(always)]
fn coefficient_from_half_byte<const ETA: i32>(half: i32) -> (i32, usize) {
    const {
        assert!(ETA == 2 || ETA == 4);
    }
    // A comparison by its sign bit, so that no compiler makes it a branch.
    let below = |limit: i32| ((half - limit) as u32 >> 31) as usize;
    if ETA == 2 {
        // half mod 5, by division as multiplication
        let remainder = half - 5 * ((half * 205/* ceil(2^10 / 5) */) >> 10);
        (2 - remainder, below(15))
    } else {
        (4 - half, below(9))
    }
}

#[cfg(test)]
mod tests {
    use super::{RejectBounded, RejectUniform, coefficient_from_half_byte};
    use crate::arch::wide::Wide;
    use crate::arch::{Backend, Portable};
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
        for b in 0..16 {
            let (value, accepted) = coefficient_from_half_byte::<2>(i32::from(b));
            assert_eq!((accepted == 1).then_some(value), textbook_half_byte(2, b));
            let (value, accepted) = coefficient_from_half_byte::<4>(i32::from(b));
            assert_eq!((accepted == 1).then_some(value), textbook_half_byte(4, b));
        }
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
            for block in bytes.chunks_exact(168) {
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
            check(Portable, seed);
            check(Wide, seed);
        }
    }

    #[test]
    fn bounded_rejection_matches_textbook() {
        fn check<B: Backend, const ETA: i32>(b: B, seed: u64) {
            let bytes: [u8; 3 * 136] = Random::new(seed).bytes();
            let mut f = [0; 256];
            let mut filled = 0;
            for block in bytes.chunks_exact(136) {
                filled = b.run(RejectBounded::<ETA> {
                    block,
                    f: &mut f,
                    filled,
                });
            }
            let expected = bytes
                .iter()
                .flat_map(|z| [z % 16, z / 16])
                .filter_map(|half| textbook_half_byte(ETA, half))
                .take(256);
            assert_eq!(filled, expected.clone().count());
            for (actual, expected) in f.iter().zip(expected) {
                assert_eq!(*actual, expected);
            }
        }

        for seed in 0..200 {
            check::<_, 2>(Portable, seed);
            check::<_, 4>(Portable, seed);
            check::<_, 2>(Wide, seed);
            check::<_, 4>(Wide, seed);
        }
    }
}
