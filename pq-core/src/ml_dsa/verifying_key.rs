//! `VerifyingKey` and, with precomputed values, `ExpandedVerifyingKey`: both have the same functions that verify. The
//! algorithm is in `verification`.

use core::fmt;

use super::encoding::T1_LEN;
use super::message::MuHasher;
use super::params::ParameterSet;
use super::ring::{Matrix, Tq};
use super::sampling;
use super::signature::Signature;
use super::verification::Message;
use crate::Error;
use crate::arch::{Backend, choose, in_place};
use crate::context::Context;
use crate::dimension::{Array, Dimension, array};
use crate::hash::lanes;
use crate::hex::public_bytes;
use crate::prehash::{Digest, PreHash};
use crate::secret::Zero;

/// A verifying key: any bytes of the right length.
///
/// It has the size of its encoding. [Expand](Self::expand) a key that verifies many signatures.
#[derive(Clone)]
pub struct VerifyingKey<P: ParameterSet> {
    /// ρ ‖ SimpleBitPack(t₁)
    bytes: Array<P::VerifyingKeyLen, u8>,
}

impl<P: ParameterSet> VerifyingKey<P> {
    /// Reads a verifying key of
    /// [`P::VERIFYING_KEY_LEN`](ParameterSet::VERIFYING_KEY_LEN) bytes. (Its parts are taken apart,
    /// as by pkDecode, FIPS 204, algorithm 23, where they are used.)
    ///
    /// # Errors
    ///
    /// [`Error::WrongLength`].
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, Error> {
        array::<P::VerifyingKeyLen>(bytes).map(|bytes| Self { bytes })
    }

    /// The key as the standard encodes it (pkEncode, FIPS 204, algorithm 22).
    pub fn as_bytes(&self) -> &[u8] {
        self.bytes.as_ref()
    }

    /// The representative µ of `message` with `context`, for
    /// [`SigningKey::sign_mu`](super::SigningKey::sign_mu) and
    /// [`verify_mu`](Self::verify_mu) (external µ, FIPS 204, section 6.2).
    ///
    /// It is 64 bytes long, however long the message is, and needs no secret: so the message need
    /// not be sent to the place of the signing key.
    ///
    /// # Errors
    ///
    /// [`Error::ContextTooLong`] if `context` has more than 255 bytes.
    pub fn mu(&self, message: &[u8], context: &[u8]) -> Result<[u8; 64], Error> {
        let mut hasher = self.mu_hasher(context)?;
        hasher.update(message);
        Ok(hasher.finish())
    }

    /// Begins to compute the representative [µ](Self::mu) of a message that comes in pieces, for
    /// example a file that does not fit in memory.
    ///
    /// ```
    /// use pq_core::ml_dsa::{MlDsa65, SigningKey};
    ///
    /// # fn random<const N: usize>() -> [u8; N] { [7; N] }
    /// # let mut place = None;
    /// let signing_key = SigningKey::<MlDsa65>::from_seed_into(&random(), &mut place);
    /// let mut hasher = signing_key.verifying_key().mu_hasher(b"context")?;
    /// for piece in ["mess", "age"] {
    ///     hasher.update(piece.as_bytes());
    /// }
    /// let signature = signing_key.sign_mu(&hasher.finish(), &random());
    /// signing_key.verifying_key().verify(b"message", b"context", &signature)?;
    /// # Ok::<(), pq_core::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::ContextTooLong`] if `context` has more than 255 bytes.
    pub fn mu_hasher(&self, context: &[u8]) -> Result<MuHasher, Error> {
        let context = Context::new(context)?;
        Ok(MuHasher::new(self.as_bytes(), context))
    }

    /// Computes once the values that each verification would otherwise compute again.
    pub fn expand(&self) -> ExpandedVerifyingKey<P> {
        in_place(ExpandedVerifyingKey::zero, |key| {
            key.verifying_key.clone_from(self);
            P::expand(choose(), key);
        })
    }

    /// A key of zeros, to be written over.
    pub(super) fn zero() -> Self {
        Self {
            bytes: P::VerifyingKeyLen::from_fn(|_| 0),
        }
    }

    /// ρ, the seed of **Â**.
    pub(super) fn rho(&self) -> &[u8; 32] {
        rho(self.as_bytes())
    }

    /// The encoded key, to be written.
    pub(super) fn as_mut_bytes(&mut self) -> &mut [u8] {
        self.bytes.as_mut()
    }
}

/// ρ of an encoded key.
pub(super) fn rho(key: &[u8]) -> &[u8; 32] {
    key.first_chunk()
        .expect("a verifying key begins with the 32 bytes of ρ")
}

/// t̂₁ ← NTT(t₁ · 2^d), element `i`, of an encoded key.
pub(super) fn t1_hat<B: Backend>(b: B, key: &[u8], i: usize, output: &mut Tq) {
    output.decode_t1(b, &key[32 + T1_LEN * i..][..T1_LEN]);
}

public_bytes!(VerifyingKey);

/// A verifying key with precomputed values that don't depend on a signature.
///
/// It keeps the k by ℓ matrix **Â**, NTT(**t**₁ · 2^d) and H(pk), and takes 22, 38 and 67 KiB for
/// [`MlDsa44`](super::MlDsa44), [`MlDsa65`](super::MlDsa65) and [`MlDsa87`](super::MlDsa87): keep
/// it in a `Box` or an `Arc`.
#[derive(Clone)]
pub struct ExpandedVerifyingKey<P: ParameterSet> {
    verifying_key: VerifyingKey<P>,
    pub(super) matrix: Matrix<P>,
    pub(super) t1_hat: Array<P::K, Tq>,
    pub(super) tr: [u8; 64],
}

impl<P: ParameterSet> ExpandedVerifyingKey<P> {
    /// A key of zeros, whose parts are then written in their final place.
    fn zero() -> Self {
        Self {
            verifying_key: VerifyingKey::zero(),
            matrix: Matrix::zero(),
            t1_hat: P::K::from_fn(|_| Tq::ZERO),
            tr: [0; 64],
        }
    }

    /// Computes everything that follows from the verifying key in it.
    pub(super) fn complete<B: Backend>(b: B, key: &mut Self) {
        let encoded = key.verifying_key.as_bytes();
        let tr = sampling::tr(encoded, &mut key.tr);
        let entries = sampling::expand_a::<P, B>(b, rho(encoded), &mut key.matrix);
        lanes::run(b, [tr].into_iter().chain(entries));
        for (i, output) in key.t1_hat.as_mut().iter_mut().enumerate() {
            t1_hat(b, encoded, i, output);
        }
    }

    /// The key that this was made from.
    pub fn verifying_key(&self) -> &VerifyingKey<P> {
        &self.verifying_key
    }
}

impl<P: ParameterSet> fmt::Debug for ExpandedVerifyingKey<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("ExpandedVerifyingKey")
            .field(&self.verifying_key)
            .finish()
    }
}

macro_rules! verification_methods {
    ($key:ident) => {
        impl<P: ParameterSet> $key<P> {
            /// Verifies `signature` of `message` with `context` (ML-DSA.Verify, FIPS 204, algorithm 3).
            ///
            /// # Errors
            ///
            /// [`Error::InvalidSignature`]; [`Error::ContextTooLong`] if `context` has more
            /// than 255 bytes.
            pub fn verify(
                &self,
                message: &[u8],
                context: &[u8],
                signature: &Signature<P>,
            ) -> Result<(), Error> {
                let context = Context::new(context)?;
                let message = Message::Pure(context, message);
                valid(P::verify(choose(), self.into(), message, signature))
            }

            /// Hashes `message` and verifies `signature` of the digest with `context`
            /// (HashML-DSA.Verify, FIPS 204, algorithm 5).
            ///
            /// # Errors
            ///
            /// [`Error::InvalidSignature`]; [`Error::ContextTooLong`] if `context` has more
            /// than 255 bytes.
            pub fn hash_verify(
                &self,
                hash: PreHash,
                message: &[u8],
                context: &[u8],
                signature: &Signature<P>,
            ) -> Result<(), Error> {
                let context = Context::new(context)?;
                let b = choose();
                valid(context.hashed(&Digest::of(b, hash, message), |parts| {
                    P::verify(b, self.into(), Message::Formatted(parts), signature)
                }))
            }

            /// Verifies a signature of a digest that was computed elsewhere, as
            /// [`hash_verify`](Self::hash_verify) does after hashing.
            ///
            /// # Errors
            ///
            /// [`Error::InvalidSignature`]; [`Error::ContextTooLong`] if `context` has more than
            /// 255 bytes; [`Error::WrongLength`] if `digest` does not have the
            /// [length](PreHash::digest_len) of digests of `hash`.
            pub fn verify_digest(
                &self,
                hash: PreHash,
                digest: &[u8],
                context: &[u8],
                signature: &Signature<P>,
            ) -> Result<(), Error> {
                let context = Context::new(context)?;
                let digest = Digest::from_bytes(hash, digest)?;
                let b = choose();
                valid(context.hashed(&digest, |parts| {
                    P::verify(b, self.into(), Message::Formatted(parts), signature)
                }))
            }

            /// Verifies `signature` of the message with the representative `mu` (external µ, FIPS
            /// 204, section 6.3).
            ///
            /// # Errors
            ///
            /// [`Error::InvalidSignature`].
            pub fn verify_mu(&self, mu: &[u8; 64], signature: &Signature<P>) -> Result<(), Error> {
                let message = Message::Representative(mu);
                valid(P::verify(choose(), self.into(), message, signature))
            }
        }
    };
}

verification_methods!(VerifyingKey);
verification_methods!(ExpandedVerifyingKey);

pub(super) fn valid(valid: bool) -> Result<(), Error> {
    if valid {
        Ok(())
    } else {
        Err(Error::InvalidSignature)
    }
}

#[cfg(test)]
mod tests {
    use super::{Context, Digest, VerifyingKey, choose};
    use crate::Error;
    use crate::ml_dsa::{MlDsa44, MlDsa65, MlDsa87, ParameterSet, PreHash, Signature, SigningKey};

    const INVALID: Result<(), Error> = Err(Error::InvalidSignature);

    /// Every kind of signature verifies only with its own kind of verification, with a verifying
    /// key and with an expanded one.
    #[test]
    fn signatures_verify_as_they_were_made() {
        fn check<P: ParameterSet>() {
            let signing_key = SigningKey::<P>::from_seed(&[1; 32]);
            let key = VerifyingKey::<P>::from_bytes(signing_key.verifying_key().as_bytes());
            let key = key.unwrap();
            let expanded = key.expand();
            assert_eq!(*expanded.verifying_key(), key);
            let other = SigningKey::<P>::from_seed(&[2; 32]).verifying_key().clone();
            let (message, context) = (b"message", b"context");
            let mu = key.mu(message, context).unwrap();

            let hedged = signing_key.sign(message, context, &[3; 32]).unwrap();
            let deterministic = signing_key.sign_deterministic(message, context).unwrap();
            assert_ne!(hedged, deterministic);
            assert_eq!(hedged, signing_key.sign_mu(&mu, &[3; 32]));
            assert_eq!(deterministic, signing_key.sign_mu(&mu, &[0; 32]));
            for signature in [&hedged, &deterministic] {
                assert_eq!(key.verify(message, context, signature), Ok(()));
                assert_eq!(expanded.verify(message, context, signature), Ok(()));
                assert_eq!(key.verify_mu(&mu, signature), Ok(()));
                assert_eq!(expanded.verify_mu(&mu, signature), Ok(()));
                assert_eq!(key.verify(b"massage", context, signature), INVALID);
                assert_eq!(expanded.verify(b"massage", context, signature), INVALID);
                assert_eq!(key.verify(message, b"", signature), INVALID);
                // the same bytes, split differently
                assert_eq!(key.verify(b"tmessage", b"contex", signature), INVALID);
                assert_eq!(other.verify(message, context, signature), INVALID);
                assert_eq!(other.verify_mu(&mu, signature), INVALID);
            }

            for &hash in PreHash::ALL {
                // whatever the hash function: others may sign with weak ones
                let digest = Digest::of(choose(), hash, message);
                let signature = Context::new(context).unwrap().hashed(&digest, |parts| {
                    P::sign(choose(), &signing_key, parts, &[3; 32])
                });
                for &used in PreHash::ALL {
                    let expected = if used == hash { Ok(()) } else { INVALID };
                    assert_eq!(
                        key.hash_verify(used, message, context, &signature),
                        expected
                    );
                    assert_eq!(
                        expanded.hash_verify(used, message, context, &signature),
                        expected
                    );
                }
                assert_eq!(key.verify(message, context, &signature), INVALID);
                assert_eq!(key.hash_verify(hash, message, context, &hedged), INVALID);
            }
        }

        check::<MlDsa44>();
        check::<MlDsa65>();
        check::<MlDsa87>();
    }

    /// A change anywhere in a signature is found.
    #[test]
    fn tampered_signatures_are_invalid() {
        fn check<P: ParameterSet>() {
            let signing_key = SigningKey::<P>::from_seed(&[7; 32]);
            let key = signing_key.verifying_key().expand();
            let signature = signing_key.sign_deterministic(b"message", b"").unwrap();
            for position in 0..P::SIGNATURE_LEN {
                let mut tampered = [0; 4627];
                let tampered = &mut tampered[..P::SIGNATURE_LEN];
                tampered.copy_from_slice(signature.as_bytes());
                tampered[position] ^= 1 << (position % 8);
                let tampered = Signature::from_bytes(tampered).unwrap();
                assert_eq!(key.verify(b"message", b"", &tampered), INVALID);
            }
        }

        check::<MlDsa44>();
        check::<MlDsa65>();
        check::<MlDsa87>();
    }

    #[test]
    fn lengths_are_checked() {
        fn check<P: ParameterSet>() {
            let bytes = [0; 4628];
            for (expected, actual) in [
                (P::VERIFYING_KEY_LEN, 0),
                (P::VERIFYING_KEY_LEN, P::VERIFYING_KEY_LEN - 1),
                (P::VERIFYING_KEY_LEN, P::VERIFYING_KEY_LEN + 1),
            ] {
                assert_eq!(
                    VerifyingKey::<P>::from_bytes(&bytes[..actual]),
                    Err(Error::WrongLength { expected, actual })
                );
            }
            for actual in [0, P::SIGNATURE_LEN - 1, P::SIGNATURE_LEN + 1] {
                let expected = P::SIGNATURE_LEN;
                assert_eq!(
                    Signature::<P>::from_bytes(&bytes[..actual]),
                    Err(Error::WrongLength { expected, actual })
                );
            }
        }

        check::<MlDsa44>();
        check::<MlDsa65>();
        check::<MlDsa87>();
    }

    #[test]
    fn long_contexts_are_refused() {
        let signing_key = SigningKey::<MlDsa44>::from_seed(&[8; 32]);
        let key = signing_key.verifying_key();
        let context = [1; 256];
        let signature = signing_key.sign_deterministic(b"", &context[1..]).unwrap();
        assert_eq!(key.verify(b"", &context[1..], &signature), Ok(()));
        let too_long = Err(Error::ContextTooLong);
        assert_eq!(key.verify(b"", &context, &signature), too_long);
        assert_eq!(key.expand().verify(b"", &context, &signature), too_long);
        assert_eq!(key.mu(b"", &context), Err(Error::ContextTooLong));
        let hash = PreHash::Sha512;
        assert_eq!(key.hash_verify(hash, b"", &context, &signature), too_long);
    }
}
