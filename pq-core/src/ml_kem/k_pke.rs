//! K-PKE, the public-key encryption scheme inside ML-KEM (FIPS 203, section 5): the steps after
//! sampling. Its key generation is part of [`generation`](super::generation).

use core::ops::Range;

use zeroize::Zeroizing;

use super::params::ParameterSet;
use super::ring::{Matrix, Multiplier, Rq, Tq, zero_t};
use super::sampling::Noise;
use crate::arch::Backend;
use crate::dimension::Dimension;
use crate::secret::Zero;

/// K-PKE.Encrypt (algorithm 14) from step 18 on; **Â** and the noise are ready. Overwrites the
/// noise.
///
/// Calls `output(f, d, range)` for each polynomial f, |x| ≤ 4q; ByteEncode_d(Compress_d(f)) belongs
/// in that range of the ciphertext.
///
/// A separate function: inlined beside the lanes, it would leave them too few general registers.
#[inline(never)]
pub(super) fn encrypt<P: ParameterSet, B: Backend>(
    b: B,
    matrix: &Matrix<P>,
    t_hat: &[Tq],
    m: &[u8; 32],
    Noise { y, e1, e2 }: &mut Noise<P>,
    mut output: impl FnMut(&Rq, usize, Range<usize>),
) {
    // 18: ŷ ← NTT(y)
    let mut y_hat = Multiplier::<P>::zero();
    for (i, y) in y.iter_mut().enumerate() {
        y_hat.set_ntt(b, i, y);
    }
    // reuses the place of y
    let f = &mut y[0];
    // 19, 22: u ← NTT⁻¹(Âᵀ ∘ ŷ) + e₁
    let len = 32 * P::DU;
    for (i, e1) in e1.iter().enumerate() {
        f.set_product(b, &y_hat, matrix.column(i));
        f.add(b, e1);
        output(f, P::DU, len * i..len * (i + 1));
    }
    // 20-21, 23: v ← NTT⁻¹(t̂ᵀ ∘ ŷ) + e₂ + µ
    f.set_product(b, &y_hat, t_hat);
    f.add(b, e2);
    let mu = e2;
    mu.decode_message(b, m);
    f.add(b, mu);
    output(f, P::DV, len * P::K::N..P::CIPHERTEXT_LEN);
}

/// K-PKE.Decrypt (algorithm 15) of the ciphertext `c`, into `m`. Uses the memory of some noise,
/// which is sampled later.
pub(super) fn decrypt<P: ParameterSet, B: Backend>(
    b: B,
    s_hat: &Multiplier<P>,
    c: &[u8],
    Noise { e1, e2: w, .. }: &mut Noise<P>,
    m: &mut [u8; 32],
) {
    let (c1, c2) = c.split_at(32 * P::DU * P::K::N);
    // 3: u′; 6: NTT(u′), which is public
    let mut u_hat = zero_t::<P>();
    let u_hat = u_hat.as_mut();
    for (u_hat, c1) in u_hat.iter_mut().zip(c1.chunks_exact(32 * P::DU)) {
        u_hat.set_ntt_of_compressed(b, P::DU, c1);
    }
    let u_hat = &*u_hat;
    // 4, 6: w ← v′ − NTT⁻¹(ŝᵀ ∘ NTT(u′))
    let product = &mut e1[0];
    product.set_product(b, s_hat, u_hat);
    w.decode_decompress(b, P::DV, c2);
    w.subtract(b, product);
    // 7: m ← ByteEncode₁(Compress₁(w))
    w.compress_encode(b, 1, m);
}

/// Whether **ŝ** belongs to **t̂**: whether **s** and **e** = **t** − **As** are as small as key
/// generation makes them.
///
/// Constant time; only the answer becomes public.
pub(super) fn is_consistent<P: ParameterSet, B: Backend>(
    b: B,
    matrix: &Matrix<P>,
    s_hat: &Multiplier<P>,
    t_hat: &[Tq],
) -> bool {
    let mut a_s = Zeroizing::new(Rq::ZERO);
    let mut f = Zeroizing::new(Rq::ZERO);
    let mut s_hat_i = Zeroizing::new(Tq::ZERO);
    let mut consistent = true;
    for (i, t_hat) in t_hat.iter().enumerate() {
        a_s.set_product(b, s_hat, matrix.row(i));
        f.set_inverse_ntt(b, t_hat);
        f.subtract(b, &a_s);
        consistent &= f.is_small(b, P::ETA1);
        s_hat.element(i, &mut s_hat_i);
        f.set_inverse_ntt(b, &s_hat_i);
        consistent &= f.is_small(b, P::ETA1);
    }
    consistent
}

#[cfg(test)]
mod tests {
    use super::{Multiplier, is_consistent};
    use crate::arch::{Backend, on_each_backend};
    use crate::dimension::Dimension;
    use crate::kernel::ntt::{Ntt, Q3329};
    use crate::ml_kem::internal::keygen;
    use crate::ml_kem::ring::{Rq, Tq};
    use crate::ml_kem::{DecapsulationKey, MlKem512, MlKem768, MlKem1024, ParameterSet};
    use crate::secret::Zero;

    /// One coefficient of **s** or **e** at the edges of the range that key generation makes.
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
                    // for e, t̂ changes by the transform of a change to one coefficient
                    let change = x - error::<P, B>(b, &key, i)[c];
                    let mut t_hat = ek.t_hat.clone();
                    add(b, &mut t_hat.as_mut()[i], change, c);
                    let t_hat = t_hat.as_ref();
                    assert_eq!(is_consistent(b, &key.matrix, &key.s_hat, t_hat), small);

                    // for s, t̂ also changes by Â times that, so that e stays the same
                    let (mut s, mut s_hat_i) = (Rq::ZERO, Tq::ZERO);
                    key.s_hat.element(i, &mut s_hat_i);
                    s.set_inverse_ntt(b, &s_hat_i);
                    let change = x - centred(s.0[c]);
                    let (mut s_hat, mut t_hat) = (Multiplier::zero(), ek.t_hat.clone());
                    s_hat.copy_from(&key.s_hat);
                    add(b, &mut s_hat_i, change, c);
                    s_hat.set(b, i, &s_hat_i);
                    let mut change_hat = Tq::ZERO;
                    add(b, &mut change_hat, change, c);
                    let mut multiplier = Multiplier::<P>::zero();
                    multiplier.set(b, i, &change_hat);
                    let t_hat = t_hat.as_mut();
                    for (row, t_hat) in t_hat.iter_mut().enumerate() {
                        let mut e = Rq::ZERO;
                        e.set_inverse_ntt(b, t_hat);
                        let entries = key.matrix.row(row);
                        t_hat.set_product_plus_ntt(b, &multiplier, entries, &mut e);
                    }
                    assert_eq!(is_consistent(b, &key.matrix, &s_hat, t_hat), small);
                }
            }
        }

        /// Element i of **t** − **As**.
        fn error<P: ParameterSet, B: Backend>(
            b: B,
            key: &DecapsulationKey<P>,
            i: usize,
        ) -> [i16; 256] {
            let (mut a_s, mut e) = (Rq::ZERO, Rq::ZERO);
            a_s.set_product(b, &key.s_hat, key.matrix.row(i));
            e.set_inverse_ntt(b, &key.encapsulation_key.t_hat.as_ref()[i]);
            e.subtract(b, &a_s);
            e.0.map(centred)
        }

        /// f̂ ← f̂ + NTT(change · X^c)
        fn add<B: Backend>(b: B, f_hat: &mut Tq, change: i16, c: usize) {
            let mut change_hat = Tq::ZERO;
            change_hat.0[c] = change;
            b.run(Ntt::<Q3329>(&mut change_hat.0));
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
