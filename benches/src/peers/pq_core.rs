//! pq-core's public operations on a named backend. Each call first hides the better backends, which costs
//! one store.

use core::marker::PhantomData;

use pq_core::arch::{Backend, limit};
use pq_core::{Dimension, ml_dsa, ml_kem, slh_dsa};

use crate::schemes::ml_dsa::Dsa;
use crate::schemes::ml_kem::Kem;
use crate::schemes::slh_dsa::Slh;

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

impl<P: ml_kem::ParameterSet, B: Backend> Kem for OnBackend<P, B> {
    type Key = ml_kem::DecapsulationKey<P>;

    fn name(&self) -> String {
        name::<B>()
    }

    fn generate(&self, seed: &[u8; 64], encapsulation_key: &mut [u8]) -> Self::Key {
        limit(self.backend);
        let key = ml_kem::DecapsulationKey::from_seed(seed);
        encapsulation_key.copy_from_slice(key.encapsulation_key().as_bytes());
        key
    }

    fn load(&self, seed: &[u8; 64], _: &[u8]) -> Self::Key {
        ml_kem::DecapsulationKey::from_seed(seed)
    }

    fn encapsulate(
        &self,
        encapsulation_key: &[u8],
        m: &[u8; 32],
        ciphertext: &mut [u8],
    ) -> Option<[u8; 32]> {
        limit(self.backend);
        let key = ml_kem::EncapsulationKey::<P>::from_bytes(encapsulation_key).ok()?;
        let (encapsulated, secret) = key.encapsulate(m);
        ciphertext.copy_from_slice(encapsulated.as_bytes());
        Some(*secret.as_bytes())
    }

    fn decapsulate(&self, key: &Self::Key, ciphertext: &[u8]) -> [u8; 32] {
        limit(self.backend);
        let ciphertext = ml_kem::Ciphertext::from_bytes(ciphertext).expect("of the right length");
        *key.decapsulate(&ciphertext).as_bytes()
    }
}

impl<P: ml_dsa::ParameterSet, B: Backend> Dsa for OnBackend<P, B> {
    type SigningKey = ml_dsa::SigningKey<P>;
    type VerifyingKey = ml_dsa::ExpandedVerifyingKey<P>;

    fn name(&self) -> String {
        name::<B>()
    }

    fn generate(&self, xi: &[u8; 32], verifying_key: &mut [u8]) -> Self::SigningKey {
        limit(self.backend);
        let key = ml_dsa::SigningKey::from_seed(xi);
        verifying_key.copy_from_slice(key.verifying_key().as_bytes());
        key
    }

    fn load(&self, xi: &[u8; 32], _: &[u8]) -> Self::SigningKey {
        ml_dsa::SigningKey::from_seed(xi)
    }

    fn sign(&self, key: &Self::SigningKey, message: &[u8], rnd: &[u8; 32], signature: &mut [u8]) {
        limit(self.backend);
        let made = key.sign(message, b"", rnd).expect("a short context");
        signature.copy_from_slice(made.as_bytes());
    }

    fn verify(&self, verifying_key: &[u8], message: &[u8], signature: &[u8]) -> bool {
        limit(self.backend);
        let key =
            ml_dsa::VerifyingKey::<P>::from_bytes(verifying_key).expect("of the right length");
        let signature = ml_dsa::Signature::from_bytes(signature).expect("of the right length");
        key.verify(message, b"", &signature).is_ok()
    }

    fn expand(&self, verifying_key: &[u8]) -> Option<Self::VerifyingKey> {
        limit(self.backend);
        let key =
            ml_dsa::VerifyingKey::<P>::from_bytes(verifying_key).expect("of the right length");
        Some(key.expand())
    }

    fn verify_expanded(&self, key: &Self::VerifyingKey, message: &[u8], signature: &[u8]) -> bool {
        limit(self.backend);
        let signature = ml_dsa::Signature::from_bytes(signature).expect("of the right length");
        key.verify(message, b"", &signature).is_ok()
    }
}

impl<P: slh_dsa::ParameterSet, B: Backend> Slh for OnBackend<P, B> {
    type SigningKey = slh_dsa::SigningKey<P>;

    fn name(&self) -> String {
        name::<B>()
    }

    fn generate(&self, seed: &[u8], verifying_key: &mut [u8]) {
        limit(self.backend);
        let seed = P::SeedLen::from_fn(|i| seed[i]);
        let key = slh_dsa::SigningKey::<P>::from_seed(&seed);
        verifying_key.copy_from_slice(key.verifying_key().as_bytes());
    }

    fn load(&self, signing_key: &[u8]) -> Self::SigningKey {
        slh_dsa::SigningKey::from_bytes(signing_key).expect("of the right length")
    }

    fn sign(&self, key: &Self::SigningKey, message: &[u8], signature: &mut [u8]) {
        limit(self.backend);
        let message = slh_dsa::Message::Pure(message);
        key.sign_into(message, b"", None, &|_| (), signature)
            .expect("a short context, and a key that is whole");
    }

    fn verify(&self, verifying_key: &[u8], message: &[u8], signature: &[u8]) -> bool {
        limit(self.backend);
        let key =
            slh_dsa::VerifyingKey::<P>::from_bytes(verifying_key).expect("of the right length");
        key.verify_bytes(slh_dsa::Message::Pure(message), b"", signature)
            .is_ok()
    }
}

fn name<B: Backend>() -> String {
    format!("pq-core/{}", B::NAME)
}
