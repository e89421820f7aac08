//! The standard's internal algorithms (FIPS 204, section 6), for tests and for
//! validation, with the feature `hazmat-internal`.
//!
//! **[`sign`] signs whatever bytes it gets**, without the separation of domains that keeps a signature
//! for one purpose from counting for another: the signature of M′ is also that of a message with a
//! context, or of a digest. An application must not offer it.
//!
//! They are deterministic, and take the formatted message M′ (in parts, which they concatenate) and
//! the backend to run on. Applications use [`SigningKey`] and [`VerifyingKey`], which format the
//! message and choose the best backend.

use super::params::ParameterSet;
use super::signature::Signature;
use super::signing::sign_in;
use super::signing_key::SigningKey;
use super::verification::Message;
use super::verifying_key::VerifyingKey;
use crate::arch::{Backend, InCrate};

/// ML-DSA.KeyGen_internal (algorithm 6).
pub fn keygen<P: ParameterSet, B: Backend>(b: B, xi: &[u8; 32]) -> SigningKey<P> {
    SigningKey::from_seed_with(b.choice(InCrate), xi)
}

/// ML-DSA.Sign_internal (algorithm 7).
pub fn sign<P: ParameterSet, B: Backend>(
    b: B,
    signing_key: &SigningKey<P>,
    message: &[&[u8]],
    rnd: &[u8; 32],
) -> Signature<P> {
    P::sign(b.choice(InCrate), signing_key, message, rnd)
}

/// ML-DSA.Sign_internal from µ on, in two attempts at once: as [`SigningKey::sign_mu`] signs where the CPU has AVX-512 at full
/// width, on any backend.
pub fn sign_mu_in_two_attempts<P: ParameterSet, B: Backend>(
    b: B,
    signing_key: &SigningKey<P>,
    mu: &[u8; 64],
    rnd: &[u8; 32],
) -> Signature<P> {
    sign_in::<P, B, 2>(b, signing_key, mu, rnd)
}

/// ML-DSA.Verify_internal (algorithm 8): whether the signature is valid.
#[must_use = "only the result tells whether the signature is valid"]
pub fn verify<P: ParameterSet, B: Backend>(
    b: B,
    verifying_key: &VerifyingKey<P>,
    message: &[&[u8]],
    signature: &Signature<P>,
) -> bool {
    let message = Message::Formatted(message);
    P::verify(b.choice(InCrate), verifying_key.into(), message, signature)
}

#[cfg(test)]
mod tests {
    use super::{keygen, sign, verify};
    use crate::arch::{Backend, Portable, on_each_backend};
    use crate::ml_dsa::{MlDsa44, MlDsa65, MlDsa87, ParameterSet, Signature};

    /// Every backend does what the portable one does.
    #[test]
    fn backends_agree() {
        fn check<P: ParameterSet, B: Backend>(b: B) {
            for i in 0..10 {
                let key = keygen::<P, _>(Portable, &[i; 32]);
                let same_key = keygen::<P, _>(b, &[i; 32]);
                assert_eq!(
                    *key.to_expanded().as_ref(),
                    *same_key.to_expanded().as_ref()
                );

                let message: [&[u8]; 3] = [&[i], b"", b"message"];
                let signature = sign(Portable, &key, &message, &[i; 32]);
                assert_eq!(sign(b, &key, &message, &[i; 32]), signature);
                assert!(verify(Portable, key.verifying_key(), &message, &signature));
                assert!(verify(b, key.verifying_key(), &message, &signature));

                for tampered_byte in [0, 100, P::SIGNATURE_LEN - 100, P::SIGNATURE_LEN - 1] {
                    let mut tampered = [0; 4627];
                    let tampered = &mut tampered[..P::SIGNATURE_LEN];
                    tampered.copy_from_slice(signature.as_bytes());
                    tampered[tampered_byte] ^= 1 << (i % 8);
                    let tampered = Signature::from_bytes(tampered).unwrap();
                    assert!(!verify(Portable, key.verifying_key(), &message, &tampered));
                    assert!(!verify(b, key.verifying_key(), &message, &tampered));
                }
            }
        }

        on_each_backend!(b => {
            check::<MlDsa44, _>(b);
            check::<MlDsa65, _>(b);
            check::<MlDsa87, _>(b);
        });
    }

    /// The split of a message into parts makes no difference.
    #[test]
    fn parts_are_joined() {
        let key = keygen::<MlDsa44, _>(Portable, &[1; 32]);
        let whole = sign(Portable, &key, &[b"message"], &[2; 32]);
        let parts = sign(Portable, &key, &[b"mess", b"", b"age"], &[2; 32]);
        assert_eq!(whole, parts);
        let verifying_key = key.verifying_key();
        assert!(verify(Portable, verifying_key, &[b"m", b"essage"], &whole));
        assert!(!verify(Portable, verifying_key, &[b"m", b"assage"], &whole));
    }
}
