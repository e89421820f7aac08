//! Signing (FIPS 204, algorithm 7), from µ on.
//!
//! # What the rejection of attempts shows
//!
//! How many attempts there were, and which check refused each, shows in the time taken, and so
//! does the first polynomial of its vector that the check found too large: those after it are
//! not looked at. c̃ of every attempt shows as well (SampleInBall branches and indexes by it).
//! Which coefficient of the polynomial was too large, how large, or of which sign, does not
//! show. This is public because:
//!
//! * Each coefficient of **z** is below its bound equally often for every key and whatever the
//!   others are, by construction: **y** is uniform over an interval around 0, c comes from a
//!   hash modelled as a random oracle, and |c**s**₁| ≤ β, so that every **z** within γ₁ − β has
//!   the same probability. Which coefficients are too large therefore says nothing of **s**₁,
//!   and an accepted **z** is uniform for the same reason.
//! * Given an accepted **z**, everything checked after it follows from **z**, c, **Â** and
//!   **t** (w − cs₂ = Az − ct), and the standard's security analysis takes all of **t** as
//!   public, **t**₀ included.
//! * That the same holds of the coefficients of **r**₀, even if **z** was not looked at (here
//!   **r**₀ is checked first), and that c̃ of a refused attempt says nothing, are not
//!   theorems but the accepted heuristics of Fiat–Shamir with aborts: **w**₀ is as good
//!   as uniform over its interval, coefficient by coefficient, and c̃ is a hash of **w**₁,
//!   which nobody can guess. The authors' reference implementation rests on the latter too
//!   (section 5.5 of the round-3 specification of CRYSTALS-Dilithium), and stops at the first
//!   coefficient that is too large.

use zeroize::{Zeroize, Zeroizing};

use super::encoding::{MAX_W1_ENCODED_LEN, w1_len, z_len};
use super::message::representative;
use super::params::ParameterSet;
use super::ring::{Challenge, Rq, Tq};
use super::sampling::{self, Masks};
use super::signature::{Signature, encode_hints};
use super::signing_key::SigningKey;
use crate::arch::{Backend, Vector, declassify};
use crate::dimension::Dimension;
use crate::hash::lanes::{self, lanes_beside};
use crate::hash::sha3::{SHAKE256_RATE, shake256};
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
/// An attempt succeeds with a probability of 1/5.1 to 1/3.85 (FIPS 204, table 1). The
/// standard allows a limit to the number of attempts (appendix C) and asks for none; here
/// the loop ends by itself. κ would repeat after 2¹⁶/ℓ attempts, which happens with a
/// probability below 2⁻⁴⁰⁰⁰.
pub(super) fn sign_mu<P: ParameterSet, B: Backend>(
    b: B,
    key: &SigningKey<P>,
    mu: &[u8; 64],
    rnd: &[u8; 32],
) -> Signature<P> {
    // 7: ρ″ ← H(K ‖ rnd ‖ µ, 64)
    let mut rho_2prime = Zeroizing::new([0; 64]);
    shake256(b, &[key.k(), rnd, mu], &mut *rho_2prime);
    let mut signature = Signature::zero();
    let mut attempt = Attempt::<P>::new();
    // 8
    let mut kappa = 0u16;
    // 11: y ← ExpandMask(ρ″, κ)
    lanes::run(b, attempt.masks.expand::<P, B>(&rho_2prime, kappa));
    loop {
        // 31
        kappa = kappa.wrapping_add(P::L::N as u16);
        // 10: public rejection, as the head of this file explains
        if attempt.run(b, key, mu, &rho_2prime, kappa, &mut signature) {
            return signature;
        }
        if !masks_ahead::<B>() {
            lanes::run(b, attempt.masks.expand::<P, B>(&rho_2prime, kappa));
        }
    }
}

/// Whether an attempt expands the mask of the next one, which may not come: in lanes that c̃
/// leaves free.
const fn masks_ahead<B: Backend>() -> bool {
    B::U64s::LANES > 1
}

/// What an attempt computes with; the next one writes it over, and it is wiped at
/// last.
#[repr(align(64))]
struct Attempt<P: ParameterSet> {
    /// What **y** is unpacked from, then that of the next attempt.
    masks: Masks,
    /// **y**, then **z**.
    y: Secret<P::L, Rq>,
    y_hat: Secret<P::L, Tq>,
    /// **w**, then its low part **w**₀, then **w**₀ − c**s**₂, then **h**.
    w: Secret<P::K, Rq>,
    /// **w**₁
    w1: Secret<P::K, Rq>,
    /// w1Encode(**w**₁)
    w1_encoded: [u8; MAX_W1_ENCODED_LEN],
    c: Rq,
    /// c, for products with **s**₁ and **s**₂.
    challenge: Challenge,
    /// ĉ, for products with **t**₀.
    c_hat: Tq,
    /// A product of c and **t**₀.
    product: Rq,
}

impl<P: ParameterSet> Attempt<P> {
    fn new() -> Self {
        Self {
            masks: Masks::ZERO,
            y: Secret::zero(),
            y_hat: Secret::zero(),
            w: Secret::zero(),
            w1: Secret::zero(),
            w1_encoded: [0; MAX_W1_ENCODED_LEN],
            c: Rq::ZERO,
            challenge: Challenge::ZERO,
            c_hat: Tq::ZERO,
            product: Rq::ZERO,
        }
    }

    /// Steps 11 to 30, and whether they gave a signature. If not, what is in
    /// `signature` must not be used. The next attempt is to begin with `next_kappa`.
    fn run<B: Backend>(
        &mut self,
        b: B,
        key: &SigningKey<P>,
        mu: &[u8; 64],
        rho_2prime: &[u8; 64],
        next_kappa: u16,
        signature: &mut Signature<P>,
    ) -> bool {
        let Self {
            masks,
            y,
            y_hat,
            w,
            w1,
            w1_encoded,
            c,
            challenge,
            c_hat,
            product,
        } = self;
        let (c_tilde, z_encoded, hints_encoded) = signature.parts_mut();

        // 11: y ← ExpandMask(ρ″, κ), the rest of it
        masks.decode::<P, B>(b, y);
        // 12: w ← NTT⁻¹(Â ∘ NTT(y)); 13: w₁ ← HighBits(w)
        for (y, y_hat) in y.iter().zip(y_hat.iter_mut()) {
            y.ntt(b, y_hat);
        }
        let w1_encoded = &mut w1_encoded[..P::K::N * w1_len::<P>()];
        let outputs = w1_encoded.chunks_exact_mut(w1_len::<P>());
        let rows = w.iter_mut().zip(w1.iter_mut()).zip(key.rows());
        for (((w, w1), row), output) in rows.zip(outputs) {
            w.set_inner_product(b, row, y_hat);
            w.decompose::<P, B>(b, w1);
            w1.encode_w1::<P, B>(b, output);
        }
        // 15: c̃ ← H(µ ‖ w1Encode(w₁)), and beside it step 11 of the next attempt
        let c_tilde_job = sampling::c_tilde(mu, w1_encoded, c_tilde);
        let next = masks_ahead::<B>().then(|| masks.expand::<P, B>(rho_2prime, next_kappa));
        let jobs = [c_tilde_job].into_iter().chain(next.into_iter().flatten());
        let chain = (mu.len() + P::K::N * w1_len::<P>()) / SHAKE256_RATE + 1;
        let blocks = z_len::<P>().div_ceil(SHAKE256_RATE);
        lanes::run_in(b, lanes_beside(b, chain, P::L::N, blocks), jobs);
        // public in refused attempts too, as the head of this file explains
        declassify(c_tilde);
        // 16: c ← SampleInBall(c̃)
        sampling::sample_in_ball::<P, B>(b, c_tilde, c);
        challenge.set(b, c);

        // 19: cs₂; 21: r₀ ← LowBits(w − cs₂), the more likely to be
        // refused and therefore the first to be checked.
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
        self.masks.zeroize();
        wipe(&mut self.w1_encoded);
        self.c.zeroize();
        self.challenge.zeroize();
        self.c_hat.zeroize();
        self.product.zeroize();
    }
}
