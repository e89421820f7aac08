//! The standard's internal algorithms (FIPS 203, section 6), for tests and for
//! validation, with the feature `hazmat-internal`. FIPS 203 lets applications have none of them
//! (section 3.3).
//!
//! They are deterministic and take the backend to run on. Applications use
//! [`DecapsulationKey`] and [`EncapsulationKey`], which choose the best backend.

use super::ciphertext::Ciphertext;
use super::keys::{DecapsulationKey, EncapsulationKey};
use super::params::ParameterSet;
use super::shared_secret::SharedSecret;
use crate::arch::{Backend, InCrate};

/// ML-KEM.KeyGen_internal (algorithm 16).
pub fn keygen<P: ParameterSet, B: Backend>(
    b: B,
    d: &[u8; 32],
    z: &[u8; 32],
) -> DecapsulationKey<P> {
    DecapsulationKey::from_seed_with(b.choice(InCrate), d, z)
}

/// ML-KEM.Encaps_internal (algorithm 17).
pub fn encaps<P: ParameterSet, B: Backend>(
    b: B,
    encapsulation_key: &EncapsulationKey<P>,
    m: &[u8; 32],
) -> (Ciphertext<P>, SharedSecret) {
    encapsulation_key.encapsulate_with(b.choice(InCrate), m)
}

/// ML-KEM.Decaps_internal (algorithm 18).
pub fn decaps<P: ParameterSet, B: Backend>(
    b: B,
    decapsulation_key: &DecapsulationKey<P>,
    ciphertext: &Ciphertext<P>,
) -> SharedSecret {
    decapsulation_key.decapsulate_with(b.choice(InCrate), ciphertext)
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
