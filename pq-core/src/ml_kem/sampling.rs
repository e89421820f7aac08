//! The sponges that operations sample from (FIPS 203, sections 4.1 and 4.2.2), and how their output is
//! used.
//!
//! An operation is a [`Client`](crate::hash::lanes::Client) of the lanes: it knows which of its sponges
//! can begin.

use zeroize::Zeroizing;

use super::params::{ETA2, ParameterSet};
use super::ring::{Matrix, Rq, VectorR};
use crate::arch::Backend;
use crate::dimension::Dimension;
use crate::hash::lanes::{Absorbed, Demand, read};
use crate::hash::sha3::{Function, SHA3_256, SHA3_512, SHAKE128, SHAKE256};
use crate::kernel::ml_kem::sampling::{CentredBinomial, RejectUniform};
use crate::secret::Zero;

/// G of section 4.1: two values of 32 bytes.
pub(super) const G: Function = SHA3_512;
/// H of section 4.1.
pub(super) const H: Function = SHA3_256;
/// J of section 4.1.
pub(super) const J: Function = SHAKE256;
/// XOF of section 4.1, from which SampleNTT takes its bytes.
pub(super) const XOF: Function = SHAKE128;
/// PRF of section 4.1, from which SamplePolyCBD takes its bytes.
pub(super) const PRF: Function = SHAKE256;

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

/// How many permutations H(ek) takes, one after the other.
pub(super) const fn h_blocks<P: ParameterSet>() -> usize {
    P::ENCAPSULATION_KEY_LEN / H.rate + 1
}

/// How many blocks an entry of **Â** takes, except for one entry in a hundred, which takes more.
pub(super) const ENTRY_BLOCKS: usize = 3;

/// SampleNTT(ρ ‖ j ‖ i) (algorithm 7), which makes entry (i, j) of **Â**. All its data is public.
pub(super) struct SampleNtt {
    i: u8,
    j: u8,
    /// How many coefficients are sampled.
    filled: usize,
}

impl SampleNtt {
    /// That of the n'th entry, by rows, or `None` after the last.
    pub(super) fn nth<P: ParameterSet>(n: usize) -> Option<Self> {
        let k = P::K::N;
        (n < k * k).then(|| Self {
            i: (n / k) as u8,
            j: (n % k) as u8,
            filled: 0,
        })
    }

    /// The row of its entry.
    pub(super) fn row(&self) -> usize {
        usize::from(self.i)
    }

    pub(super) fn absorb(&self, rho: &[u8; 32], block: &mut [u8]) -> Absorbed {
        block[..32].copy_from_slice(rho);
        block[32..34].copy_from_slice(&[self.j, self.i]);
        Absorbed::End(34)
    }

    pub(super) fn take<P: ParameterSet, B: Backend>(
        &mut self,
        b: B,
        block: &[u8],
        matrix: &mut Matrix<P>,
    ) -> Demand {
        let block = block
            .first_chunk()
            .expect("blocks are as long as the rate of SHAKE128");
        let entry = matrix.entry_mut(usize::from(self.i), usize::from(self.j));
        self.filled = b.run(RejectUniform {
            block,
            f: &mut entry.0,
            filled: self.filled,
        });
        Demand::more_if(self.filled < 256)
    }
}

/// SamplePolyCBD_η of PRF_η(s, n) (algorithm 8): its 128 bytes are in the first block, or its 192
/// bytes in the first two.
///
/// With η = 3, the last byte of the first block belongs to a coefficient that ends in the second.
/// Until then the byte is kept in that coefficient's place, since a sponge is not wiped.
pub(super) struct SamplePolyCbd {
    n: u8,
    /// With η = 3, whether the first block was taken.
    begun: bool,
}

impl SamplePolyCbd {
    pub(super) fn new(n: usize) -> Self {
        Self {
            n: n as u8,
            begun: false,
        }
    }

    pub(super) fn n(&self) -> usize {
        usize::from(self.n)
    }

    /// s ‖ n
    pub(super) fn absorb(&self, s: &[u8; 32], block: &mut [u8]) -> Absorbed {
        block[..32].copy_from_slice(s);
        block[32] = self.n;
        Absorbed::End(33)
    }

    pub(super) fn take<B: Backend>(
        &mut self,
        b: B,
        block: &[u8],
        eta: usize,
        Rq(f): &mut Rq,
    ) -> Demand {
        if eta == 2 {
            let bytes = &block[..128];
            b.run(CentredBinomial::<2> { bytes, f });
            return Demand::Done;
        }
        // Three bytes make four coefficients: the 136 bytes are 45 · 3 + 1, and the last one with 56
        // more makes 19 · 3.
        let (start, end) = f.split_at_mut(4 * 45);
        if !self.begun {
            self.begun = true;
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
    pub(super) fn sponge(n: usize) -> Option<SamplePolyCbd> {
        (n <= 2 * P::K::N).then(|| SamplePolyCbd::new(n))
    }

    /// The next block of the output of a sponge.
    pub(super) fn take<B: Backend>(
        &mut self,
        b: B,
        sponge: &mut SamplePolyCbd,
        block: &[u8],
    ) -> Demand {
        let (n, k) = (sponge.n(), P::K::N);
        let (f, eta) = if n < k {
            (&mut self.y[n], P::ETA1)
        } else if n < 2 * k {
            (&mut self.e1[n - k], ETA2)
        } else {
            (&mut *self.e2, ETA2)
        };
        sponge.take(b, block, eta, f)
    }
}

/// The output of G: two values of 32 bytes. Wiped when dropped.
pub(super) struct Halves(Zeroizing<[u8; 64]>);

impl Halves {
    /// Zeros, to be written over.
    pub(super) fn zero() -> Self {
        Self(Zeroizing::new([0; 64]))
    }

    /// Takes the output.
    pub(super) fn take(&mut self, block: &[u8]) -> Demand {
        self.0.copy_from_slice(&block[..64]);
        Demand::Done
    }

    pub(super) fn both(&self) -> [&[u8; 32]; 2] {
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
