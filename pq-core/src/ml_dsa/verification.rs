//! Verification (FIPS 204, algorithm 8).

use super::encoding::{MAX_W1_LEN, w1_len};
use super::message::representative;
use super::params::ParameterSet;
use super::ring::{Rq, Sums, Tq};
use super::sampling;
use super::signature::{Hints, Signature};
use crate::arch::Backend;
use crate::dimension::Dimension;
use crate::hash::sha3::{SHAKE_SUFFIX, SHAKE256_RATE, Sponge};
use crate::secret::Zero;

/// What was signed.
#[derive(Clone, Copy)]
pub(super) enum Message<'a> {
    /// M′, in parts.
    Formatted(&'a [&'a [u8]]),
    /// µ
    Representative(&'a [u8; 64]),
}

/// A verifying key that has the parts that verification needs, or computes them.
pub(super) trait Verifier<P: ParameterSet> {
    /// Calls `row(i, sums)` for each row i of **Â** ∘ ẑ − ĉ ∘ NTT(**t**₁ · 2^d), and
    /// puts H(pk) into `tr` if asked to.
    fn for_each_row<B: Backend>(
        &self,
        b: B,
        z_hat: &[Tq],
        minus_c_hat: &Tq,
        tr: Option<&mut [u8; 64]>,
        row: impl FnMut(usize, &Sums),
    );
}

/// ML-DSA.Verify_internal. Everything here is public.
#[must_use]
pub(super) fn verify<P: ParameterSet, B: Backend>(
    b: B,
    key: &impl Verifier<P>,
    message: Message<'_>,
    signature: &Signature<P>,
) -> bool {
    // 2: (c̃, z, h) ← sigDecode(σ)
    let (c_tilde, z_encoded, hints_encoded) = signature.parts();
    // 3-4
    let Some(hints) = Hints::decode::<P>(hints_encoded) else {
        return false;
    };
    let mut f = Rq::ZERO;
    let mut z_hat = P::L::from_fn(|_| Tq::ZERO);
    for (z_encoded, z_hat) in z_encoded.zip(z_hat.as_mut()) {
        f.decode_z::<P, B>(b, z_encoded);
        // 13: ‖z‖∞ < γ₁ − β
        if !f.below(b, P::GAMMA1 - P::BETA) {
            return false;
        }
        f.ntt(b, z_hat);
    }
    // 8: c ← SampleInBall(c̃), negated so that step 9 only adds
    sampling::sample_in_ball::<P, B>(b, c_tilde, &mut f);
    for x in &mut f.0 {
        *x = -*x;
    }
    let mut minus_c_hat = Tq::ZERO;
    f.ntt(b, &mut minus_c_hat);

    // 9: w′ ← NTT⁻¹(Â ∘ NTT(z) − NTT(c) ∘ NTT(t₁ · 2^d)); 10: w₁′ ← UseHint(h, w′)
    let mut w1_encoded = [[0; MAX_W1_LEN]; 8];
    let mut tr = [0; 64];
    let wanted = matches!(message, Message::Formatted(_)).then_some(&mut tr);
    key.for_each_row(b, z_hat.as_ref(), &minus_c_hat, wanted, |i, sums| {
        f.set_sums(b, sums);
        f.use_hint::<P, B>(b, hints.of(i));
        f.encode_w1::<P, B>(b, &mut w1_encoded[i][..w1_len::<P>()]);
    });
    // 7: µ ← H(tr ‖ M′, 64)
    let mu = match message {
        Message::Formatted(parts) => &representative(b, &tr, parts),
        Message::Representative(mu) => mu,
    };
    // 12: c̃′ ← H(µ ‖ w1Encode(w₁′), λ/4)
    let mut sponge = Sponge::new(b, SHAKE256_RATE);
    sponge.absorb(mu);
    for encoded in &w1_encoded[..P::K::N] {
        sponge.absorb(&encoded[..w1_len::<P>()]);
    }
    let mut c_tilde_again = [0; 64];
    let c_tilde_again = &mut c_tilde_again[..P::LAMBDA / 4];
    sponge.finish(SHAKE_SUFFIX);
    sponge.squeeze(c_tilde_again);
    // 13
    c_tilde == c_tilde_again
}
