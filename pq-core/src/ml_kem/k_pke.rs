//! K-PKE, the public-key encryption scheme inside (FIPS 203, section 5).

use zeroize::{Zeroize, Zeroizing};

use super::params::{ETA2, ParameterSet};
use super::ring::{MatrixT, Multiplier, Rq, VectorR, VectorT, zero_matrix, zero_vector_r};
use super::sampling::{self, Sampling};
use crate::arch::Backend;
use crate::dimension::Dimension;
use crate::hash::lanes;

/// What key generation makes.
pub(super) struct KeyPair<P: ParameterSet> {
    pub(super) rho: [u8; 32],
    pub(super) matrix: MatrixT<P>,
    pub(super) s_hat: VectorT<P>,
    pub(super) t_hat: VectorT<P>,
}

/// K-PKE.KeyGen (algorithm 13).
pub(super) fn key_gen<P: ParameterSet, B: Backend>(b: B, d: &[u8; 32]) -> KeyPair<P> {
    // 1: (ρ, σ) ← G(d ‖ k)
    let (rho, sigma) = sampling::g(b, &[d, &[P::K::N as u8]]);

    // 3-15: Â, s and e, all sponges side by side
    let mut matrix = zero_matrix::<P>();
    let mut s = zero_vector_r::<P>();
    let mut e = zero_vector_r::<P>();
    let noise = s.as_mut().iter_mut().chain(e.as_mut()).zip(0..);
    let noise = noise.map(|(f, n)| sampling::noise(b, &sigma, n, P::ETA1, f));
    lanes::run(
        b,
        sampling::matrix::<B, P>(b, &rho, &mut matrix).chain(noise),
    );

    // 16-18: t̂ ← Â ∘ ŝ + ê
    let s = Multiplier::<P>::new(b, ntt::<P, B>(b, &mut s));
    let t_hat = P::K::from_fn(|i| {
        let row = matrix.as_ref()[i].as_ref();
        let mut e = e.as_mut()[i].take_ntt(b);
        let mut t = s.inner_product(b, |j| &row[j]);
        t.add(b, &e);
        e.zeroize();
        t
    });
    KeyPair {
        rho: *rho,
        matrix,
        s_hat: s.vector().clone(),
        t_hat,
    }
}

/// K-PKE.Encrypt (algorithm 14) with **Â** at hand, into the ciphertext `c`; runs
/// `beside` on the lanes that its own sampling leaves free.
pub(super) fn encrypt<'a, P: ParameterSet, B: Backend>(
    b: B,
    matrix: &MatrixT<P>,
    t_hat: &VectorT<P>,
    m: &[u8; 32],
    r: &'a [u8; 32],
    beside: Option<Sampling<'a, B>>,
    c: &mut [u8],
) {
    // 9-17: y, e₁ and e₂, all sponges side by side
    let mut y = zero_vector_r::<P>();
    let mut e1 = zero_vector_r::<P>();
    let mut e2 = Rq::ZERO;
    {
        let y = y.as_mut().iter_mut().map(|f| (f, P::ETA1));
        let e1 = e1.as_mut().iter_mut().map(|f| (f, ETA2));
        let noise = y.chain(e1).chain([(&mut e2, ETA2)]).zip(0..);
        let noise = noise.map(|((f, eta), n)| sampling::noise(b, r, n, eta, f));
        lanes::run(b, beside.into_iter().chain(noise));
    }

    // 18: ŷ ← NTT(y)
    let y = Multiplier::<P>::new(b, ntt::<P, B>(b, &mut y));
    let (c1, c2) = c.split_at_mut(32 * P::DU * P::K::N);
    // 19, 22: u ← NTT⁻¹(Âᵀ ∘ ŷ) + e₁
    let e1 = e1.as_mut().iter_mut();
    for (i, (e1, c1)) in e1.zip(c1.chunks_exact_mut(32 * P::DU)).enumerate() {
        let mut product = y.inner_product(b, |j| &matrix.as_ref()[j].as_ref()[i]);
        let mut u = product.take_inverse_ntt(b);
        u.add(e1);
        u.compress_encode(b, P::DU, c1);
        u.zeroize();
        e1.zeroize();
    }
    // 20-21, 23: v ← NTT⁻¹(t̂ᵀ ∘ ŷ) + e₂ + µ
    let mut product = y.inner_product(b, |j| &t_hat.as_ref()[j]);
    let mut v = product.take_inverse_ntt(b);
    let mut mu = Rq::decode_decompress(b, 1, m);
    v.add(&e2);
    v.add(&mu);
    v.compress_encode(b, P::DV, c2);
    v.zeroize();
    mu.zeroize();
    e2.zeroize();
}

/// K-PKE.Decrypt (algorithm 15) of the ciphertext `c`.
pub(super) fn decrypt<P: ParameterSet, B: Backend>(
    b: B,
    s_hat: &VectorT<P>,
    c: &[u8],
) -> Zeroizing<[u8; 32]> {
    let (c1, c2) = c.split_at(32 * P::DU * P::K::N);
    // 3: u′
    let mut u = zero_vector_r::<P>();
    let encoded = c1.chunks_exact(32 * P::DU);
    for (u, c1) in u.as_mut().iter_mut().zip(encoded) {
        *u = Rq::decode_decompress(b, P::DU, c1);
    }
    // 4, 6: w ← v′ − NTT⁻¹(ŝᵀ ∘ NTT(u′))
    let u = Multiplier::<P>::new(b, ntt::<P, B>(b, &mut u));
    let mut product = u.inner_product(b, |i| &s_hat.as_ref()[i]);
    let mut product = product.take_inverse_ntt(b);
    let mut w = Rq::decode_decompress(b, P::DV, c2);
    w.subtract(&product);
    // 7: m ← ByteEncode₁(Compress₁(w))
    let mut m = Zeroizing::new([0; 32]);
    w.compress_encode(b, 1, &mut *m);
    w.zeroize();
    product.zeroize();
    m
}

/// Whether **ŝ** belongs to **t̂**: whether **s** and **e** = **t** − **As** are as
/// small as key generation makes them.
///
/// In constant time but for the answer.
pub(super) fn is_consistent<P: ParameterSet, B: Backend>(
    b: B,
    matrix: &MatrixT<P>,
    s_hat: &VectorT<P>,
    t_hat: &VectorT<P>,
) -> bool {
    let multiplier = Multiplier::<P>::new(b, s_hat.clone());
    let mut consistent = true;
    for (i, row) in matrix.as_ref().iter().enumerate() {
        let mut product = multiplier.inner_product(b, |j| &row.as_ref()[j]);
        let mut a_s = product.take_inverse_ntt(b);
        let mut e = t_hat.as_ref()[i].clone().take_plain_inverse_ntt(b);
        let mut s = s_hat.as_ref()[i].clone().take_plain_inverse_ntt(b);
        e.subtract(&a_s);
        consistent &= e.is_small(b, P::ETA1) & s.is_small(b, P::ETA1);
        a_s.zeroize();
        e.zeroize();
        s.zeroize();
    }
    consistent
}

/// The transforms of `vector`, which leave zeros behind.
fn ntt<P: ParameterSet, B: Backend>(b: B, vector: &mut VectorR<P>) -> VectorT<P> {
    P::K::from_fn(|i| vector.as_mut()[i].take_ntt(b))
}
