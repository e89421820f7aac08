//! Signing (FIPS 204, algorithm 7), from µ on.
//!
//! # What the rejection of attempts shows
//!
//! The time taken shows how many attempts there were, which check refused each, and which
//! polynomial of the vector was the first that the check found too large: it skips the polynomials
//! after that one. c̃ of every attempt shows as well (SampleInBall branches and indexes by it). The
//! position, size and sign of the coefficient that was too large do not show. What shows is public
//! because:
//!
//! * Each coefficient of **z** is below its bound equally often for every key and whatever the
//!   other coefficients are, by construction: **y** is uniform over an interval around 0, c comes
//!   from a hash modelled as a random oracle, and |c**s**₁| ≤ β, so that every **z** within γ₁ − β
//!   has the same probability. So the coefficients that are too large reveal nothing about **s**₁,
//!   and an accepted **z** is uniform for the same reason.
//! * Given an accepted **z**, everything checked after it follows from **z**, c, **Â** and
//!   **t** (w − cs₂ = Az − ct), and the standard's security analysis takes all of **t** as
//!   public, **t**₀ included.
//! * Two statements are not theorems but the accepted heuristics of Fiat–Shamir with aborts. The
//!   first: the same holds for the coefficients of **r**₀, even if **z** was not checked (here
//!   **r**₀ is checked first), since **w**₀ is as good as uniform over its interval, coefficient
//!   by coefficient. The second: c̃ of a refused attempt reveals nothing, since c̃ is a hash of
//!   **w**₁, which nobody can guess. The authors' reference implementation relies on the second too
//!   (section 5.5 of the round-3 specification of CRYSTALS-Dilithium), and stops at the first
//!   coefficient that is too large.
//!
//! Where two attempts are under way, c̃ of one more attempt can show: of the one after the attempt that
//! succeeds. It reveals nothing for the same reason. No response is computed for it.

use core::array;

use zeroize::{Zeroize, Zeroizing};

use super::encoding::{MAX_W1_ENCODED_LEN, w1_len, z_len};
use super::message::representative;
use super::params::ParameterSet;
use super::ring::{Challenge, Rq, Tq};
use super::sampling::{Ball, Mask};
use super::signature::{Signature, encode_hints};
use super::signing_key::SigningKey;
use crate::arch::{Backend, Vector, declassify};
use crate::dimension::Dimension;
use crate::hash::lanes::{
    self, Absorbed, Client, Demand, MAX_LANES, Midway, Start, lanes_beside_chains,
};
use crate::hash::sha3::{SHAKE256, SHAKE256_RATE, shake256};
use crate::secret::{Secret, Zero, wipe};

/// ML-DSA.Sign_internal.
pub(super) fn sign<P: ParameterSet, B: Backend>(
    b: B,
    key: &SigningKey<P>,
    message: &[&[u8]],
    rnd: &[u8; 32],
) -> Signature<P> {
    // 6: µ ← H(tr ‖ M′, 64)
    let mu = representative(b, key.tr(), message);
    sign_mu(b, key, &mu, rnd)
}

/// Steps 7 to 33 of ML-DSA.Sign_internal.
///
/// An attempt succeeds with a probability of 1/5.1 to 1/3.85 (FIPS 204, table 1). The standard
/// allows a limit to the number of attempts (appendix C) but does not require one; here the loop
/// has no limit. κ would repeat after 2¹⁶/ℓ attempts, which happens with a probability below
/// 2⁻⁴⁰⁰⁰.
pub(super) fn sign_mu<P: ParameterSet, B: Backend>(
    b: B,
    key: &SigningKey<P>,
    mu: &[u8; 64],
    rnd: &[u8; 32],
) -> Signature<P> {
    // With all lanes at the cost of few, a second attempt takes no more permutations.
    if const { B::U64s::LANES == MAX_LANES } && b.cost_of_all_lanes() == 2 {
        sign_in::<P, B, 2>(b, key, mu, rnd)
    } else {
        sign_in::<P, B, 1>(b, key, mu, rnd)
    }
}

/// [`sign_mu`] with `N` attempts under way, 1 or 2.
///
/// A separate function, so that only one of the places is on the stack.
#[inline(never)]
pub(super) fn sign_in<P: ParameterSet, B: Backend, const N: usize>(
    b: B,
    key: &SigningKey<P>,
    mu: &[u8; 64],
    rnd: &[u8; 32],
) -> Signature<P> {
    // 7: ρ″ ← H(K ‖ rnd ‖ µ, 64)
    let mut rho_2prime = Zeroizing::new([0; 64]);
    shake256(b, &[key.k(), rnd, mu], &mut *rho_2prime);
    let mut signature = Signature::zero();
    let mut space = Space::<P, N>::zero();
    let mut signing = Signing {
        b,
        key,
        mu,
        rho_2prime: &rho_2prime,
        space: &mut space,
        signature: &mut signature,
        lanes: lanes_beside_attempts::<P, B, N>(b),
        masks_begun: 0,
        complete: [0; 2],
        refused: 0,
        is_signed: false,
    };
    lanes::serve(b, &mut signing);
    signature
}

/// In how many lanes masks begin after the first attempt has begun.
fn lanes_beside_attempts<P: ParameterSet, B: Backend, const N: usize>(b: B) -> usize {
    if N > 1 {
        return MAX_LANES;
    }
    // c̃, and then SampleInBall
    let chain = (64 + P::K::N * w1_len::<P>()) / SHAKE256_RATE + 2;
    let masks = P::L::N * z_len::<P>().div_ceil(SHAKE256_RATE);
    lanes_beside_chains(b, chain, masks)
}

/// A signature in progress.
///
/// Its sponges are those of all attempts: for each that is under way a chain of two, c̃ and SampleInBall,
/// and beside it the masks of the next attempts. An attempt is decided when all before it are refused, so that
/// the signature is the standard's; what has begun after the one that succeeds is not needed.
struct Signing<'a, P: ParameterSet, B, const N: usize> {
    b: B,
    key: &'a SigningKey<P>,
    mu: &'a [u8; 64],
    rho_2prime: &'a [u8; 64],
    space: &'a mut Space<P, N>,
    /// If the last attempt failed, its content must not be used.
    signature: &'a mut Signature<P>,
    lanes: usize,
    /// How many elements of masks have begun, over all attempts.
    masks_begun: usize,
    /// How many elements are complete of the masks of attempts that have not begun; the index is the number of
    /// the attempt modulo 2.
    complete: [usize; 2],
    /// How many attempts were refused.
    refused: usize,
    is_signed: bool,
}

/// What an attempt waits for.
enum Stage {
    /// **y**
    Mask,
    /// c̃, which has not begun.
    CTilde,
    /// SampleInBall, which has not begun.
    Ball,
    /// The part of the chain that is on a lane.
    Lane,
    /// That all attempts before it are refused.
    Turn,
}

/// A sponge on a lane.
enum Sponge {
    /// Element `n` of masks, over all attempts: H(ρ″ ‖ κ + r) where n = κ + r.
    Mask {
        n: usize,
        filled: usize,
    },
    /// c̃ of the attempt in place `at`
    CTilde {
        at: usize,
        absorbed: usize,
    },
    Ball {
        at: usize,
        ball: Ball,
    },
}

impl<P: ParameterSet, B: Backend, const N: usize> Signing<'_, P, B, N> {
    /// Whether there is memory for another element of a mask: for an attempt's mask, once the attempt before the
    /// last one has begun.
    fn has_place_for_mask(&self) -> bool {
        let Some(earlier) = (self.masks_begun / P::L::N).checked_sub(2) else {
            return true;
        };
        let Attempt { number, stage, .. } = &self.space.attempts[earlier % N];
        *number > earlier || *number == earlier && !matches!(stage, Stage::Mask)
    }

    /// Begins the attempt in place `at` if it waits for its mask, and the mask is complete.
    fn begin(&mut self, at: usize) {
        let Attempt { number, stage, .. } = &self.space.attempts[at];
        let parity = number % 2;
        if matches!(stage, Stage::Mask) && self.complete[parity] == P::L::N {
            self.space.commit(self.b, self.key, parity, at);
            self.space.attempts[at].stage = Stage::CTilde;
            self.complete[parity] = 0;
        }
    }

    /// Decides on the attempts whose turn it is.
    fn decide(&mut self) {
        while !self.is_signed {
            let at = self.refused % N;
            if !matches!(self.space.attempts[at].stage, Stage::Turn) {
                return;
            }
            // 10: public rejection, as the beginning of this file explains
            self.is_signed = self.space.respond(self.b, self.key, at, self.signature);
            if !self.is_signed {
                self.refused += 1;
                let attempt = &mut self.space.attempts[at];
                attempt.number += N;
                attempt.stage = Stage::Mask;
                self.begin(at);
            }
        }
    }
}

impl<P: ParameterSet, B: Backend, const N: usize> Client for Signing<'_, P, B, N> {
    type Sponge = Sponge;

    #[inline(always)]
    fn next(&mut self, _: &mut Option<Midway>) -> Option<Start<Sponge>> {
        // The chains are the longest, so they go first.
        for (at, attempt) in self.space.attempts.iter_mut().enumerate() {
            let sponge = match attempt.stage {
                Stage::CTilde => Sponge::CTilde { at, absorbed: 0 },
                Stage::Ball => Sponge::Ball {
                    at,
                    ball: Ball::new::<P>(&mut attempt.c),
                },
                Stage::Mask | Stage::Lane | Stage::Turn => continue,
            };
            attempt.stage = Stage::Lane;
            return Some(Start::of(SHAKE256, sponge));
        }
        if !self.has_place_for_mask() {
            return None;
        }
        let n = self.masks_begun;
        self.masks_begun += 1;
        Some(Start::of(SHAKE256, Sponge::Mask { n, filled: 0 }))
    }

    fn absorb(&mut self, sponge: &mut Sponge, block: &mut [u8]) -> Absorbed {
        match sponge {
            // 11: y ← ExpandMask(ρ″, κ), where 31 adds ℓ to κ
            Sponge::Mask { n, .. } => {
                let index = (*n as u16).to_le_bytes();
                Absorbed::End(lanes::read([self.rho_2prime, &index[..]], 0, block))
            }
            // 15: c̃ ← H(µ ‖ w1Encode(w₁))
            Sponge::CTilde { at, absorbed } => {
                let w1_encoded = &self.space.attempts[*at].w1_encoded;
                let parts = [self.mu, &w1_encoded[..P::K::N * w1_len::<P>()]];
                let taken = lanes::read(parts, *absorbed, block);
                *absorbed += taken;
                Absorbed::some(taken, block)
            }
            Sponge::Ball { at, .. } => {
                let c_tilde = &self.space.attempts[*at].c_tilde;
                block[..P::LAMBDA / 4].copy_from_slice(&c_tilde[..P::LAMBDA / 4]);
                Absorbed::End(P::LAMBDA / 4)
            }
        }
    }

    fn take(&mut self, sponge: &mut Sponge, block: &[u8]) -> Demand {
        match sponge {
            Sponge::Mask { n, filled } => {
                let attempt = *n / P::L::N;
                let parity = attempt % 2;
                let mask = &mut self.space.masks[parity][*n % P::L::N];
                if mask.take::<P>(block, filled) == Demand::More {
                    return Demand::More;
                }
                self.complete[parity] += 1;
                self.begin(attempt % N);
            }
            Sponge::CTilde { at, .. } => {
                let attempt = &mut self.space.attempts[*at];
                let c_tilde = &mut attempt.c_tilde[..P::LAMBDA / 4];
                c_tilde.copy_from_slice(&block[..P::LAMBDA / 4]);
                // public in other attempts too, as the beginning of this file explains
                declassify(c_tilde);
                attempt.stage = Stage::Ball;
            }
            Sponge::Ball { at, ball } => {
                // 16: c ← SampleInBall(c̃)
                let attempt = &mut self.space.attempts[*at];
                if ball.take(block, &mut attempt.c) == Demand::More {
                    return Demand::More;
                }
                attempt.stage = Stage::Turn;
                self.decide();
            }
        }
        Demand::Done
    }

    #[inline(always)]
    fn lanes(&self) -> usize {
        let first = &self.space.attempts[0];
        if first.number == 0 && matches!(first.stage, Stage::Mask) {
            MAX_LANES
        } else {
            self.lanes
        }
    }

    #[inline(always)]
    fn is_done(&self) -> bool {
        self.is_signed
    }
}

/// Memory for computing a signature. Each attempt overwrites the values of the one before in its place, and
/// everything is wiped at the end.
#[repr(align(64))]
struct Space<P: ParameterSet, const N: usize> {
    /// The hash output from which **y** is unpacked; the index is the number of the attempt modulo 2.
    masks: [Secret<P::L, Mask>; 2],
    y_hat: Secret<P::L, Tq>,
    /// The index is the number of the attempt modulo `N`.
    attempts: [Attempt<P>; N],
    /// c, for products with **s**₁ and **s**₂.
    challenge: Challenge,
    /// ĉ, for products with **t**₀.
    c_hat: Tq,
    /// A product of c and **t**₀.
    product: Rq,
}

/// One attempt, and after it the next one in its place.
struct Attempt<P: ParameterSet> {
    /// From 0 on: κ/ℓ.
    number: usize,
    stage: Stage,
    /// **y**, then **z**.
    y: Secret<P::L, Rq>,
    /// **w**, then its low part **w**₀, then **w**₀ − c**s**₂, then **h**.
    w: Secret<P::K, Rq>,
    /// **w**₁
    w1: Secret<P::K, Rq>,
    /// w1Encode(**w**₁)
    w1_encoded: [u8; MAX_W1_ENCODED_LEN],
    c_tilde: [u8; 64],
    c: Rq,
}

impl<P: ParameterSet> Attempt<P> {
    fn zero(number: usize) -> Self {
        Self {
            number,
            stage: Stage::Mask,
            y: Secret::zero(),
            w: Secret::zero(),
            w1: Secret::zero(),
            w1_encoded: [0; MAX_W1_ENCODED_LEN],
            c_tilde: [0; 64],
            c: Rq::ZERO,
        }
    }
}

impl<P: ParameterSet, const N: usize> Space<P, N> {
    fn zero() -> Self {
        Self {
            masks: [Secret::zero(), Secret::zero()],
            y_hat: Secret::zero(),
            attempts: array::from_fn(Attempt::zero),
            challenge: Challenge::ZERO,
            c_hat: Tq::ZERO,
            product: Rq::ZERO,
        }
    }

    /// Steps 11 to 13, and w1Encode, with the mask of this parity, for the attempt in place `at`.
    fn commit<B: Backend>(&mut self, b: B, key: &SigningKey<P>, parity: usize, at: usize) {
        let Self {
            masks,
            y_hat,
            attempts,
            ..
        } = self;
        let Attempt {
            y,
            w,
            w1,
            w1_encoded,
            ..
        } = &mut attempts[at];
        // 11: the rest of ExpandMask; 12: w ← NTT⁻¹(Â ∘ NTT(y)); 13: w₁ ← HighBits(w)
        let elements = masks[parity].iter().zip(y.iter_mut());
        for ((mask, y), y_hat) in elements.zip(y_hat.iter_mut()) {
            mask.decode::<P, B>(b, y);
            y.ntt(b, y_hat);
        }
        let outputs = w1_encoded.chunks_exact_mut(w1_len::<P>());
        let rows = w.iter_mut().zip(w1.iter_mut()).zip(key.rows());
        for (((w, w1), row), output) in rows.zip(outputs) {
            w.set_inner_product(b, row, y_hat);
            w.decompose::<P, B>(b, w1);
            w1.encode_w1::<P, B>(b, output);
        }
    }

    /// Steps 17 to 30 and 33 for the attempt in place `at`; returns whether they gave a signature.
    fn respond<B: Backend>(
        &mut self,
        b: B,
        key: &SigningKey<P>,
        at: usize,
        signature: &mut Signature<P>,
    ) -> bool {
        let Self {
            attempts,
            challenge,
            c_hat,
            product,
            ..
        } = self;
        let Attempt {
            y,
            w,
            w1,
            c_tilde,
            c,
            ..
        } = &mut attempts[at];
        challenge.set(b, c);

        // 19: cs₂; 21: r₀ ← LowBits(w − cs₂), which is more likely to be refused, and so is checked
        // first.
        //
        // w₀ − cs₂ serves in place of r₀: both are w − cs₂ less a multiple of 2γ₂
        // (mod q), and ‖cs₂‖∞ ≤ β. If either is below γ₂ − β by magnitude, the
        // multiples are the same, so that the other is equal, and then
        // HighBits(w − cs₂) = w₁.
        for (w0, s2) in w.iter_mut().zip(key.s2()) {
            let bound = P::GAMMA2 - P::BETA;
            let mut accepted = w0.add_product::<P, B, true>(b, challenge, s2, bound);
            // 23: public rejection
            declassify(&mut accepted);
            if !accepted {
                return false;
            }
        }

        // 18: cs₁; 20: z ← y + cs₁
        for (y, s1) in y.iter_mut().zip(key.s1()) {
            let bound = P::GAMMA1 - P::BETA;
            let mut accepted = y.add_product::<P, B, false>(b, challenge, s1, bound);
            // 23: public rejection
            declassify(&mut accepted);
            if !accepted {
                return false;
            }
        }

        // 17: ĉ ← NTT(c); 25: ct₀ ← NTT⁻¹(ĉ ∘ t̂₀); 26: h ← MakeHint(−ct₀, w − cs₂ + ct₀)
        c.ntt(b, c_hat);
        let mut accepted = true;
        let mut ones = 0;
        for ((r0, w1), t0_hat) in w.iter_mut().zip(w1.iter()).zip(key.t0_hat()) {
            product.set_product(b, c_hat, t0_hat);
            let (more, within_bound) = r0.make_hint::<P, B>(b, w1, product);
            ones += more;
            accepted &= within_bound;
        }
        // 28: public rejection
        accepted &= ones <= P::OMEGA;
        declassify(&mut accepted);
        if !accepted {
            return false;
        }

        // 33: σ ← sigEncode(c̃, z mod± q, h), all public from here on
        let (c_tilde_encoded, z_encoded, hints_encoded) = signature.parts_mut();
        c_tilde_encoded.copy_from_slice(&c_tilde[..P::LAMBDA / 4]);
        for (z, output) in y.iter().zip(z_encoded) {
            z.encode_z::<P, B>(b, output);
        }
        w.iter_mut().for_each(|h| declassify(&mut h.0));
        encode_hints::<P, B>(b, w.iter().map(|h| &h.0), hints_encoded);
        true
    }
}

impl<P: ParameterSet> Drop for Attempt<P> {
    fn drop(&mut self) {
        wipe(&mut self.w1_encoded);
        wipe(&mut self.c_tilde);
        self.c.zeroize();
    }
}

impl<P: ParameterSet, const N: usize> Drop for Space<P, N> {
    fn drop(&mut self) {
        self.challenge.zeroize();
        self.c_hat.zeroize();
        self.product.zeroize();
    }
}

#[cfg(test)]
mod tests {
    extern crate alloc;

    use alloc::vec;

    use super::{Attempt, Rq, Space, Tq, sign_in};
    use crate::arch::{Backend, Portable, check_wiped, on_each_backend, part};
    use crate::ml_dsa::internal::keygen;
    use crate::ml_dsa::{MlDsa44, MlDsa65, MlDsa87, ParameterSet};

    /// The first attempt that succeeds counts, however many are under way, also where a later one is drawn first. Of
    /// 40 signatures some need one attempt, and some more than ten.
    #[test]
    fn attempts_at_once_give_the_same_signature() {
        fn check<P: ParameterSet, B: Backend>(b: B) {
            let key = keygen::<P, _>(Portable, &[1; 32]);
            for i in 0..40 {
                let (mu, rnd) = (&[7; 64], &[i; 32]);
                let one = sign_in::<P, _, 1>(Portable, &key, mu, rnd);
                assert_eq!(sign_in::<P, B, 1>(b, &key, mu, rnd), one);
                assert_eq!(sign_in::<P, B, 2>(b, &key, mu, rnd), one);
            }
        }

        on_each_backend!(b => {
            check::<MlDsa44, _>(b);
            check::<MlDsa65, _>(b);
            check::<MlDsa87, _>(b);
        });
    }

    #[test]
    fn secrets_are_wiped() {
        let mut space = Space::<MlDsa65, 2>::zero();
        let of_noise = space.masks.iter_mut().flat_map(|masks| masks.iter_mut());
        for mask in of_noise {
            mask.0.fill(7);
        }
        for attempt in &mut space.attempts {
            let rq = attempt.y.iter_mut().chain(&mut *attempt.w);
            for Rq(f) in rq.chain(&mut *attempt.w1).chain([&mut attempt.c]) {
                f.fill(7);
            }
            attempt.w1_encoded.fill(7);
            attempt.c_tilde.fill(7);
        }
        space.product.0.fill(7);
        for Tq(f) in space.y_hat.iter_mut().chain([&mut space.c_hat]) {
            f.fill(7);
        }
        space.challenge.fill_for_tests();
        check_wiped(space, |space| {
            let Space {
                masks: [even, odd],
                y_hat,
                attempts,
                challenge,
                c_hat,
                product,
            } = space;
            let mut parts = vec![
                part(space, "the masks of even attempts", even),
                part(space, "the masks of odd attempts", odd),
                part(space, "NTT(y)", y_hat),
                part(space, "the terms of c", challenge.terms()),
                part(space, "NTT(c)", c_hat),
                part(space, "ct₀", product),
            ];
            for attempt in attempts {
                // the first two are public
                let Attempt {
                    number: _,
                    stage: _,
                    y,
                    w,
                    w1,
                    w1_encoded,
                    c_tilde,
                    c,
                } = attempt;
                parts.extend([
                    part(space, "y", y),
                    part(space, "w", w),
                    part(space, "w₁", w1),
                    part(space, "w₁, encoded", w1_encoded),
                    part(space, "c̃", c_tilde),
                    part(space, "c", c),
                ]);
            }
            parts
        });
    }
}
