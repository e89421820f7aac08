//! Computes all other parts of a key from ρ and ρ′, or from ρ, **s**₁ and **s**₂: steps 3 to 9 of
//! ML-DSA.KeyGen_internal (FIPS 204, algorithm 6).

use zeroize::Zeroizing;

use super::encoding::T1_LEN;
use super::params::{ParameterSet, match_constant};
use super::ring::{Matrix, Rq, Small, Tq};
use crate::arch::Backend;
use crate::dimension::Dimension;
use crate::hash::lanes::{self, Absorbed, Client, Demand, Midway, Start, Waiting};
use crate::hash::sha3::{SHAKE128, SHAKE256, SHAKE256_RATE};
use crate::kernel::ml_dsa::sampling::{RejectBounded, RejectUniform};
use crate::secret::{Secret, Zero};

/// The parts of a key that are to be computed.
pub(super) struct Parts<'a, P: ParameterSet> {
    pub(super) matrix: &'a mut Matrix<P>,
    pub(super) s1: &'a mut [Small],
    pub(super) s2: &'a mut [Small],
    pub(super) t0_hat: &'a mut [Tq],
    /// pk, which begins with ρ.
    pub(super) verifying_key: &'a mut [u8],
    pub(super) tr: &'a mut [u8; 64],
}

/// Memory for computing the parts of a key. Wiped when dropped.
#[repr(align(64))]
pub(super) struct Vectors<P: ParameterSet> {
    /// ŝ₁
    s1_hat: Secret<P::L, Tq>,
    /// An element of **t**, then of **t**₀.
    t: Zeroizing<Rq>,
}

impl<P: ParameterSet> Vectors<P> {
    pub(super) fn zero() -> Self {
        Self {
            s1_hat: Secret::zero(),
            t: Zeroizing::new(Rq::ZERO),
        }
    }

    /// Its two parts.
    #[cfg(test)]
    pub(super) fn parts(&self) -> (&Secret<P::L, Tq>, &Rq) {
        (&self.s1_hat, &self.t)
    }
}

/// Sees element i of **t**₀. Not a type parameter: all code that computes a key would be compiled
/// for each.
pub(super) type Inspect<'a> = &'a mut dyn FnMut(usize, &Rq);

/// Computes the parts of a key.
///
/// All sponges run side by side: **s**₁ and **s**₂ begin first, then the entries of **Â** by rows,
/// and tr as soon as the verifying key has a block that tr has not absorbed; only the last row
/// takes precedence over tr.
pub(super) struct Expansion<'a, P: ParameterSet, B> {
    b: B,
    rho_prime: Option<&'a [u8; 64]>,
    vectors: &'a mut Vectors<P>,
    parts: Parts<'a, P>,
    inspect: Option<Inspect<'a>>,
    /// How many elements of **s**₁ ‖ **s**₂ have begun, and how many are done.
    secrets_begun: usize,
    secrets_done: usize,
    /// Row and column of the next entry of **Â**.
    next_entry: (usize, usize),
    /// How many entries of each row are complete.
    complete: [usize; 8],
    /// How many rows of the verifying key are known.
    rows_done: usize,
    /// tr, if it is not on a lane.
    tr_waiting: Option<Waiting>,
}

/// A sponge on a lane.
pub(super) enum Sponge {
    /// Element r of **s**₁ ‖ **s**₂.
    Secret { r: usize, filled: usize },
    /// An entry of **Â**.
    Entry { r: usize, s: usize, filled: usize },
    /// tr = H(pk, 64)
    Tr { absorbed: usize },
}

impl<'a, P: ParameterSet, B: Backend> Expansion<'a, P, B> {
    /// Samples **s**₁ and **s**₂ from ρ′ if there is one, otherwise takes η − s of each as
    /// [`decode`](Small::decode) left it, and computes `parts`.
    #[inline(always)]
    pub(super) fn new(
        b: B,
        rho_prime: Option<&'a [u8; 64]>,
        vectors: &'a mut Vectors<P>,
        parts: Parts<'a, P>,
        inspect: Option<Inspect<'a>>,
    ) -> Self {
        let mut expansion = Self {
            b,
            rho_prime,
            vectors,
            parts,
            inspect,
            secrets_begun: 0,
            secrets_done: 0,
            next_entry: (0, 0),
            complete: [0; 8],
            rows_done: 0,
            tr_waiting: Some(Waiting::default()),
        };
        if rho_prime.is_none() {
            expansion.secrets_begun = P::L::N + P::K::N;
            for r in 0..expansion.secrets_begun {
                expansion.finish_secret(r);
            }
        }
        expansion
    }

    /// Processes element `r` of **s**₁ ‖ **s**₂, which is complete.
    fn finish_secret(&mut self, r: usize) {
        let (b, vectors, parts) = (self.b, &mut *self.vectors, &mut self.parts);
        match r.checked_sub(P::L::N) {
            None => {
                parts.s1[r].rotate::<P, B>(b);
                vectors.s1_hat[r].set_transform::<P, B>(b, &parts.s1[r]);
            }
            Some(r) => parts.s2[r].rotate::<P, B>(b),
        }
        self.secrets_done += 1;
    }

    /// Steps 5 to 8 for all rows of **Â** that are complete.
    fn finish_rows(&mut self) {
        let b = self.b;
        if self.secrets_done < P::L::N + P::K::N {
            return;
        }
        while self.rows_done < P::K::N && self.complete[self.rows_done] == P::L::N {
            let i = self.rows_done;
            let parts = &mut self.parts;
            let Vectors { s1_hat, t } = &mut *self.vectors;
            // 5: t ← NTT⁻¹(Â ∘ NTT(s₁)) + s₂; 6: (t₁, t₀) ← Power2Round(t);
            // 8: pk ← pkEncode(ρ, t₁)
            t.set_inner_product(b, parts.matrix.row(i), s1_hat);
            let t1_encoded = &mut parts.verifying_key[32 + T1_LEN * i..][..T1_LEN];
            t.add_power2round::<P, B>(b, &parts.s2[i], t1_encoded);
            if let Some(inspect) = &mut self.inspect {
                inspect(i, t);
            }
            t.ntt(b, &mut parts.t0_hat[i]);
            self.rows_done += 1;
        }
    }

    /// How many bytes of the verifying key tr may absorb before it has to wait for more: all whole
    /// blocks that are known, or the whole key.
    fn known(&self) -> usize {
        if self.rows_done == P::K::N {
            return usize::MAX;
        }
        let known = 32 + T1_LEN * self.rows_done;
        known - known % SHAKE256_RATE
    }
}

impl<P: ParameterSet, B: Backend> Client for Expansion<'_, P, B> {
    type Sponge = Sponge;

    #[inline(always)]
    fn next(&mut self, midway: &mut Option<Midway>) -> Option<Start<Sponge>> {
        if self.secrets_begun < P::L::N + P::K::N {
            let (r, filled) = (self.secrets_begun, 0);
            self.secrets_begun += 1;
            return Some(Start::of(SHAKE256, Sponge::Secret { r, filled }));
        }
        let (r, s) = self.next_entry;
        // tr has to wait for the last row, so that row goes first.
        if r + 1 != P::K::N {
            let known = self.known();
            if let Some(waiting) = self.tr_waiting.take_if(|waiting| waiting.absorbed < known) {
                let absorbed = waiting.absorbed;
                *midway = waiting.midway;
                return Some(Start::of(SHAKE256, Sponge::Tr { absorbed }));
            }
        }
        if r == P::K::N {
            return None;
        }
        self.next_entry = if s + 1 < P::L::N {
            (r, s + 1)
        } else {
            (r + 1, 0)
        };
        let filled = 0;
        Some(Start::of(SHAKE128, Sponge::Entry { r, s, filled }))
    }

    fn absorb(&mut self, sponge: &mut Sponge, block: &mut [u8]) -> Absorbed {
        match sponge {
            Sponge::Secret { r, .. } => {
                if let Some(rho_prime) = self.rho_prime {
                    absorb_secret(rho_prime, *r as u16, block);
                }
                Absorbed::End(66)
            }
            Sponge::Entry { r, s, .. } => {
                block[..32].copy_from_slice(&self.parts.verifying_key[..32]);
                block[32..34].copy_from_slice(&[*s as u8, *r as u8]);
                Absorbed::End(34)
            }
            Sponge::Tr { absorbed } => {
                if *absorbed >= self.known() {
                    return Absorbed::Nothing;
                }
                let taken = lanes::read([&*self.parts.verifying_key], *absorbed, block);
                *absorbed += taken;
                Absorbed::some(taken, block)
            }
        }
    }

    fn pause(&mut self, sponge: Sponge, midway: Midway) {
        if let Sponge::Tr { absorbed } = sponge {
            self.tr_waiting = Some(Waiting::paused(absorbed, midway));
        }
    }

    fn take(&mut self, sponge: &mut Sponge, block: &[u8]) -> Demand {
        let b = self.b;
        match sponge {
            // RejBoundedPoly (algorithm 31), for element r of ExpandS (algorithm 33)
            Sponge::Secret { r, filled } => {
                let small = match r.checked_sub(P::L::N) {
                    None => &mut self.parts.s1[*r],
                    Some(r) => &mut self.parts.s2[r],
                };
                let eta_less_s = small.eta_less_s_mut();
                let so_far = *filled;
                let block = block.first_chunk().expect("a block of SHAKE256");
                *filled = match_constant!(P::ETA => {
                    2 => b.run(RejectBounded::<2> { block, eta_less_s, filled: so_far }),
                    4 => b.run(RejectBounded::<4> { block, eta_less_s, filled: so_far }),
                });
                if *filled < 256 {
                    return Demand::More;
                }
                self.finish_secret(*r);
                self.finish_rows();
            }
            // RejNTTPoly (algorithm 30)
            Sponge::Entry { r, s, filled } => {
                *filled = b.run(RejectUniform {
                    block: block.first_chunk().expect("a block of SHAKE128"),
                    f: &mut self.parts.matrix.entry_mut(*r, *s).0,
                    filled: *filled,
                });
                if *filled < 256 {
                    return Demand::More;
                }
                self.complete[*r] += 1;
                self.finish_rows();
            }
            Sponge::Tr { .. } => self.parts.tr.copy_from_slice(&block[..64]),
        }
        Demand::Done
    }
}

/// ρ′ ‖ r, with r in 16 bits: IntegerToBytes(r, 2) (algorithm 11).
///
/// A separate function: inlined, it would keep ρ′ in registers while sponges begin, and so spill it
/// to the stack.
#[inline(never)]
fn absorb_secret(rho_prime: &[u8; 64], r: u16, block: &mut [u8]) {
    block[..64].copy_from_slice(rho_prime);
    block[64..66].copy_from_slice(&r.to_le_bytes());
}
