//! The sponges that operations sample from, and how their output is used.
//!
//! An operation is a [`Client`](crate::hash::lanes::Client) of the lanes: it knows which of its
//! [`Sponge`]s can begin.

use zeroize::Zeroizing;

use super::params::{ETA2, ParameterSet};
use super::ring::{Rq, Tq, VectorR};
use crate::arch::Backend;
use crate::dimension::Dimension;
use crate::hash::lanes::{Absorbed, Demand, Start, read};
use crate::hash::sha3::{SHA3_512_RATE, SHA3_SUFFIX, SHAKE_SUFFIX, SHAKE128_RATE, SHAKE256_RATE};
use crate::kernel::ml_kem::sampling::{CentredBinomial, RejectUniform};
use crate::secret::Zero;

/// A sponge, named by its output, and its progress.
pub(super) enum Sponge {
    /// G(·), two values of 32 bytes.
    G,
    /// H(ek).
    H { absorbed: usize },
    /// J(z ‖ c).
    J { absorbed: usize },
    /// SampleNTT of entry (i, j) of **Â**. All its data is public.
    Entry { i: u8, j: u8, filled: usize },
    /// SamplePolyCBD of PRF(·, n).
    Noise {
        n: u8,
        /// With η = 3, whether the first block was taken.
        begun: bool,
    },
}

impl Sponge {
    /// Begins the sponge, or continues it.
    pub(super) fn start(self) -> Start<Self> {
        let (rate, suffix) = match self {
            Self::G => (SHA3_512_RATE, SHA3_SUFFIX),
            Self::H { .. } => (SHAKE256_RATE, SHA3_SUFFIX),
            Self::J { .. } | Self::Noise { .. } => (SHAKE256_RATE, SHAKE_SUFFIX),
            Self::Entry { .. } => (SHAKE128_RATE, SHAKE_SUFFIX),
        };
        Start {
            rate,
            suffix,
            sponge: self,
        }
    }
}

/// How many blocks an entry of **Â** takes, except for one entry in a hundred, which takes more.
pub(super) const ENTRY_BLOCKS: usize = 3;

/// The sponge of the n'th entry of **Â**, by rows, or `None` after the last.
pub(super) fn entry<P: ParameterSet>(n: usize) -> Option<Sponge> {
    let k = P::K::N;
    (n < k * k).then(|| Sponge::Entry {
        i: (n / k) as u8,
        j: (n % k) as u8,
        filled: 0,
    })
}

/// Writes `parts`, joined, to `block`, where the message ends.
pub(super) fn absorb_all<const N: usize>(parts: [&[u8]; N], block: &mut [u8]) -> Absorbed {
    Absorbed::some(read(parts, 0, block), block)
}

/// Writes the bytes that follow the first `absorbed` bytes of `parts`, joined, to `block`.
pub(super) fn absorb_next<const N: usize>(
    parts: [&[u8]; N],
    absorbed: &mut usize,
    block: &mut [u8],
) -> Absorbed {
    let taken = read(parts, *absorbed, block);
    *absorbed += taken;
    Absorbed::some(taken, block)
}

/// ρ ‖ j ‖ i, the message of entry (i, j).
pub(super) fn absorb_entry(rho: &[u8; 32], i: u8, j: u8, block: &mut [u8]) -> Absorbed {
    block[..32].copy_from_slice(rho);
    block[32..34].copy_from_slice(&[j, i]);
    Absorbed::End(34)
}

/// s ‖ n, the message of noise n with the seed s.
pub(super) fn absorb_noise(seed: &[u8; 32], n: u8, block: &mut [u8]) -> Absorbed {
    block[..32].copy_from_slice(seed);
    block[32] = n;
    Absorbed::End(33)
}

/// The next block of SampleNTT (algorithm 7).
pub(super) fn take_entry<B: Backend>(
    b: B,
    block: &[u8],
    entry: &mut Tq,
    filled: &mut usize,
) -> Demand {
    let block = block
        .first_chunk()
        .expect("blocks are as long as the rate of SHAKE128");
    *filled = b.run(RejectUniform {
        block,
        f: &mut entry.0,
        filled: *filled,
    });
    Demand::more_if(*filled < 256)
}

/// The next block of SamplePolyCBD_η (algorithm 8): its 128 bytes are in the first block, or its
/// 192 bytes in the first two.
///
/// With η = 3, the last byte of the first block belongs to a coefficient that ends in the second.
/// Until then the byte is kept in that coefficient's place, since a `Sponge` is not wiped.
pub(super) fn take_noise<B: Backend>(
    b: B,
    block: &[u8],
    eta: usize,
    Rq(f): &mut Rq,
    begun: &mut bool,
) -> Demand {
    if eta == 2 {
        let bytes = &block[..128];
        b.run(CentredBinomial::<2> { bytes, f });
        return Demand::Done;
    }
    // Three bytes make four coefficients: the 136 bytes are 45 · 3 + 1, and the last one with 56
    // more makes 19 · 3.
    let (start, end) = f.split_at_mut(4 * 45);
    if !*begun {
        *begun = true;
        let bytes = &block[..3 * 45];
        b.run(CentredBinomial::<3> { bytes, f: start });
        end[0] = i16::from(block[3 * 45]);
        return Demand::More;
    }
    let mut bytes = Zeroizing::new([0; 3 * 19]);
    bytes[0] = end[0] as u8;
    bytes[1..].copy_from_slice(&block[..3 * 19 - 1]);
    b.run(CentredBinomial::<3> {
        bytes: &*bytes,
        f: end,
    });
    Demand::Done
}

/// The noise of an encryption: **y**, **e**₁ and e₂. Wiped when dropped.
pub(super) struct Noise<P: ParameterSet> {
    pub(super) y: VectorR<P>,
    pub(super) e1: VectorR<P>,
    pub(super) e2: Zeroizing<Rq>,
}

impl<P: ParameterSet> Noise<P> {
    /// Puts something everywhere.
    #[cfg(test)]
    pub(super) fn fill_for_tests(&mut self) {
        let Self { y, e1, e2 } = self;
        for f in y.iter_mut().chain(&mut **e1).chain([&mut **e2]) {
            f.0 = [7; 256];
        }
    }

    /// All zero, to be written over.
    pub(super) fn zero() -> Self {
        Self {
            y: VectorR::<P>::zero(),
            e1: VectorR::<P>::zero(),
            e2: Zeroizing::new(Rq::ZERO),
        }
    }

    /// The n'th sponge, or `None` after the last.
    pub(super) fn sponge(n: usize) -> Option<Sponge> {
        let n = n as u8;
        (usize::from(n) <= 2 * P::K::N).then_some(Sponge::Noise { n, begun: false })
    }

    /// The next block of the output of the n'th sponge.
    pub(super) fn take<B: Backend>(
        &mut self,
        b: B,
        block: &[u8],
        n: u8,
        begun: &mut bool,
    ) -> Demand {
        let (n, k) = (usize::from(n), P::K::N);
        let (f, eta) = if n < k {
            (&mut self.y[n], P::ETA1)
        } else if n < 2 * k {
            (&mut self.e1[n - k], ETA2)
        } else {
            (&mut *self.e2, ETA2)
        };
        take_noise(b, block, eta, f, begun)
    }
}

/// G(·), which gives two values of 32 bytes. Wiped when dropped.
pub(super) struct G(Zeroizing<[u8; 64]>);

impl G {
    /// Zeros, to be written over.
    pub(super) fn zero() -> Self {
        Self(Zeroizing::new([0; 64]))
    }

    /// Takes the output.
    pub(super) fn take(&mut self, block: &[u8]) -> Demand {
        self.0.copy_from_slice(&block[..64]);
        Demand::Done
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
