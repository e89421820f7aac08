//! pq-core itself: as users call it, and on one named backend.

use core::marker::PhantomData;

use pq_core::arch::{Backend, Portable};
use pq_core::{ml_dsa, ml_kem};

use super::{Dsa, DsaKey, Implementation, Input, Kem, KemKey};

/// The public API, which chooses the backend.
pub(super) struct Public<P>(PhantomData<P>);

impl<P> Public<P> {
    pub(super) fn new() -> Self {
        Self(PhantomData)
    }
}

impl<P> Implementation for Public<P> {
    fn name(&self) -> &'static str {
        "pq-core's public API"
    }
}

impl<P: ml_kem::ParameterSet> Kem for Public<P> {
    fn generate(&self, seed: &[u8; 64]) -> Box<dyn KemKey> {
        Box::new(ml_kem::DecapsulationKey::<P>::from_seed(seed))
    }

    fn import(&self, dk: &[u8]) -> Box<dyn KemKey> {
        Box::new(ml_kem::DecapsulationKey::<P>::from_expanded(dk).expect("a valid key"))
    }

    fn encapsulate(&self, ek: &[u8], m: &[u8; 32]) -> (Vec<u8>, [u8; 32]) {
        let ek = ml_kem::EncapsulationKey::<P>::from_bytes(ek).expect("a valid key");
        let (ciphertext, secret) = ek.encapsulate(m);
        (ciphertext.as_bytes().to_vec(), *secret.as_bytes())
    }
}

impl<P: ml_kem::ParameterSet> KemKey for ml_kem::DecapsulationKey<P> {
    fn encapsulation_key(&self) -> Vec<u8> {
        self.encapsulation_key().as_bytes().to_vec()
    }

    fn expanded(&self) -> Vec<u8> {
        self.to_expanded().as_ref().to_vec()
    }

    fn decapsulate(&self, ciphertext: &[u8]) -> [u8; 32] {
        let ciphertext = ml_kem::Ciphertext::from_bytes(ciphertext).expect("of the right length");
        *self.decapsulate(&ciphertext).as_bytes()
    }
}

impl<P: ml_dsa::ParameterSet> Dsa for Public<P> {
    fn generate(&self, xi: &[u8; 32]) -> Box<dyn DsaKey> {
        Box::new(ml_dsa::SigningKey::<P>::from_seed(xi))
    }

    fn import(&self, sk: &[u8]) -> Option<Box<dyn DsaKey>> {
        let key = ml_dsa::SigningKey::<P>::from_expanded(sk).expect("a valid key");
        Some(Box::new(key))
    }

    fn verify(&self, verifying_key: &[u8], input: &Input<'_>, signature: &[u8]) -> Option<bool> {
        let key =
            ml_dsa::VerifyingKey::<P>::from_bytes(verifying_key).expect("of the right length");
        let signature = ml_dsa::Signature::from_bytes(signature).expect("of the right length");
        let verdict = match *input {
            Input::Pure { message, context } => key.verify(message, context, &signature),
            Input::PreHash {
                hash,
                message,
                context,
            } => key.hash_verify(hash.pre_hash, message, context, &signature),
            Input::Mu(mu) => key.verify_mu(mu, &signature),
        };
        match verdict {
            Ok(()) => Some(true),
            Err(pq_core::Error::InvalidSignature) => Some(false),
            Err(error) => panic!("verification failed with {error:?}"),
        }
    }
}

impl<P: ml_dsa::ParameterSet> DsaKey for ml_dsa::SigningKey<P> {
    fn verifying_key(&self) -> Vec<u8> {
        self.verifying_key().as_bytes().to_vec()
    }

    fn expanded(&self) -> Vec<u8> {
        self.to_expanded().as_ref().to_vec()
    }

    fn sign(&self, input: &Input<'_>, rnd: &[u8; 32]) -> Option<Vec<u8>> {
        let signature = match *input {
            Input::Pure { message, context } if *rnd == [0; 32] => {
                self.sign_deterministic(message, context)
            }
            Input::Pure { message, context } => self.sign(message, context, rnd),
            Input::PreHash {
                hash,
                message,
                context,
            } if hash.is_signed_with(P::LAMBDA) => {
                self.hash_sign(hash.pre_hash, message, context, rnd)
            }
            // others sign weak digests too
            Input::PreHash {
                hash,
                message,
                context,
            } => {
                let m = hash.message_representative(message, context);
                Ok(ml_dsa::internal::sign(Portable, self, &[&m], rnd))
            }
            Input::Mu(mu) => Ok(self.sign_mu(mu, rnd)),
        };
        Some(signature.expect("a short context").as_bytes().to_vec())
    }
}

/// The standards' internal algorithms on one backend.
pub(super) struct OnBackend<P, B> {
    backend: B,
    parameter_set: PhantomData<P>,
}

impl<P, B: Backend> OnBackend<P, B> {
    pub(super) fn new(backend: B) -> Self {
        Self {
            backend,
            parameter_set: PhantomData,
        }
    }
}

impl<P, B: Backend> Implementation for OnBackend<P, B> {
    fn name(&self) -> &'static str {
        B::NAME
    }
}

struct KeyOnBackend<K, B> {
    key: K,
    backend: B,
}

impl<P: ml_kem::ParameterSet, B: Backend> Kem for OnBackend<P, B> {
    fn generate(&self, seed: &[u8; 64]) -> Box<dyn KemKey> {
        let (d, z) = seed.split_first_chunk::<32>().expect("64 bytes");
        let z = z.try_into().expect("32 bytes");
        Box::new(KeyOnBackend {
            key: ml_kem::internal::keygen::<P, B>(self.backend, d, z),
            backend: self.backend,
        })
    }

    fn import(&self, dk: &[u8]) -> Box<dyn KemKey> {
        Box::new(KeyOnBackend {
            key: ml_kem::DecapsulationKey::<P>::from_expanded(dk).expect("a valid key"),
            backend: self.backend,
        })
    }

    fn encapsulate(&self, ek: &[u8], m: &[u8; 32]) -> (Vec<u8>, [u8; 32]) {
        let ek = ml_kem::EncapsulationKey::<P>::from_bytes(ek).expect("a valid key");
        let (ciphertext, secret) = ml_kem::internal::encaps(self.backend, &ek, m);
        (ciphertext.as_bytes().to_vec(), *secret.as_bytes())
    }
}

impl<P: ml_kem::ParameterSet, B: Backend> KemKey for KeyOnBackend<ml_kem::DecapsulationKey<P>, B> {
    fn encapsulation_key(&self) -> Vec<u8> {
        KemKey::encapsulation_key(&self.key)
    }

    fn expanded(&self) -> Vec<u8> {
        KemKey::expanded(&self.key)
    }

    fn decapsulate(&self, ciphertext: &[u8]) -> [u8; 32] {
        let ciphertext = ml_kem::Ciphertext::from_bytes(ciphertext).expect("of the right length");
        *ml_kem::internal::decaps(self.backend, &self.key, &ciphertext).as_bytes()
    }
}

impl<P: ml_dsa::ParameterSet, B: Backend> Dsa for OnBackend<P, B> {
    fn generate(&self, xi: &[u8; 32]) -> Box<dyn DsaKey> {
        Box::new(KeyOnBackend {
            key: ml_dsa::internal::keygen::<P, B>(self.backend, xi),
            backend: self.backend,
        })
    }

    fn import(&self, sk: &[u8]) -> Option<Box<dyn DsaKey>> {
        Some(Box::new(KeyOnBackend {
            key: ml_dsa::SigningKey::<P>::from_expanded(sk).expect("a valid key"),
            backend: self.backend,
        }))
    }

    fn verify(&self, verifying_key: &[u8], input: &Input<'_>, signature: &[u8]) -> Option<bool> {
        let m = input.message_representative()?;
        let key =
            ml_dsa::VerifyingKey::<P>::from_bytes(verifying_key).expect("of the right length");
        let signature = ml_dsa::Signature::from_bytes(signature).expect("of the right length");
        Some(ml_dsa::internal::verify(
            self.backend,
            &key,
            &[&m],
            &signature,
        ))
    }
}

impl<P: ml_dsa::ParameterSet, B: Backend> DsaKey for KeyOnBackend<ml_dsa::SigningKey<P>, B> {
    fn verifying_key(&self) -> Vec<u8> {
        DsaKey::verifying_key(&self.key)
    }

    fn expanded(&self) -> Vec<u8> {
        DsaKey::expanded(&self.key)
    }

    fn sign(&self, input: &Input<'_>, rnd: &[u8; 32]) -> Option<Vec<u8>> {
        let m = input.message_representative()?;
        let signature = ml_dsa::internal::sign(self.backend, &self.key, &[&m], rnd);
        Some(signature.as_bytes().to_vec())
    }
}
