//! `graviola`, which has ML-KEM-768 only.
//!
//! Its documented functions draw their own randomness and consume the keys. To give it the same inputs as
//! all others, this file uses the hidden functions of its own tests. They leave out only the drawing of
//! randomness, and the wiping of the vector registers.

use graviola::key_agreement::mlkem768::{Ciphertext, DecapKey, EncapKey, Message};

use crate::schemes::ml_kem::Kem;

pub(super) struct MlKem768(());

impl MlKem768 {
    /// `None` on CPUs that lack what graviola needs, where it would panic.
    pub(super) fn detect() -> Option<Self> {
        rustls_pq::base::graviola().is_ok().then_some(Self(()))
    }
}

impl Kem for MlKem768 {
    type Key = DecapKey;

    fn name(&self) -> String {
        "graviola".into()
    }

    fn generate(&self, seed: &[u8; 64], encapsulation_key: &mut [u8]) -> DecapKey {
        let key = DecapKey::keygen_internal(seed);
        encapsulation_key.copy_from_slice(&key.encapsulation_key().as_bytes());
        key
    }

    fn load(&self, seed: &[u8; 64], _: &[u8]) -> DecapKey {
        DecapKey::keygen_internal(seed)
    }

    fn encapsulate(
        &self,
        encapsulation_key: &[u8],
        m: &[u8; 32],
        ciphertext: &mut [u8],
    ) -> Option<[u8; 32]> {
        let key = encapsulation_key.try_into().expect("of the right length");
        let key = EncapKey::from_bytes(key).ok()?;
        let (secret, encapsulated) = key.encaps_internal(Message(*m));
        ciphertext.copy_from_slice(encapsulated.as_ref());
        Some(*secret.as_ref())
    }

    fn decapsulate(&self, key: &DecapKey, ciphertext: &[u8]) -> [u8; 32] {
        let ciphertext: [u8; 1088] = ciphertext.try_into().expect("of the right length");
        *key.decaps_internal(&Ciphertext::from(ciphertext)).as_ref()
    }
}
