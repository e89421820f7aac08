//! The standard's internal algorithms (FIPS 203, section 6), for tests and for
//! validation.
//!
//! They are deterministic and take the backend to run on. Applications use
//! [`DecapsulationKey`] and [`EncapsulationKey`], which choose the best backend.

use subtle::{ConditionallySelectable, ConstantTimeEq};
use zeroize::Zeroizing;

use super::k_pke;
use super::keys::{Ciphertext, DecapsulationKey, EncapsulationKey, SharedSecret};
use super::params::ParameterSet;
use super::ring::Matrix;
use super::sampling::{self, G};
use crate::arch::Backend;
use crate::dimension::Dimension;
use crate::hash::lanes;
use crate::secret::wipe;

/// ML-KEM.KeyGen_internal (algorithm 16).
pub fn keygen<P: ParameterSet, B: Backend>(
    b: B,
    d: &[u8; 32],
    z: &[u8; 32],
) -> DecapsulationKey<P> {
    DecapsulationKey::from_seed_with(b, d, z)
}

/// ML-KEM.Encaps_internal (algorithm 17).
pub fn encaps<P: ParameterSet, B: Backend>(
    b: B,
    encapsulation_key: &EncapsulationKey<P>,
    m: &[u8; 32],
) -> (Ciphertext<P>, SharedSecret) {
    let ek = encapsulation_key;
    // H(ek) is the longest chain, so it starts first, and Â is sampled beside it.
    let mut h = [0; 32];
    let mut matrix = Matrix::<P>::zero();
    let hash = sampling::h(ek.as_bytes(), &mut h);
    let entries = sampling::matrix(b, ek.rho(), &mut matrix);
    lanes::run(b, [hash].into_iter().chain(entries));

    // 1: (K, r) ← G(m ‖ H(ek))
    let k_r = G::new(b, &[m, &h]);
    let [k, r] = k_r.halves();
    // 2: c ← K-PKE.Encrypt(ek, m, r)
    let mut c = P::CiphertextLen::from_fn(|_| 0);
    k_pke::encrypt(b, &matrix, &ek.t_hat, m, r, None, c.as_mut());
    (Ciphertext(c), SharedSecret(*k))
}

/// ML-KEM.Decaps_internal (algorithm 18).
pub fn decaps<P: ParameterSet, B: Backend>(
    b: B,
    decapsulation_key: &DecapsulationKey<P>,
    ciphertext: &Ciphertext<P>,
) -> SharedSecret {
    let DecapsulationKey {
        encapsulation_key: ek,
        matrix,
        h,
        s_hat,
        z,
        ..
    } = decapsulation_key;
    let c = ciphertext.as_bytes();
    // 5: m′ ← K-PKE.Decrypt(dkPKE, c)
    let mut m = Zeroizing::new([0; 32]);
    k_pke::decrypt::<P, B>(b, s_hat, c, &mut m);
    // 6: (K′, r′) ← G(m′ ‖ h)
    let k_r = G::new(b, &[&*m, h]);
    let [k, r] = k_r.halves();
    // 7-8: K̄ ← J(z ‖ c), beside c′ ← K-PKE.Encrypt(ekPKE, m′, r′)
    let mut rejected = Zeroizing::new([0; 32]);
    let mut c_again = P::CiphertextLen::from_fn(|_| 0);
    let j = sampling::j(z, c, &mut rejected);
    k_pke::encrypt(b, matrix, &ek.t_hat, &m, r, Some(j), c_again.as_mut());
    // 9-11: the choice is secret, and so is c′ where it differs
    let difference = c.iter().zip(c_again.as_ref());
    let difference = difference.fold(0, |difference, (c, again)| difference | (c ^ again));
    let accept = difference.ct_eq(&0u8);
    wipe(c_again.as_mut());
    let mut secret = SharedSecret([0; 32]);
    for ((chosen, k), rejected) in secret.0.iter_mut().zip(k).zip(&*rejected) {
        *chosen = u8::conditional_select(rejected, k, accept);
    }
    secret
}

#[cfg(test)]
mod tests {
    use super::{decaps, encaps, keygen};
    use crate::arch::{Backend, Portable, on_each_backend};
    use crate::ml_kem::{Ciphertext, MlKem512, MlKem768, MlKem1024, ParameterSet};

    /// Every backend does what the portable one does.
    #[test]
    fn backends_agree() {
        fn check<P: ParameterSet, B: Backend>(b: B) {
            for i in 0..20 {
                let (d, z, m) = ([i; 32], [i + 1; 32], [i + 2; 32]);
                let key = keygen::<P, _>(Portable, &d, &z);
                let same_key = keygen::<P, _>(b, &d, &z);
                assert_eq!(
                    *key.to_expanded().as_ref(),
                    *same_key.to_expanded().as_ref()
                );

                let (ciphertext, secret) = encaps(Portable, key.encapsulation_key(), &m);
                assert_eq!(
                    encaps(b, key.encapsulation_key(), &m),
                    (ciphertext.clone(), secret.clone())
                );
                assert_eq!(decaps(Portable, &key, &ciphertext), secret);
                assert_eq!(decaps(b, &key, &ciphertext), secret);

                let mut tampered = ciphertext;
                tampered.0.as_mut()[usize::from(i)] ^= 1;
                let tampered = Ciphertext::<P>::from_bytes(tampered.as_bytes()).unwrap();
                let rejected = decaps(Portable, &key, &tampered);
                assert_ne!(rejected, secret);
                assert_eq!(decaps(b, &key, &tampered), rejected);
            }
        }

        on_each_backend!(b => {
            check::<MlKem512, _>(b);
            check::<MlKem768, _>(b);
            check::<MlKem1024, _>(b);
        });
    }
}
