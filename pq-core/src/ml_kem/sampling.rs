//! Everything that is sampled from sponges, side by side where the sponges are
//! independent.

use zeroize::Zeroizing;

use super::params::ParameterSet;
use super::ring::{Matrix, Rq};
use crate::arch::Backend;
use crate::hash::lanes::{Consumer, Demand, Job, Message};
use crate::hash::sha3::{SHA3_SUFFIX, SHAKE_SUFFIX, SHAKE128_RATE, SHAKE256_RATE, sha3_512};
use crate::kernel::ml_kem::sampling::{CentredBinomial, RejectUniform};

/// A sponge whose output becomes part of a key or ciphertext.
pub(super) type Sampling<'a, B> = Job<'a, Sampler<'a, B>>;

/// G(·), which gives two values of 32 bytes. Wiped when dropped.
pub(super) struct G(Zeroizing<[u8; 64]>);

impl G {
    /// G of the concatenation of `parts`.
    pub(super) fn new<B: Backend>(b: B, parts: &[&[u8]]) -> Self {
        let mut g = Self(Zeroizing::new([0; 64]));
        sha3_512(b, parts, &mut g.0);
        g
    }

    pub(super) fn halves(&self) -> [&[u8; 32]; 2] {
        halves(&self.0)
    }
}

/// Two values of 32 bytes that are stored together.
pub(super) fn halves(bytes: &[u8; 64]) -> [&[u8; 32]; 2] {
    [
        bytes.first_chunk().expect("64 bytes begin with 32"),
        bytes.last_chunk().expect("64 bytes end with 32"),
    ]
}

/// The jobs that sample **Â** from ρ: entry (i, j) is SampleNTT(ρ ‖ j ‖ i).
pub(super) fn matrix<'a, P: ParameterSet, B: Backend>(
    b: B,
    rho: &'a [u8; 32],
    matrix: &'a mut Matrix<P>,
) -> impl Iterator<Item = Sampling<'a, B>> {
    let entries = matrix.entries_mut();
    entries.map(move |((i, j), entry)| Job {
        rate: SHAKE128_RATE,
        suffix: SHAKE_SUFFIX,
        message: Message::indexed2(rho, [j, i]),
        consumer: Sampler::Uniform {
            b,
            f: &mut entry.0,
            filled: 0,
        },
    })
}

/// The job that samples `f` from SamplePolyCBD_η(PRF_η(seed, n)).
pub(super) fn noise<'a, B: Backend>(
    b: B,
    seed: &'a [u8; 32],
    n: u8,
    eta: usize,
    f: &'a mut Rq,
) -> Sampling<'a, B> {
    Job {
        rate: SHAKE256_RATE,
        suffix: SHAKE_SUFFIX,
        message: Message::indexed(seed, n),
        consumer: match eta {
            2 => Sampler::Noise2 { b, f: &mut f.0 },
            _ => Sampler::Noise3 {
                b,
                f: &mut f.0,
                last: None,
            },
        },
    }
}

/// The job that computes H(bytes).
pub(super) fn h<'a, B: Backend>(bytes: &'a [u8], output: &'a mut [u8; 32]) -> Sampling<'a, B> {
    Job {
        rate: SHAKE256_RATE,
        suffix: SHA3_SUFFIX,
        message: Message::joined(bytes, &[]),
        consumer: Sampler::Hash(output),
    }
}

/// The job that computes J(z ‖ c).
pub(super) fn j<'a, B: Backend>(
    z: &'a [u8; 32],
    c: &'a [u8],
    output: &'a mut [u8; 32],
) -> Sampling<'a, B> {
    Job {
        rate: SHAKE256_RATE,
        suffix: SHAKE_SUFFIX,
        message: Message::joined(z, c),
        consumer: Sampler::Hash(output),
    }
}

/// What becomes of the output.
pub(super) enum Sampler<'a, B> {
    /// SampleNTT, by rejection. Everything here is public.
    Uniform {
        b: B,
        f: &'a mut [i16; 256],
        filled: usize,
    },
    /// SamplePolyCBD₂ of 128 bytes, which are in the first block.
    Noise2 { b: B, f: &'a mut [i16; 256] },
    /// SamplePolyCBD₃ of 192 bytes, which are in the first two blocks.
    Noise3 {
        b: B,
        f: &'a mut [i16; 256],
        /// The last byte of the first block, of which the coefficient begins there.
        last: Option<u8>,
    },
    /// 32 bytes of hash.
    Hash(&'a mut [u8; 32]),
}

impl<B: Backend> Consumer for Sampler<'_, B> {
    fn take(&mut self, block: &[u8]) -> Demand {
        match self {
            Self::Uniform { b, f, filled } => {
                let block = block
                    .first_chunk()
                    .expect("blocks are as long as the rate of SHAKE128");
                *filled = b.run(RejectUniform {
                    block,
                    f,
                    filled: *filled,
                });
                Demand::more_if(*filled < 256)
            }
            Self::Noise2 { b, f } => {
                let bytes = &block[..128];
                b.run(CentredBinomial::<2> { bytes, f: *f });
                Demand::Done
            }
            Self::Noise3 { b, f, last } => {
                // Three bytes make four coefficients: 136 = 45 · 3 + 1, and with that
                // one and 56 more there are 19 · 3.
                let (start, end) = f.split_at_mut(4 * 45);
                let Some(first) = last.take() else {
                    let bytes = &block[..3 * 45];
                    b.run(CentredBinomial::<3> { bytes, f: start });
                    *last = Some(block[3 * 45]);
                    return Demand::More;
                };
                let mut bytes = Zeroizing::new([0; 3 * 19]);
                bytes[0] = first;
                bytes[1..].copy_from_slice(&block[..3 * 19 - 1]);
                b.run(CentredBinomial::<3> {
                    bytes: &*bytes,
                    f: end,
                });
                Demand::Done
            }
            Self::Hash(output) => {
                output.copy_from_slice(&block[..32]);
                Demand::Done
            }
        }
    }
}
