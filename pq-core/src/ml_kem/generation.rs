//! ML-KEM.KeyGen_internal (FIPS 203, algorithm 16), with K-PKE.KeyGen (algorithm 13).

use super::keys::DecapsulationKey;
use super::params::ParameterSet;
use super::ring::{ENCODED_LEN, Rq, VectorR};
use super::sampling::{self, ENTRY_BLOCKS, G, H, Halves, PRF, SampleNtt, SamplePolyCbd, XOF};
use crate::arch::{Backend, declassify};
use crate::dimension::Dimension;
use crate::hash::lanes::{Absorbed, Client, Demand, Midway, Start, Waiting, lanes_beside};
use crate::hash::sha3::SHAKE256_RATE;

/// What a key generation computes in lanes, apart from the key. Wiped when dropped.
pub(super) struct Space<P: ParameterSet> {
    /// ρ ‖ σ
    g: Halves,
    s: VectorR<P>,
    e: VectorR<P>,
}

impl<P: ParameterSet> Space<P> {
    /// All zero, to be written over.
    pub(super) fn zero() -> Self {
        Self {
            g: Halves::zero(),
            s: VectorR::<P>::zero(),
            e: VectorR::<P>::zero(),
        }
    }
}

/// The sponges of a key generation.
///
/// Makes rows of **t̂** one by one, as soon as their parts are sampled; H(ek) absorbs them while
/// the next parts are sampled.
pub(super) struct Generation<'a, P: ParameterSet, B> {
    b: B,
    key: &'a mut DecapsulationKey<P>,
    d: &'a [u8; 32],
    space: &'a mut Space<P>,
    g_begun: bool,
    g_done: bool,
    /// How many sponges of **s**, **Â** and **e** have begun, in the order of
    /// [`sample`](Self::sample).
    begun: usize,
    s_done: usize,
    /// How many elements of **Â** and **e** are done in each row.
    row_done: [usize; 4],
    rows_made: usize,
    /// H(ek), if it is wanted and not on a lane.
    h: Option<Waiting>,
    /// How many permutations of H(ek) are left.
    h_left: usize,
}

pub(super) enum Sponge {
    /// (ρ, σ)
    G,
    /// An entry of **Â**.
    Entry(SampleNtt),
    /// An element of **s** or **e**.
    Secret(SamplePolyCbd),
    /// H(ek)
    H { absorbed: usize },
}

impl<'a, P: ParameterSet, B: Backend> Generation<'a, P, B> {
    /// Makes `key` from d; its z and seed are set already. H(ek) may be left to decapsulation.
    pub(super) fn new(
        b: B,
        d: &'a [u8; 32],
        key: &'a mut DecapsulationKey<P>,
        hashes: bool,
        space: &'a mut Space<P>,
    ) -> Self {
        let h = hashes.then(Waiting::default);
        Self {
            b,
            key,
            d,
            space,
            g_begun: false,
            g_done: false,
            begun: 0,
            s_done: 0,
            row_done: [0; 4],
            rows_made: 0,
            h_left: h.as_ref().map_or(0, |_| sampling::h_blocks::<P>()),
            h,
        }
    }

    /// The n'th sponge: those of **s** come first, then row by row those of **Â** and **e**. `None`
    /// after the last.
    fn sample(n: usize) -> Option<Start<Sponge>> {
        let k = P::K::N;
        let secret = |n| Some(Start::of(PRF, Sponge::Secret(SamplePolyCbd::new(n))));
        let Some(of_rows) = n.checked_sub(k) else {
            return secret(n);
        };
        let (i, j) = (of_rows / (k + 1), of_rows % (k + 1));
        if i == k {
            None
        } else if j < k {
            let entry = SampleNtt::nth::<P>(k * i + j)?;
            Some(Start::of(XOF, Sponge::Entry(entry)))
        } else {
            secret(k + i)
        }
    }

    /// How many blocks the sponges that have not begun will take.
    fn blocks_left(&self) -> usize {
        let k = P::K::N;
        let s_left = k.saturating_sub(self.begun);
        let of_rows_left = k + k * (k + 1) - self.begun - s_left;
        let e_left = of_rows_left.div_ceil(k + 1);
        ENTRY_BLOCKS * (of_rows_left - e_left) + (P::ETA1 - 1) * (s_left + e_left)
    }

    /// Makes the rows of **t̂** whose parts are all sampled (algorithm 13, steps 16 to 19).
    fn make_rows(&mut self) {
        let Self { b, key, space, .. } = self;
        let (b, k) = (*b, P::K::N);
        if self.s_done < k {
            return;
        }
        while self.rows_made < k && self.row_done[self.rows_made] == k + 1 {
            let i = self.rows_made;
            if i == 0 {
                for (j, s) in space.s.iter_mut().enumerate() {
                    key.s_hat.set_ntt(b, j, s);
                }
            }
            // 18: t̂ ← Â ∘ ŝ + ê
            let t_hat = &mut key.encapsulation_key.t_hat.as_mut()[i];
            t_hat.set_product_plus_ntt(b, &key.s_hat, key.matrix.row(i), &mut space.e[i]);
            // 19: ek ← ByteEncode₁₂(t̂) ‖ ρ
            key.encapsulation_key.encode_element(b, i);
            self.rows_made += 1;
        }
    }

    /// Whether the block after the first `absorbed` bytes of ek, or the end of ek, is known.
    fn knows(&self, absorbed: usize) -> bool {
        self.rows_made == P::K::N || absorbed + SHAKE256_RATE <= ENCODED_LEN * self.rows_made
    }
}

impl<P: ParameterSet, B: Backend> Client for Generation<'_, P, B> {
    type Sponge = Sponge;

    #[inline(always)]
    fn next(&mut self, midway: &mut Option<Midway>) -> Option<Start<Sponge>> {
        // 1: (ρ, σ) ← G(d ‖ k)
        if !self.g_begun {
            self.g_begun = true;
            return Some(Start::of(G, Sponge::G));
        }
        if !self.g_done {
            return None;
        }
        // H(ek), part of dk, is the longest chain, so it goes first.
        if let Some(Waiting { absorbed, .. }) = self.h
            && self.rows_made > 0
            && self.knows(absorbed)
            && let Some(waiting) = self.h.take()
        {
            *midway = waiting.midway;
            return Some(Start::of(H, Sponge::H { absorbed }));
        }
        // 3-15: Â, s and e
        let start = Self::sample(self.begun)?;
        self.begun += 1;
        Some(start)
    }

    fn absorb(&mut self, sponge: &mut Sponge, block: &mut [u8]) -> Absorbed {
        let [rho, sigma] = self.space.g.both();
        match sponge {
            Sponge::G => sampling::absorb_all([self.d, &[P::K::N as u8]], block),
            Sponge::Entry(entry) => entry.absorb(rho, block),
            Sponge::Secret(secret) => secret.absorb(sigma, block),
            Sponge::H { absorbed } => {
                if !self.knows(*absorbed) {
                    return Absorbed::Nothing;
                }
                self.h_left -= usize::from(*absorbed > 0);
                let ek = self.key.encapsulation_key.as_bytes();
                sampling::absorb_next([ek], absorbed, block)
            }
        }
    }

    fn pause(&mut self, sponge: Sponge, midway: Midway) {
        if let Sponge::H { absorbed } = sponge {
            self.h = Some(Waiting::paused(absorbed, midway));
        }
    }

    fn take(&mut self, sponge: &mut Sponge, block: &[u8]) -> Demand {
        let (b, k) = (self.b, P::K::N);
        let demand = match sponge {
            Sponge::G => {
                self.g_done = true;
                self.space.g.take(block);
                let [rho, _] = self.space.g.both();
                let mut rho = *rho;
                // ρ becomes part of the encapsulation key
                declassify(&mut rho);
                self.key.encapsulation_key.set_rho(&rho);
                Demand::Done
            }
            Sponge::Entry(entry) => {
                let demand = entry.take(b, block, &mut self.key.matrix);
                self.row_done[entry.row()] += usize::from(demand == Demand::Done);
                demand
            }
            Sponge::Secret(secret) => {
                let n = secret.n();
                let (f, done): (&mut Rq, _) = if n < k {
                    (&mut self.space.s[n], &mut self.s_done)
                } else {
                    (&mut self.space.e[n - k], &mut self.row_done[n - k])
                };
                let demand = secret.take(b, block, P::ETA1, f);
                *done += usize::from(demand == Demand::Done);
                demand
            }
            Sponge::H { .. } => {
                self.h_left = 0;
                self.key.h.insert([0; 32]).copy_from_slice(&block[..32]);
                Demand::Done
            }
        };
        if demand == Demand::Done {
            self.make_rows();
        }
        demand
    }

    #[inline(always)]
    fn lanes(&self) -> usize {
        // Sponges don't all take the same number of blocks, so each block counts as a sponge.
        lanes_beside(self.b, self.h_left, self.blocks_left(), 1)
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
        for f in space.s.iter_mut().chain(&mut *space.e) {
            f.0 = [7; 256];
        }
        check_wiped(space, |space| {
            let Space { g, s, e } = space;
            vec![
                part(space, "G's output", g),
                part(space, "s", s),
                part(space, "e", e),
            ]
        });
    }
}
