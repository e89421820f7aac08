//! ML-KEM.Encaps_internal (FIPS 203, algorithm 17).

use super::expansion::{self, Expansion};
use super::keys::EncapsulationKey;
use super::params::ParameterSet;
use super::ring::{Matrix, Tq};
use super::sampling::{self, G, Halves, Noise, PRF, SamplePolyCbd};
use super::{SHARED_SECRET_LEN, k_pke};
use crate::arch::Backend;
use crate::hash::lanes::{self, Absorbed, Client, Demand, Midway, Start};
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
    // 1, and of 2 what is sampled
    let mut client = Encapsulation::new(b, ek.as_bytes(), m, &mut space);
    lanes::serve(b, &mut client);
    // the rest of 2
    space.finish(b, ek.t_hat.as_ref(), m, c, secret);
}

/// What an encapsulation computes in lanes. Its secret parts are wiped when dropped.
pub(super) struct Space<P: ParameterSet> {
    h: [u8; 32],
    /// **Â**
    matrix: Matrix<P>,
    /// (K, r)
    g: Halves,
    noise: Noise<P>,
}

impl<P: ParameterSet> Space<P> {
    /// All zero, to be written over.
    pub(super) fn zero() -> Self {
        Self {
            h: [0; 32],
            matrix: Matrix::zero(),
            g: Halves::zero(),
            noise: Noise::zero(),
        }
    }
}

/// The sponges of an encapsulation: step 1, and in step 2 what K-PKE.Encrypt samples.
pub(super) struct Encapsulation<'a, P: ParameterSet, B> {
    b: B,
    m: &'a [u8; 32],
    expansion: Expansion<'a, P, B>,
    g: &'a mut Halves,
    g_begun: bool,
    g_done: bool,
    noise: &'a mut Noise<P>,
    noise_begun: usize,
}

pub(super) enum Sponge {
    /// H(ek) and **Â**
    Expansion(expansion::Sponge),
    /// (K, r)
    G,
    /// **y**, **e**₁ and e₂
    Noise(SamplePolyCbd),
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

    /// 1: (K, r) ← G(m ‖ H(ek)), which waits for H(ek).
    #[inline(always)]
    fn g(&mut self) -> Option<Start<Sponge>> {
        if self.g_begun {
            return None;
        }
        self.expansion.h()?;
        self.g_begun = true;
        Some(Start::of(G, Sponge::G))
    }

    /// 2: c ← K-PKE.Encrypt(ek, m, r), which samples **Â**, and H(ek) before it.
    #[inline(always)]
    fn expansion(&mut self, midway: &mut Option<Midway>) -> Option<Start<Sponge>> {
        let start = self.expansion.next(midway)?;
        Some(start.map(Sponge::Expansion))
    }

    /// 2: **y**, **e**₁ and e₂, which wait for r.
    #[inline(always)]
    fn noise(&mut self) -> Option<Start<Sponge>> {
        if !self.g_done {
            return None;
        }
        let noise = Noise::<P>::sponge(self.noise_begun)?;
        self.noise_begun += 1;
        Some(Start::of(PRF, Sponge::Noise(noise)))
    }
}

impl<P: ParameterSet, B: Backend> Client for Encapsulation<'_, P, B> {
    type Sponge = Sponge;

    #[inline(always)]
    fn next(&mut self, midway: &mut Option<Midway>) -> Option<Start<Sponge>> {
        // The noise is last, since its sponges are short: they fit beside the last entries of Â.
        self.g()
            .or_else(|| self.expansion(midway))
            .or_else(|| self.noise())
    }

    fn absorb(&mut self, sponge: &mut Sponge, block: &mut [u8]) -> Absorbed {
        match sponge {
            Sponge::G => match self.expansion.h() {
                Some(h) => sampling::absorb_all([self.m, h], block),
                None => Absorbed::Nothing,
            },
            Sponge::Expansion(sponge) => self.expansion.absorb(sponge, block),
            Sponge::Noise(noise) => {
                let [_, r] = self.g.both();
                noise.absorb(r, block)
            }
        }
    }

    fn take(&mut self, sponge: &mut Sponge, block: &[u8]) -> Demand {
        match sponge {
            Sponge::G => {
                self.g_done = true;
                self.g.take(block)
            }
            Sponge::Expansion(sponge) => self.expansion.take(sponge, block),
            Sponge::Noise(noise) => self.noise.take(self.b, noise, block),
        }
    }

    #[inline(always)]
    fn lanes(&self) -> usize {
        self.expansion.lanes()
    }
}

impl<P: ParameterSet> Space<P> {
    /// What is left after the lanes are done with an [`Encapsulation`]: writes over `c` and `secret`.
    pub(super) fn finish<B: Backend>(
        &mut self,
        b: B,
        t_hat: &[Tq],
        m: &[u8; 32],
        c: &mut [u8],
        secret: &mut [u8; SHARED_SECRET_LEN],
    ) {
        // 2: c ← K-PKE.Encrypt(ek, m, r)
        let (matrix, noise) = (&self.matrix, &mut self.noise);
        k_pke::encrypt(b, matrix, t_hat, m, noise, |f, d, range| {
            f.compress_encode(b, d, &mut c[range]);
        });
        // 3: return (K, c)
        let [k, _] = self.g.both();
        copy(secret, k);
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
