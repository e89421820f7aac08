//! ML-KEM.Encaps_internal (FIPS 203, algorithm 17), and the part that reading an expanded key
//! shares with it.

use super::keys::{EncapsulationKey, rho};
use super::params::ParameterSet;
use super::ring::{Matrix, Tq};
use super::sampling::{self, ENTRY_BLOCKS, G, Noise, Sponge};
use super::{SHARED_SECRET_LEN, k_pke};
use crate::arch::Backend;
use crate::dimension::Dimension;
use crate::hash::lanes::{self, Absorbed, Client, Demand, Midway, Start, lanes_beside};
use crate::hash::sha3::SHAKE256_RATE;
use crate::secret::copy;

/// ML-KEM.Encaps_internal; writes over `c`, which has the right length, and `secret`.
pub(super) fn encaps<P: ParameterSet, B: Backend>(
    b: B,
    ek: &EncapsulationKey<P>,
    m: &[u8; 32],
    c: &mut [u8],
    secret: &mut [u8; SHARED_SECRET_LEN],
) {
    let mut space = Space::<P>::zero();
    let mut client = Encapsulation::new(b, ek.as_bytes(), m, &mut space);
    lanes::serve(b, &mut client);
    space.finish(b, ek.t_hat.as_ref(), m, c, secret);
}

/// What an encapsulation computes in lanes. Its secret parts are wiped when dropped.
pub(super) struct Space<P: ParameterSet> {
    h: [u8; 32],
    matrix: Matrix<P>,
    g: G,
    noise: Noise<P>,
}

impl<P: ParameterSet> Space<P> {
    /// All zero, to be written over.
    pub(super) fn zero() -> Self {
        Self {
            h: [0; 32],
            matrix: Matrix::zero(),
            g: G::zero(),
            noise: Noise::zero(),
        }
    }

    /// The steps after the lanes are done with an [`Encapsulation`]: writes over `c` and `secret`.
    pub(super) fn finish<B: Backend>(
        &mut self,
        b: B,
        t_hat: &[Tq],
        m: &[u8; 32],
        c: &mut [u8],
        secret: &mut [u8; SHARED_SECRET_LEN],
    ) {
        let [k, _] = self.g.halves();
        // 2: c ← K-PKE.Encrypt(ek, m, r)
        let (matrix, noise) = (&self.matrix, &mut self.noise);
        k_pke::encrypt(b, matrix, t_hat, m, noise, |f, d, range| {
            f.compress_encode(b, d, &mut c[range]);
        });
        copy(secret, k);
    }
}

/// The sponges of an encapsulation.
pub(super) struct Encapsulation<'a, P: ParameterSet, B> {
    b: B,
    m: &'a [u8; 32],
    expansion: Expansion<'a, P, B>,
    g: &'a mut G,
    g_begun: bool,
    g_done: bool,
    noise: &'a mut Noise<P>,
    noise_begun: usize,
}

impl<'a, P: ParameterSet, B: Backend> Encapsulation<'a, P, B> {
    /// Encapsulates to the owner of ek, which was checked.
    pub(super) fn new(b: B, ek: &'a [u8], m: &'a [u8; 32], space: &'a mut Space<P>) -> Self {
        Self {
            b,
            m,
            expansion: Expansion::new(b, ek, &mut space.h, &mut space.matrix),
            g: &mut space.g,
            g_begun: false,
            g_done: false,
            noise: &mut space.noise,
            noise_begun: 0,
        }
    }
}

impl<P: ParameterSet, B: Backend> Client for Encapsulation<'_, P, B> {
    type Sponge = Sponge;

    #[inline(always)]
    fn next(&mut self, midway: &mut Option<Midway>) -> Option<Start<Sponge>> {
        // 1: (K, r) ← G(m ‖ H(ek))
        if self.expansion.h_left == 0 && !self.g_begun {
            self.g_begun = true;
            return Some(Sponge::G.start());
        }
        // The noise is last, since its sponges are short: they fit beside the last entries of Â.
        if let Some(start) = self.expansion.next(midway) {
            return Some(start);
        }
        if !self.g_done {
            return None;
        }
        let noise = Noise::<P>::sponge(self.noise_begun)?;
        self.noise_begun += 1;
        Some(noise.start())
    }

    fn absorb(&mut self, sponge: &mut Sponge, block: &mut [u8]) -> Absorbed {
        match sponge {
            Sponge::G => sampling::absorb_all([self.m, &*self.expansion.h], block),
            Sponge::Noise { n, .. } => {
                let [_, r] = self.g.halves();
                sampling::absorb_noise(r, *n, block)
            }
            _ => self.expansion.absorb(sponge, block),
        }
    }

    fn pause(&mut self, sponge: Sponge, midway: Midway) {
        self.expansion.pause(sponge, midway);
    }

    fn take(&mut self, sponge: &mut Sponge, block: &[u8]) -> Demand {
        match sponge {
            Sponge::G => {
                self.g_done = true;
                self.g.take(block)
            }
            Sponge::Noise { n, begun } => self.noise.take(self.b, block, *n, begun),
            _ => self.expansion.take(sponge, block),
        }
    }

    #[inline(always)]
    fn lanes(&self) -> usize {
        self.expansion.lanes()
    }
}

/// H(ek) and **Â**.
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

impl<'a, P: ParameterSet, B> Expansion<'a, P, B> {
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
}

impl<P: ParameterSet, B: Backend> Client for Expansion<'_, P, B> {
    type Sponge = Sponge;

    #[inline(always)]
    fn next(&mut self, _: &mut Option<Midway>) -> Option<Start<Sponge>> {
        // H(ek) is the longest chain, so it starts first, and Â is sampled beside it.
        if !self.h_begun {
            self.h_begun = true;
            return Some(Sponge::H { absorbed: 0 }.start());
        }
        let entry = sampling::entry::<P>(self.entries_begun)?;
        self.entries_begun += 1;
        Some(entry.start())
    }

    fn absorb(&mut self, sponge: &mut Sponge, block: &mut [u8]) -> Absorbed {
        match sponge {
            Sponge::H { absorbed } => {
                self.h_left -= usize::from(*absorbed > 0);
                sampling::absorb_next([self.ek], absorbed, block)
            }
            Sponge::Entry { i, j, .. } => sampling::absorb_entry(rho(self.ek), *i, *j, block),
            _ => Absorbed::Nothing,
        }
    }

    fn pause(&mut self, _: Sponge, _: Midway) {
        debug_assert!(false, "all messages are known when their sponges begin");
    }

    fn take(&mut self, sponge: &mut Sponge, block: &[u8]) -> Demand {
        match sponge {
            Sponge::H { .. } => {
                self.h.copy_from_slice(&block[..32]);
                self.h_left = 0;
                Demand::Done
            }
            Sponge::Entry { i, j, filled } => {
                let entry = self.matrix.entry_mut(usize::from(*i), usize::from(*j));
                sampling::take_entry(self.b, block, entry, filled)
            }
            _ => Demand::Done,
        }
    }

    #[inline(always)]
    fn lanes(&self) -> usize {
        let entries_left = P::K::N * P::K::N - self.entries_begun;
        lanes_beside(self.b, self.h_left, entries_left, ENTRY_BLOCKS)
    }
}

#[cfg(test)]
mod tests {
    extern crate alloc;

    use alloc::vec;

    use super::Space;
    use crate::arch::{check_wiped, part};
    use crate::ml_kem::MlKem768;

    #[test]
    fn secrets_are_wiped() {
        let mut space = Space::<MlKem768>::zero();
        space.g.take(&[7; 136]);
        space.noise.fill_for_tests();
        check_wiped(space, |space| {
            // the first two are public
            let Space {
                h: _,
                matrix: _,
                g,
                noise,
            } = space;
            vec![
                part(space, "G's output", g),
                part(space, "y", &noise.y),
                part(space, "e₁", &noise.e1),
                part(space, "e₂", &noise.e2),
            ]
        });
    }
}
