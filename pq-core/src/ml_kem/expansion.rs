//! H(ek) and **Â**: what encapsulation and reading an expanded key both need, side by side.

use super::keys::rho;
use super::params::ParameterSet;
use super::ring::Matrix;
use super::sampling::{self, ENTRY_BLOCKS, H, SampleNtt, XOF};
use crate::arch::Backend;
use crate::dimension::Dimension;
use crate::hash::lanes::{Absorbed, Client, Demand, Midway, Start, lanes_beside};
use crate::hash::sha3::SHAKE256_RATE;

/// The sponges of H(ek) and **Â**.
pub(super) struct Expansion<'a, P: ParameterSet, B> {
    b: B,
    ek: &'a [u8],
    h: &'a mut [u8; 32],
    matrix: &'a mut Matrix<P>,
    h_begun: bool,
    /// How many permutations of H(ek) are left.
    h_left: usize,
    entries_begun: usize,
}

pub(super) enum Sponge {
    /// H(ek)
    H { absorbed: usize },
    /// An entry of **Â**.
    Entry(SampleNtt),
}

impl<'a, P: ParameterSet, B> Expansion<'a, P, B> {
    /// Writes over `h` and `matrix`.
    pub(super) fn new(b: B, ek: &'a [u8], h: &'a mut [u8; 32], matrix: &'a mut Matrix<P>) -> Self {
        Self {
            b,
            ek,
            h,
            matrix,
            h_begun: false,
            h_left: ek.len() / SHAKE256_RATE + 1,
            entries_begun: 0,
        }
    }

    /// H(ek), once it is known.
    #[inline(always)]
    pub(super) fn h(&self) -> Option<&[u8; 32]> {
        (self.h_left == 0).then_some(&*self.h)
    }
}

impl<P: ParameterSet, B: Backend> Client for Expansion<'_, P, B> {
    type Sponge = Sponge;

    #[inline(always)]
    fn next(&mut self, _: &mut Option<Midway>) -> Option<Start<Sponge>> {
        // H(ek) is the longest chain, so it starts first, and Â is sampled beside it.
        if !self.h_begun {
            self.h_begun = true;
            return Some(Start::of(H, Sponge::H { absorbed: 0 }));
        }
        let entry = SampleNtt::nth::<P>(self.entries_begun)?;
        self.entries_begun += 1;
        Some(Start::of(XOF, Sponge::Entry(entry)))
    }

    fn absorb(&mut self, sponge: &mut Sponge, block: &mut [u8]) -> Absorbed {
        match sponge {
            Sponge::H { absorbed } => {
                self.h_left -= usize::from(*absorbed > 0);
                sampling::absorb_next([self.ek], absorbed, block)
            }
            Sponge::Entry(entry) => entry.absorb(rho(self.ek), block),
        }
    }

    fn take(&mut self, sponge: &mut Sponge, block: &[u8]) -> Demand {
        match sponge {
            Sponge::H { .. } => {
                self.h.copy_from_slice(&block[..32]);
                self.h_left = 0;
                Demand::Done
            }
            Sponge::Entry(entry) => entry.take(self.b, block, self.matrix),
        }
    }

    #[inline(always)]
    fn lanes(&self) -> usize {
        let entries_left = P::K::N * P::K::N - self.entries_begun;
        lanes_beside(self.b, self.h_left, entries_left, ENTRY_BLOCKS)
    }
}
