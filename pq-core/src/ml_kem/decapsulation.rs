//! ML-KEM.Decaps_internal (FIPS 203, algorithm 18).

use subtle::{ConditionallySelectable, ConstantTimeEq};
use zeroize::Zeroizing;

use super::keys::DecapsulationKey;
use super::params::{ETA2, ParameterSet};
use super::sampling::{self, G, H, Halves, J, Noise, PRF, SamplePolyCbd};
use super::{SHARED_SECRET_LEN, k_pke};
use crate::arch::Backend;
use crate::dimension::Dimension;
use crate::hash::lanes::{self, Absorbed, Client, Demand, Midway, Start, lanes_beside};
use crate::hash::sha3::SHAKE256_RATE;

/// ML-KEM.Decaps_internal of c, which has the right length; writes over `secret`.
///
/// Steps 1 to 4 take dk apart, which was done when the key was read.
pub(super) fn decaps<P: ParameterSet, B: Backend>(
    b: B,
    key: &DecapsulationKey<P>,
    c: &[u8],
    secret: &mut [u8; SHARED_SECRET_LEN],
) {
    let mut space = Space::zero();
    // 5
    let mut client = Decapsulation::new(b, key, c, &mut space);
    // 6, 7, and of 8 what is sampled
    lanes::serve(b, &mut client);
    // the rest of 8, and 9 to 12
    space.finish(b, key, c, secret);
}

/// What a decapsulation computes in lanes and before them. Wiped when dropped.
pub(super) struct Space<P: ParameterSet> {
    /// m′
    m: Zeroizing<[u8; 32]>,
    /// (K′, r′)
    g: Halves,
    /// K̄
    rejected: Zeroizing<[u8; 32]>,
    noise: Noise<P>,
}

impl<P: ParameterSet> Space<P> {
    /// All zero, to be written over.
    pub(super) fn zero() -> Self {
        Self {
            m: Zeroizing::new([0; 32]),
            g: Halves::zero(),
            rejected: Zeroizing::new([0; 32]),
            noise: Noise::zero(),
        }
    }
}

/// The sponges of a decapsulation: H(ek) if need be, steps 6 and 7, and in step 8 what K-PKE.Encrypt samples. **Â** is part
/// of the key.
pub(super) struct Decapsulation<'a, P: ParameterSet, B> {
    b: B,
    key: &'a DecapsulationKey<P>,
    c: &'a [u8],
    space: &'a mut Space<P>,
    /// H(ek), once `h_left` is 0.
    h: [u8; 32],
    h_begun: bool,
    /// How many permutations of H(ek) are left.
    h_left: usize,
    g_begun: bool,
    g_done: bool,
    j_begun: bool,
    /// How many permutations of J(z ‖ c) are left.
    j_left: usize,
    noise_begun: usize,
}

pub(super) enum Sponge {
    /// H(ek)
    H { absorbed: usize },
    /// (K′, r′)
    G,
    /// K̄
    J { absorbed: usize },
    /// **y**, **e**₁ and e₂
    Noise(SamplePolyCbd),
}

impl<'a, P: ParameterSet, B: Backend> Decapsulation<'a, P, B> {
    /// Decapsulates c, which has the right length.
    pub(super) fn new(
        b: B,
        key: &'a DecapsulationKey<P>,
        c: &'a [u8],
        space: &'a mut Space<P>,
    ) -> Self {
        // 5: m′ ← K-PKE.Decrypt(dkPKE, c)
        k_pke::decrypt(b, &key.s_hat, c, &mut space.noise, &mut space.m);
        Self {
            b,
            key,
            c,
            space,
            h: key.h.unwrap_or_default(),
            h_begun: key.h.is_some(),
            h_left: key.h.map_or(sampling::h_blocks::<P>(), |_| 0),
            g_begun: false,
            g_done: false,
            j_begun: false,
            j_left: (key.z.len() + c.len()) / SHAKE256_RATE + 1,
            noise_begun: 0,
        }
    }

    /// h ← H(ek), which is part of dk, unless key generation left it for now.
    #[inline(always)]
    fn h(&mut self) -> Option<Start<Sponge>> {
        if self.h_begun {
            return None;
        }
        self.h_begun = true;
        Some(Start::of(H, Sponge::H { absorbed: 0 }))
    }

    /// 6: (K′, r′) ← G(m′ ‖ h), which waits for h.
    #[inline(always)]
    fn g(&mut self) -> Option<Start<Sponge>> {
        if self.g_begun || self.h_left > 0 {
            return None;
        }
        self.g_begun = true;
        Some(Start::of(G, Sponge::G))
    }

    /// 7: K̄ ← J(z ‖ c)
    #[inline(always)]
    fn j(&mut self) -> Option<Start<Sponge>> {
        if self.j_begun {
            return None;
        }
        self.j_begun = true;
        Some(Start::of(J, Sponge::J { absorbed: 0 }))
    }

    /// 8: c′ ← K-PKE.Encrypt(ekPKE, m′, r′), which samples **y**, **e**₁ and e₂; they wait for r′.
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

impl<P: ParameterSet, B: Backend> Client for Decapsulation<'_, P, B> {
    type Sponge = Sponge;

    #[inline(always)]
    fn next(&mut self, _: &mut Option<Midway>) -> Option<Start<Sponge>> {
        // H(ek), with what waits for it, and J(z ‖ c) are the longest chains, so they begin first.
        self.h()
            .or_else(|| self.j())
            .or_else(|| self.g())
            .or_else(|| self.noise())
    }

    fn absorb(&mut self, sponge: &mut Sponge, block: &mut [u8]) -> Absorbed {
        match sponge {
            Sponge::H { absorbed } => {
                self.h_left -= usize::from(*absorbed > 0);
                let ek = self.key.encapsulation_key.as_bytes();
                sampling::absorb_next([ek], absorbed, block)
            }
            Sponge::G => sampling::absorb_all([&*self.space.m, &self.h], block),
            Sponge::J { absorbed } => {
                self.j_left -= usize::from(*absorbed > 0);
                sampling::absorb_next([&self.key.z, self.c], absorbed, block)
            }
            Sponge::Noise(noise) => {
                let [_, r] = self.space.g.both();
                noise.absorb(r, block)
            }
        }
    }

    fn take(&mut self, sponge: &mut Sponge, block: &[u8]) -> Demand {
        let Space {
            g, rejected, noise, ..
        } = &mut *self.space;
        match sponge {
            Sponge::H { .. } => {
                self.h_left = 0;
                self.h.copy_from_slice(&block[..32]);
                Demand::Done
            }
            Sponge::G => {
                self.g_done = true;
                g.take(block)
            }
            Sponge::J { .. } => {
                self.j_left = 0;
                rejected.copy_from_slice(&block[..32]);
                Demand::Done
            }
            Sponge::Noise(sponge) => noise.take(self.b, sponge, block),
        }
    }

    #[inline(always)]
    fn lanes(&self) -> usize {
        // with η = 3, the **y** take two blocks each
        let noise_left = 2 * P::K::N + 1 - self.noise_begun + P::K::N * (P::ETA1 - ETA2);
        lanes_beside(self.b, self.h_left.max(self.j_left), noise_left, 1)
    }
}

impl<P: ParameterSet> Space<P> {
    /// The steps after the lanes are done with a [`Decapsulation`]: writes over `secret`.
    pub(super) fn finish<B: Backend>(
        &mut self,
        b: B,
        key: &DecapsulationKey<P>,
        c: &[u8],
        secret: &mut [u8; SHARED_SECRET_LEN],
    ) {
        // 8: c′ ← K-PKE.Encrypt(ekPKE, m′, r′)
        let mut difference = Zeroizing::new(0);
        let (matrix, t_hat) = (&key.matrix, key.encapsulation_key.t_hat.as_ref());
        k_pke::encrypt(b, matrix, t_hat, &self.m, &mut self.noise, |f, d, range| {
            *difference |= f.compressed_difference(b, d, &c[range]);
        });
        // 9-12: the choice is secret, and so is where c′ differs
        let accept = (*difference).ct_eq(&0);
        let [k, _] = self.g.both();
        for ((chosen, k), rejected) in secret.iter_mut().zip(k).zip(&*self.rejected) {
            *chosen = u8::conditional_select(rejected, k, accept);
        }
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
        *space.m = [7; 32];
        *space.rejected = [7; 32];
        space.g.take(&[7; 136]);
        space.noise.fill_for_tests();
        check_wiped(space, |space| {
            let Space {
                m,
                rejected,
                g,
                noise,
            } = space;
            vec![
                part(space, "m", m),
                part(space, "K of a rejected ciphertext", rejected),
                part(space, "G's output", g),
                part(space, "y", &noise.y),
                part(space, "e₁", &noise.e1),
                part(space, "e₂", &noise.e2),
            ]
        });
    }
}
