//! pq-core's keys behind object-safe traits, so that the rest of the crate needs no
//! parameter set in its types.
//!
//! Private keys are made in the boxes that they stay in, and secrets are written through references:
//! a moved value leaves a copy behind.

use alloc::boxed::Box;
use alloc::sync::Arc;
use core::any::Any;

use pq_core::ml_dsa::{self, MuHasher};
use pq_core::ml_kem::{self, SHARED_SECRET_LEN};
use pq_core::slh_dsa;
use pq_core::{Dimension, Error};
use zeroize::Zeroizing;

/// What every private key can tell, whatever its purpose.
pub(crate) trait AnyPrivateKey: Send + Sync {
    /// `None` if the key came in its expanded form only.
    fn seed(&self) -> Option<&[u8]>;
    fn to_expanded(&self) -> Zeroizing<Vec<u8>>;
    /// The raw public key that belongs to this private key.
    fn public_key(&self) -> &[u8];
}

/// What a key of any algorithm signs. An ML-DSA key also signs µ, by a separate method.
pub(crate) type Message<'a> = slh_dsa::Message<'a>;

/// Hedges a signature. The algorithm takes as many of the first bytes as it needs. Without randomness,
/// signing is deterministic.
pub(crate) type Randomness<'a> = Option<&'a [u8; 32]>;

pub(crate) trait AnySigningKey: AnyPrivateKey {
    fn sign(
        &self,
        message: Message<'_>,
        context: &[u8],
        randomness: Randomness<'_>,
    ) -> Result<Vec<u8>, Error>;
    /// `None` if the algorithm has no µ.
    fn sign_mu(&self, mu: &[u8; 64], randomness: Randomness<'_>) -> Option<Vec<u8>>;
    /// What reading the key left unchecked because it takes long.
    fn check(&self) -> Result<(), Error>;
}

pub(crate) trait AnyVerifyingKey: Any + Send + Sync {
    fn as_bytes(&self) -> &[u8];
    fn verify(&self, message: Message<'_>, context: &[u8], signature: &[u8]) -> Result<(), Error>;
    /// `None` if the algorithm has no µ.
    fn verify_mu(&self, mu: &[u8; 64], signature: &[u8]) -> Option<Result<(), Error>>;
    /// `None` if the algorithm has no µ.
    fn mu_hasher(&self, context: &[u8]) -> Option<Result<MuHasher, Error>>;
    /// The key with precomputed values; `None` if there is nothing more to compute.
    fn expand(&self) -> Option<Arc<dyn AnyVerifyingKey>>;
}

pub(crate) trait AnyDecapsulationKey: AnyPrivateKey {
    fn decapsulate(
        &self,
        ciphertext: &[u8],
        secret: &mut [u8; SHARED_SECRET_LEN],
    ) -> Result<(), Error>;
}

pub(crate) trait AnyEncapsulationKey: Send + Sync {
    fn as_bytes(&self) -> &[u8];
    /// The ciphertext.
    fn encapsulate(&self, randomness: &[u8; 32], secret: &mut [u8; SHARED_SECRET_LEN]) -> Vec<u8>;
}

pub(crate) fn ml_dsa_from_seed<P: ml_dsa::ParameterSet>(
    seed: &[u8],
) -> Result<Box<dyn AnySigningKey>, Error> {
    Ok(ml_dsa::SigningKey::<P>::boxed_from_seed(fixed(seed)?))
}

pub(crate) fn ml_dsa_from_expanded<P: ml_dsa::ParameterSet>(
    bytes: &[u8],
) -> Result<Box<dyn AnySigningKey>, Error> {
    Ok(ml_dsa::SigningKey::<P>::boxed_from_expanded(bytes)?)
}

pub(crate) fn ml_dsa_verifying_key<P: ml_dsa::ParameterSet>(
    bytes: &[u8],
) -> Result<Arc<dyn AnyVerifyingKey>, Error> {
    Ok(Arc::new(ml_dsa::VerifyingKey::<P>::from_bytes(bytes)?))
}

#[cfg(feature = "slh-dsa")]
pub(crate) fn slh_dsa_from_seed<P: slh_dsa::ParameterSet>(
    bytes: &[u8],
) -> Result<Box<dyn AnySigningKey>, Error> {
    check_length(P::SeedLen::N, bytes)?;
    let mut seed = Zeroizing::new(P::SeedLen::from_fn(|_| 0));
    (*seed).as_mut().copy_from_slice(bytes);
    Ok(slh_dsa::SigningKey::<P>::boxed_from_seed(&seed))
}

#[cfg(feature = "slh-dsa")]
pub(crate) fn slh_dsa_from_bytes<P: slh_dsa::ParameterSet>(
    bytes: &[u8],
) -> Result<Box<dyn AnySigningKey>, Error> {
    Ok(slh_dsa::SigningKey::<P>::boxed_from_bytes(bytes)?)
}

#[cfg(feature = "slh-dsa")]
pub(crate) fn slh_dsa_verifying_key<P: slh_dsa::ParameterSet>(
    bytes: &[u8],
) -> Result<Arc<dyn AnyVerifyingKey>, Error> {
    Ok(Arc::new(slh_dsa::VerifyingKey::<P>::from_bytes(bytes)?))
}

pub(crate) fn decapsulation_key_from_seed<P: ml_kem::ParameterSet>(
    seed: &[u8],
) -> Result<Box<dyn AnyDecapsulationKey>, Error> {
    Ok(ml_kem::DecapsulationKey::<P>::boxed_from_seed(fixed(seed)?))
}

pub(crate) fn decapsulation_key_from_expanded<P: ml_kem::ParameterSet>(
    bytes: &[u8],
) -> Result<Box<dyn AnyDecapsulationKey>, Error> {
    Ok(ml_kem::DecapsulationKey::<P>::boxed_from_expanded(bytes)?)
}

pub(crate) fn encapsulation_key<P: ml_kem::ParameterSet>(
    bytes: &[u8],
) -> Result<Arc<dyn AnyEncapsulationKey>, Error> {
    Ok(Arc::new(ml_kem::EncapsulationKey::<P>::from_bytes(bytes)?))
}

impl<P: ml_dsa::ParameterSet> AnyPrivateKey for ml_dsa::SigningKey<P> {
    fn seed(&self) -> Option<&[u8]> {
        self.seed().map(<[u8; ml_dsa::SEED_LEN]>::as_slice)
    }

    fn to_expanded(&self) -> Zeroizing<Vec<u8>> {
        let mut bytes = Zeroizing::new(vec![0; P::SIGNING_KEY_LEN]);
        self.to_expanded_into(&mut bytes)
            .expect("the buffer has the length of the parameter set");
        bytes
    }

    fn public_key(&self) -> &[u8] {
        self.verifying_key().as_bytes()
    }
}

/// rnd of the deterministic variant of ML-DSA (FIPS 204, algorithm 2).
const NO_RANDOMNESS: [u8; 32] = [0; 32];

impl<P: ml_dsa::ParameterSet> AnySigningKey for ml_dsa::SigningKey<P> {
    fn sign(
        &self,
        message: Message<'_>,
        context: &[u8],
        randomness: Randomness<'_>,
    ) -> Result<Vec<u8>, Error> {
        let rnd = randomness.unwrap_or(&NO_RANDOMNESS);
        let signature = match message {
            Message::Pure(message) => self.sign(message, context, rnd),
            Message::Hashed(hash, message) => self.hash_sign(hash, message, context, rnd),
            Message::Digest(hash, digest) => self.sign_digest(hash, digest, context, rnd),
        }?;
        Ok(signature.as_bytes().to_vec())
    }

    fn sign_mu(&self, mu: &[u8; 64], randomness: Randomness<'_>) -> Option<Vec<u8>> {
        let signature = self.sign_mu(mu, randomness.unwrap_or(&NO_RANDOMNESS));
        Some(signature.as_bytes().to_vec())
    }

    fn check(&self) -> Result<(), Error> {
        Ok(())
    }
}

/// Verification by a plain key and by an expanded one. `plain` returns the plain key, and `expand` the
/// expanded one if there is more to compute.
macro_rules! ml_dsa_verification {
    ($key:ident, $plain:expr, $expand:expr) => {
        impl<P: ml_dsa::ParameterSet> AnyVerifyingKey for ml_dsa::$key<P> {
            fn as_bytes(&self) -> &[u8] {
                $plain(self).as_bytes()
            }

            fn verify(
                &self,
                message: Message<'_>,
                context: &[u8],
                signature: &[u8],
            ) -> Result<(), Error> {
                let signature = ml_dsa::Signature::<P>::from_bytes(signature)?;
                match message {
                    Message::Pure(message) => self.verify(message, context, &signature),
                    Message::Hashed(hash, message) => {
                        self.hash_verify(hash, message, context, &signature)
                    }
                    Message::Digest(hash, digest) => {
                        self.verify_digest(hash, digest, context, &signature)
                    }
                }
            }

            fn verify_mu(&self, mu: &[u8; 64], signature: &[u8]) -> Option<Result<(), Error>> {
                let signature = ml_dsa::Signature::<P>::from_bytes(signature);
                Some(signature.and_then(|signature| self.verify_mu(mu, &signature)))
            }

            fn mu_hasher(&self, context: &[u8]) -> Option<Result<MuHasher, Error>> {
                Some($plain(self).mu_hasher(context))
            }

            fn expand(&self) -> Option<Arc<dyn AnyVerifyingKey>> {
                $expand(self)
            }
        }
    };
}

ml_dsa_verification!(VerifyingKey, core::convert::identity, |key: &Self| Some(
    Arc::new(key.expand()) as Arc<dyn AnyVerifyingKey>
));
ml_dsa_verification!(ExpandedVerifyingKey, Self::verifying_key, |_| None);

impl<P: slh_dsa::ParameterSet> AnyPrivateKey for slh_dsa::SigningKey<P> {
    /// The bytes of the key before PK.root.
    fn seed(&self) -> Option<&[u8]> {
        Some(&self.as_bytes()[..P::SeedLen::N])
    }

    fn to_expanded(&self) -> Zeroizing<Vec<u8>> {
        Zeroizing::new(self.as_bytes().to_vec())
    }

    fn public_key(&self) -> &[u8] {
        self.verifying_key().as_bytes()
    }
}

impl<P: slh_dsa::ParameterSet> AnySigningKey for slh_dsa::SigningKey<P> {
    fn sign(
        &self,
        message: Message<'_>,
        context: &[u8],
        randomness: Randomness<'_>,
    ) -> Result<Vec<u8>, Error> {
        let mut addrnd = Zeroizing::new(P::N::from_fn(|_| 0));
        if let Some(randomness) = randomness {
            (*addrnd).as_mut().copy_from_slice(&randomness[..P::N::N]);
        }
        let addrnd = randomness.is_some().then_some(&*addrnd);
        let mut signature = vec![0; P::SIGNATURE_LEN];
        self.sign_into(message, context, addrnd, &|_| (), &mut signature)?;
        Ok(signature)
    }

    fn sign_mu(&self, _: &[u8; 64], _: Randomness<'_>) -> Option<Vec<u8>> {
        None
    }

    fn check(&self) -> Result<(), Error> {
        self.check()
    }
}

impl<P: slh_dsa::ParameterSet> AnyVerifyingKey for slh_dsa::VerifyingKey<P> {
    fn as_bytes(&self) -> &[u8] {
        self.as_bytes()
    }

    fn verify(&self, message: Message<'_>, context: &[u8], signature: &[u8]) -> Result<(), Error> {
        self.verify_bytes(message, context, signature)
    }

    fn verify_mu(&self, _: &[u8; 64], _: &[u8]) -> Option<Result<(), Error>> {
        None
    }

    fn mu_hasher(&self, _: &[u8]) -> Option<Result<MuHasher, Error>> {
        None
    }

    fn expand(&self) -> Option<Arc<dyn AnyVerifyingKey>> {
        None
    }
}

impl<P: ml_kem::ParameterSet> AnyPrivateKey for ml_kem::DecapsulationKey<P> {
    fn seed(&self) -> Option<&[u8]> {
        self.seed().map(<[u8; ml_kem::SEED_LEN]>::as_slice)
    }

    fn to_expanded(&self) -> Zeroizing<Vec<u8>> {
        let mut bytes = Zeroizing::new(vec![0; P::DECAPSULATION_KEY_LEN]);
        self.to_expanded_into(&mut bytes)
            .expect("the buffer has the length of the parameter set");
        bytes
    }

    fn public_key(&self) -> &[u8] {
        self.encapsulation_key().as_bytes()
    }
}

impl<P: ml_kem::ParameterSet> AnyDecapsulationKey for ml_kem::DecapsulationKey<P> {
    fn decapsulate(
        &self,
        ciphertext: &[u8],
        secret: &mut [u8; SHARED_SECRET_LEN],
    ) -> Result<(), Error> {
        self.decapsulate_into(ciphertext, secret)
    }
}

impl<P: ml_kem::ParameterSet> AnyEncapsulationKey for ml_kem::EncapsulationKey<P> {
    fn as_bytes(&self) -> &[u8] {
        self.as_bytes()
    }

    fn encapsulate(&self, randomness: &[u8; 32], secret: &mut [u8; SHARED_SECRET_LEN]) -> Vec<u8> {
        let mut ciphertext = vec![0; P::CIPHERTEXT_LEN];
        self.encapsulate_into(randomness, &mut ciphertext, secret)
            .expect("the buffer has the length of the parameter set");
        ciphertext
    }
}

#[cfg(feature = "slh-dsa")]
fn check_length(expected: usize, bytes: &[u8]) -> Result<(), Error> {
    match bytes.len() {
        actual if actual == expected => Ok(()),
        actual => Err(Error::WrongLength { expected, actual }),
    }
}

fn fixed<const N: usize>(bytes: &[u8]) -> Result<&[u8; N], Error> {
    bytes.try_into().map_err(|_| Error::WrongLength {
        expected: N,
        actual: bytes.len(),
    })
}
