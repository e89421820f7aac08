//! Sampling from sponges (FIPS 204, section 7.3), side by side if the sponges are independent.

use core::mem;

use zeroize::Zeroize;

use super::encoding::{MAX_Z_LEN, z_len};
use super::params::ParameterSet;
use super::ring::{Matrix, Rq, Tq};
use crate::arch::Backend;
use crate::hash::lanes::{Consumer, Demand, Job, Message};
use crate::hash::sha3::{SHAKE_SUFFIX, SHAKE128_RATE, SHAKE256_RATE, Sponge};
use crate::kernel::ml_dsa::sampling::RejectUniform;
use crate::secret::{Zero, wipe};

/// A sponge whose output becomes part of a key or signature.
pub(super) type Sampling<'a, B> = Job<'a, Sampler<'a, B>>;

/// The jobs of ExpandA (algorithm 32): entry (r, s) is RejNTTPoly(ρ ‖ s ‖ r).
pub(super) fn expand_a<'a, P: ParameterSet, B: Backend>(
    b: B,
    rho: &'a [u8; 32],
    matrix: &'a mut Matrix<P>,
) -> impl Iterator<Item = Sampling<'a, B>> {
    let entries = matrix.entries_mut();
    entries.map(move |((r, s), entry)| entry_of_a(b, rho, r, s, entry))
}

/// The job that samples entry (r, s) of **Â**.
pub(super) fn entry_of_a<'a, B: Backend>(
    b: B,
    rho: &'a [u8; 32],
    r: u8,
    s: u8,
    entry: &'a mut Tq,
) -> Sampling<'a, B> {
    Job {
        rate: SHAKE128_RATE,
        suffix: SHAKE_SUFFIX,
        message: Message::indexed2(rho, [s, r]),
        consumer: Sampler::Uniform {
            b,
            f: &mut entry.0,
            filled: 0,
        },
    }
}

/// The hash output from which an element of **y** is unpacked: ExpandMask (algorithm 34) without
/// the last step.
#[derive(Clone)]
pub(super) struct Mask(pub(super) [u8; MAX_Z_LEN]);

impl Mask {
    /// Takes the next block of H(ρ″ ‖ κ + r); the first `filled` bytes were taken before.
    pub(super) fn take<P: ParameterSet>(&mut self, block: &[u8], filled: &mut usize) -> Demand {
        let rest = &mut self.0[*filled..z_len::<P>()];
        let take = block.len().min(rest.len());
        rest[..take].copy_from_slice(&block[..take]);
        *filled += take;
        Demand::more_if(*filled < z_len::<P>())
    }

    /// The last step: unpacks the element.
    pub(super) fn decode<P: ParameterSet, B: Backend>(&self, b: B, y: &mut Rq) {
        y.decode_z::<P, B>(b, &self.0[..z_len::<P>()]);
    }
}

impl Zero for Mask {
    const ZERO: Self = Self([0; MAX_Z_LEN]);
}

impl Zeroize for Mask {
    fn zeroize(&mut self) {
        wipe(&mut self.0);
    }
}

/// The job that computes H(pk), as long as `tr`.
pub(super) fn tr<'a, B: Backend>(pk: &'a [u8], tr: &'a mut [u8; 64]) -> Sampling<'a, B> {
    Job {
        rate: SHAKE256_RATE,
        suffix: SHAKE_SUFFIX,
        message: Message::alone(pk),
        consumer: Sampler::Bytes(tr),
    }
}

/// SampleInBall (algorithm 29): c with τ coefficients ±1 and all others 0.
pub(super) fn sample_in_ball<P: ParameterSet, B: Backend>(b: B, c_tilde: &[u8], c: &mut Rq) {
    let mut ball = Ball::new::<P>(c);
    let mut sponge = Sponge::new(SHAKE256_RATE);
    sponge.absorb(b, c_tilde);
    sponge.finish(SHAKE_SUFFIX);
    let mut block = [0; SHAKE256_RATE];
    let mut demand = Demand::More;
    while demand == Demand::More {
        sponge.squeeze(b, &mut block);
        demand = ball.take(&block, c);
    }
}

/// The progress of SampleInBall (algorithm 29).
///
/// Branches and indexes by c̃, in rejected attempts too; [`signing`](super::signing) explains why
/// this may be visible.
pub(super) struct Ball {
    /// The unused bits of the first 8 bytes of H(c̃), once these bytes are known.
    signs: Option<u64>,
    /// The next coefficient to be moved.
    i: usize,
}

impl Ball {
    /// 1: c ← 0
    pub(super) fn new<P: ParameterSet>(c: &mut Rq) -> Self {
        c.0.fill(0);
        Self {
            signs: None,
            i: 256 - P::TAU,
        }
    }

    /// Takes the next block of H(c̃).
    pub(super) fn take(&mut self, mut block: &[u8], c: &mut Rq) -> Demand {
        // 4-5: the first 8 bytes are the signs
        let mut signs = self.signs.unwrap_or_else(|| {
            let (signs, rest) = block.split_first_chunk().expect("a block of SHAKE256");
            block = rest;
            u64::from_le_bytes(*signs)
        });
        // 6-12
        for j in block {
            if self.i == 256 {
                break;
            }
            let j = usize::from(*j);
            if j <= self.i {
                c.0[self.i] = c.0[j];
                c.0[j] = 1 - 2 * (signs & 1) as i32;
                signs >>= 1;
                self.i += 1;
            }
        }
        self.signs = Some(signs);
        Demand::more_if(self.i < 256)
    }
}

/// What is done with the output of a sponge.
pub(super) enum Sampler<'a, B> {
    /// RejNTTPoly (algorithm 30). All its data is public.
    Uniform {
        b: B,
        f: &'a mut [i32; 256],
        filled: usize,
    },
    /// The output itself, until this slice is full.
    Bytes(&'a mut [u8]),
}

impl<B: Backend> Consumer for Sampler<'_, B> {
    fn take(&mut self, block: &[u8]) -> Demand {
        match self {
            Self::Uniform { b, f, filled } => {
                let block = block.first_chunk().expect("a block of SHAKE128");
                *filled = b.run(RejectUniform {
                    block,
                    f,
                    filled: *filled,
                });
                Demand::more_if(*filled < 256)
            }
            Self::Bytes(output) => {
                let take = block.len().min(output.len());
                let (now, later) = mem::take(output).split_at_mut(take);
                now.copy_from_slice(&block[..take]);
                *output = later;
                Demand::more_if(!output.is_empty())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use shake::digest::{ExtendableOutput, Update, XofReader};

    use super::{Ball, Mask, sample_in_ball};
    use crate::arch::Portable;
    use crate::hash::lanes::Demand;
    use crate::hash::sha3::SHAKE256_RATE;
    use crate::ml_dsa::ring::Rq;
    use crate::ml_dsa::{MlDsa44, MlDsa65, MlDsa87, ParameterSet};
    use crate::secret::Zero;
    use crate::test_random::Random;

    fn h(parts: &[&[u8]]) -> impl XofReader + use<> {
        let mut hash = shake::Shake256::default();
        for part in parts {
            hash.update(part);
        }
        hash.finalize_xof()
    }

    /// Algorithm 29 as written, on the bytes of hash output that `next` returns.
    fn textbook_ball<P: ParameterSet>(mut next: impl FnMut() -> u8) -> [i32; 256] {
        let s: [u8; 8] = core::array::from_fn(|_| next());
        let bit = |i: usize| s[i / 8] >> (i % 8) & 1;
        let mut c = [0; 256];
        for i in 256 - P::TAU..256 {
            let mut j = usize::from(next());
            while j > i {
                j = usize::from(next());
            }
            c[i] = c[j];
            c[j] = if bit(i + P::TAU - 256) == 1 { -1 } else { 1 };
        }
        c
    }

    #[test]
    fn sample_in_ball_matches_textbook() {
        fn check<P: ParameterSet>(seed: u8) {
            let c_tilde = &[seed; 64][..P::LAMBDA / 4];
            let mut ctx = h(&[c_tilde]);
            let expected = textbook_ball::<P>(|| {
                let mut byte = [0];
                ctx.read(&mut byte);
                byte[0]
            });
            let mut c = Rq([5; 256]);
            sample_in_ball::<P, _>(Portable, c_tilde, &mut c);
            assert_eq!(c.0, expected);
            assert_eq!(c.0.iter().filter(|x| **x != 0).count(), P::TAU);
        }

        for seed in 0..100 {
            check::<MlDsa44>(seed);
            check::<MlDsa65>(seed);
            check::<MlDsa87>(seed);
        }
    }

    /// No c̃ is known whose hash needs a second block: so in these outputs most indices are too
    /// large.
    #[test]
    fn balls_of_several_blocks() {
        fn check<P: ParameterSet>(random: &mut Random) {
            let output: [u8; 20 * SHAKE256_RATE] = core::array::from_fn(|i| {
                let byte = random.below(256) as u8;
                let kept = i < 8 || random.below(6) == 0;
                if kept { byte } else { 255 }
            });
            let mut bytes = output.iter();
            let expected = textbook_ball::<P>(|| *bytes.next().unwrap());
            let read = output.len() - bytes.len();

            let mut c = Rq([5; 256]);
            let mut ball = Ball::new::<P>(&mut c);
            let mut blocks = output.chunks(SHAKE256_RATE);
            while ball.take(blocks.next().unwrap(), &mut c) == Demand::More {}
            assert_eq!(c.0, expected);
            let taken = 20 - blocks.len();
            assert_eq!(taken, read.div_ceil(SHAKE256_RATE));
            assert!(taken > 1);
        }

        let mut random = Random::new(1);
        for _ in 0..100 {
            check::<MlDsa44>(&mut random);
            check::<MlDsa65>(&mut random);
            check::<MlDsa87>(&mut random);
        }
    }

    /// Algorithm 34 as written, bit by bit.
    #[test]
    fn expand_mask_matches_textbook() {
        fn check<P: ParameterSet>(seed: u8) {
            let c = 1 + P::GAMMA1.ilog2() as usize;
            let mut hash = h(&[&[seed; 66]]);
            let mut v = [0; 5 * SHAKE256_RATE];
            hash.read(&mut v);
            let (mut mask, mut filled) = (Mask::ZERO, 0);
            let mut blocks = v.chunks(SHAKE256_RATE);
            while mask.take::<P>(blocks.next().unwrap(), &mut filled) == Demand::More {}
            assert_eq!(filled, 32 * c);
            let mut y = Rq::ZERO;
            mask.decode::<P, _>(Portable, &mut y);
            for (i, x) in y.0.iter().enumerate() {
                let bit = |j: usize| i32::from(v[(i * c + j) / 8] >> ((i * c + j) % 8) & 1);
                let value: i32 = (0..c).map(|j| bit(j) << j).sum();
                assert_eq!(*x, P::GAMMA1 - value);
            }
        }

        for seed in 0..40 {
            check::<MlDsa44>(seed);
            check::<MlDsa65>(seed);
            check::<MlDsa87>(seed);
        }
    }
}
