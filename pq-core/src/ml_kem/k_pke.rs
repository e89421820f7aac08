//! K-PKE, the public-key encryption scheme inside (FIPS 203, section 5): what it does with
//! what is sampled. Its key generation is part of [`generation`](super::generation).

use zeroize::Zeroizing;

use super::params::ParameterSet;
use super::ring::{Matrix, Multiplier, Rq, Tq, VectorT};
use super::sampling::Noise;
use crate::arch::Backend;
use crate::dimension::Dimension;
use crate::secret::Zero;

/// K-PKE.Encrypt (algorithm 14) from step 18 on, with **Â** and the noise at hand, into the
/// ciphertext `c`. The noise is spent.
pub(super) fn encrypt<P: ParameterSet, B: Backend>(
    b: B,
    matrix: &Matrix<P>,
    t_hat: &[Tq],
    m: &[u8; 32],
    Noise { y, e1, e2 }: &mut Noise<P>,
    c: &mut [u8],
) {
    // 18: ŷ ← NTT(y)
    let mut y_hat = Multiplier::<P>::zero();
    for (i, y) in y.iter_mut().enumerate() {
        y_hat.set_ntt(b, i, y);
    }
    let (c1, c2) = c.split_at_mut(32 * P::DU * P::K::N);
    // 19, 22: u ← NTT⁻¹(Âᵀ ∘ ŷ) + e₁
    let mut u = Zeroizing::new(Rq::ZERO);
    let encoded = c1.chunks_exact_mut(32 * P::DU);
    for (i, (e1, c1)) in e1.iter().zip(encoded).enumerate() {
        u.set_product(b, &y_hat, |j| matrix.entry(j, i));
        u.add(b, e1);
        u.compress_encode(b, P::DU, c1);
    }
    // 20-21, 23: v ← NTT⁻¹(t̂ᵀ ∘ ŷ) + e₂ + µ
    let mut v = u;
    v.set_product(b, &y_hat, |j| &t_hat[j]);
    v.add(b, e2);
    let mu = e2;
    mu.decode_message(b, m);
    v.add(b, mu);
    v.compress_encode(b, P::DV, c2);
}

/// K-PKE.Decrypt (algorithm 15) of the ciphertext `c`, into `m`.
pub(super) fn decrypt<P: ParameterSet, B: Backend>(
    b: B,
    s_hat: &VectorT<P>,
    c: &[u8],
    m: &mut [u8; 32],
) {
    let (c1, c2) = c.split_at(32 * P::DU * P::K::N);
    // 3: u′; 6: NTT(u′)
    let mut w = Zeroizing::new(Rq::ZERO);
    let mut u_hat = Multiplier::<P>::zero();
    for (i, c1) in c1.chunks_exact(32 * P::DU).enumerate() {
        w.decode_decompress(b, P::DU, c1);
        u_hat.set_ntt(b, i, &mut w);
    }
    // 4, 6: w ← v′ − NTT⁻¹(ŝᵀ ∘ NTT(u′))
    let mut product = Zeroizing::new(Rq::ZERO);
    product.set_product(b, &u_hat, |i| &s_hat[i]);
    w.decode_decompress(b, P::DV, c2);
    w.subtract(b, &product);
    // 7: m ← ByteEncode₁(Compress₁(w))
    w.compress_encode(b, 1, m);
}

/// Whether **ŝ** belongs to **t̂**: whether **s** and **e** = **t** − **As** are as
/// small as key generation makes them.
///
/// In constant time but for the answer.
pub(super) fn is_consistent<P: ParameterSet, B: Backend>(
    b: B,
    matrix: &Matrix<P>,
    s_hat: &VectorT<P>,
    t_hat: &[Tq],
) -> bool {
    let multiplier = Multiplier::<P>::new(b, s_hat);
    let mut a_s = Zeroizing::new(Rq::ZERO);
    let mut f = Zeroizing::new(Rq::ZERO);
    let mut consistent = true;
    for (i, (s_hat, t_hat)) in s_hat.iter().zip(t_hat).enumerate() {
        a_s.set_product(b, &multiplier, |j| matrix.entry(i, j));
        f.set_inverse_ntt(b, t_hat);
        f.subtract(b, &a_s);
        consistent &= f.is_small(b, P::ETA1);
        f.set_inverse_ntt(b, s_hat);
        consistent &= f.is_small(b, P::ETA1);
    }
    consistent
}

#[cfg(test)]
mod tests {
    use super::{Multiplier, is_consistent};
    use crate::arch::{Backend, on_each_backend};
    use crate::dimension::Dimension;
    use crate::ml_kem::internal::keygen;
    use crate::ml_kem::ring::{Rq, Tq};
    use crate::ml_kem::{DecapsulationKey, MlKem512, MlKem768, MlKem1024, ParameterSet};
    use crate::secret::{Secret, Zero};

    /// One coefficient of **s** or **e** at the edges of what key generation makes.
    #[test]
    fn consistency_ends_at_eta() {
        fn check<P: ParameterSet, B: Backend>(b: B) {
            let eta = P::ETA1 as i16;
            for (i, c) in [(0, 0), (P::K::N - 1, 255)] {
                for (x, small) in [
                    (-eta - 1, false),
                    (-eta, true),
                    (eta, true),
                    (eta + 1, false),
                ] {
                    let key = keygen::<P, B>(b, &[1; 32], &[2; 32]);
                    let ek = &key.encapsulation_key;
                    // e: t̂ changes by the transform of a change to one coefficient
                    let change = x - error::<P, B>(b, &key, i)[c];
                    let mut t_hat = ek.t_hat.clone();
                    add(b, &mut t_hat[i], change, c);
                    assert_eq!(is_consistent(b, &key.matrix, &key.s_hat, &t_hat), small);

                    // s: and t̂ by Â times that, so that e stays
                    let mut s = Rq::ZERO;
                    s.set_inverse_ntt(b, &key.s_hat[i]);
                    let change = x - centred(s.0[c]);
                    let (mut s_hat, mut t_hat) = (key.s_hat.clone(), ek.t_hat.clone());
                    add(b, &mut s_hat[i], change, c);
                    let mut change_hat = Secret::<P::K, Tq>::zero();
                    add(b, &mut change_hat[i], change, c);
                    let multiplier = Multiplier::<P>::new(b, &change_hat);
                    for (row, t_hat) in t_hat.iter_mut().enumerate() {
                        let mut e = Rq::ZERO;
                        e.set_inverse_ntt(b, t_hat);
                        let entries = |j| key.matrix.entry(row, j);
                        t_hat.set_product_plus_ntt(b, &multiplier, entries, &mut e);
                    }
                    assert_eq!(is_consistent(b, &key.matrix, &s_hat, &t_hat), small);
                }
            }
        }

        /// Element i of **t** − **As**.
        fn error<P: ParameterSet, B: Backend>(
            b: B,
            key: &DecapsulationKey<P>,
            i: usize,
        ) -> [i16; 256] {
            let multiplier = Multiplier::<P>::new(b, &key.s_hat);
            let (mut a_s, mut e) = (Rq::ZERO, Rq::ZERO);
            a_s.set_product(b, &multiplier, |j| key.matrix.entry(i, j));
            e.set_inverse_ntt(b, &key.encapsulation_key.t_hat[i]);
            e.subtract(b, &a_s);
            e.0.map(centred)
        }

        /// f̂ ← f̂ + NTT(change · X^c)
        fn add<B: Backend>(b: B, f_hat: &mut Tq, change: i16, c: usize) {
            let (mut f, mut change_hat) = (Rq::ZERO, Tq::ZERO);
            f.0[c] = change;
            f.ntt(b, &mut change_hat);
            for (x, y) in f_hat.0.iter_mut().zip(&change_hat.0) {
                *x = (*x + y).rem_euclid(3329);
            }
        }

        fn centred(x: i16) -> i16 {
            (x + 1664).rem_euclid(3329) - 1664
        }

        on_each_backend!(b => {
            check::<MlKem512, _>(b);
            check::<MlKem768, _>(b);
            check::<MlKem1024, _>(b);
        });
    }
}
