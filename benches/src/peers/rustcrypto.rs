//! RustCrypto's `ml-kem`, `ml-dsa` and `slh-dsa`, with their default features.

use ml_dsa::Keypair;
use ml_kem::{Decapsulate, KeyExport};

use crate::schemes::ml_dsa::Dsa;
use crate::schemes::ml_kem::Kem;
use crate::schemes::slh_dsa::Slh;

macro_rules! kem {
    ($($set:ident),+) => {$(
        pub(super) struct $set;

        impl Kem for $set {
            type Key = ml_kem::DecapsulationKey<ml_kem::$set>;

            fn name(&self) -> String {
                "RustCrypto".into()
            }

            fn generate(&self, seed: &[u8; 64], encapsulation_key: &mut [u8]) -> Self::Key {
                let key = Self::Key::from_seed((*seed).into());
                encapsulation_key.copy_from_slice(&key.encapsulation_key().to_bytes());
                key
            }

            fn load(&self, seed: &[u8; 64], _: &[u8]) -> Self::Key {
                Self::Key::from_seed((*seed).into())
            }

            fn encapsulate(
                &self,
                encapsulation_key: &[u8],
                m: &[u8; 32],
                ciphertext: &mut [u8],
            ) -> Option<[u8; 32]> {
                let key = encapsulation_key.try_into().expect("of the right length");
                let key = ml_kem::EncapsulationKey::<ml_kem::$set>::new(key).ok()?;
                let (encapsulated, secret) = key.encapsulate_deterministic(&(*m).into());
                ciphertext.copy_from_slice(&encapsulated);
                Some(secret.into())
            }

            fn decapsulate(&self, key: &Self::Key, ciphertext: &[u8]) -> [u8; 32] {
                key.decapsulate_slice(ciphertext)
                    .expect("of the right length")
                    .into()
            }
        }
    )+};
}

kem!(MlKem512, MlKem768, MlKem1024);

macro_rules! dsa {
    ($($set:ident),+) => {$(
        pub(super) struct $set;

        impl Dsa for $set {
            /// Keeps its vectors, **Â** among them, on the heap.
            type SigningKey = ml_dsa::SigningKey<ml_dsa::$set>;
            type VerifyingKey = ml_dsa::VerifyingKey<ml_dsa::$set>;

            fn name(&self) -> String {
                "RustCrypto".into()
            }

            fn generate(&self, xi: &[u8; 32], verifying_key: &mut [u8]) -> Self::SigningKey {
                let key = Self::SigningKey::from_seed(&(*xi).into());
                verifying_key.copy_from_slice(&key.verifying_key().encode());
                key
            }

            fn load(&self, xi: &[u8; 32], _: &[u8]) -> Self::SigningKey {
                Self::SigningKey::from_seed(&(*xi).into())
            }

            fn sign(
                &self,
                key: &Self::SigningKey,
                message: &[u8],
                rnd: &[u8; 32],
                signature: &mut [u8],
            ) {
                // M′ = 0 ‖ |ctx| ‖ ctx ‖ M with an empty context: no other function of it takes rnd.
                let made = key
                    .expanded_key()
                    .sign_internal(&[&[0, 0], message], &(*rnd).into());
                signature.copy_from_slice(&made.encode());
            }

            fn verify(&self, verifying_key: &[u8], message: &[u8], signature: &[u8]) -> bool {
                let key = self.expand(verifying_key).expect("it always has one");
                self.verify_expanded(&key, message, signature)
            }

            fn expand(&self, verifying_key: &[u8]) -> Option<Self::VerifyingKey> {
                let key = verifying_key.try_into().expect("of the right length");
                Some(ml_dsa::VerifyingKey::decode(key))
            }

            fn verify_expanded(
                &self,
                key: &Self::VerifyingKey,
                message: &[u8],
                signature: &[u8],
            ) -> bool {
                let signature = signature.try_into().expect("of the right length");
                ml_dsa::Signature::decode(signature)
                    .is_some_and(|signature| key.verify_with_context(message, b"", &signature))
            }
        }
    )+};
}

dsa!(MlDsa44, MlDsa65, MlDsa87);

macro_rules! slh {
    ($($set:ident: $name:ident;)+) => {$(
        pub(super) struct $set;

        impl Slh for $set {
            type SigningKey = slh_dsa::SigningKey<slh_dsa::$name>;

            fn name(&self) -> String {
                "RustCrypto".into()
            }

            fn generate(&self, seed: &[u8], verifying_key: &mut [u8]) {
                let (sk_seed, rest) = seed.split_at(seed.len() / 3);
                let (sk_prf, pk_seed) = rest.split_at(rest.len() / 2);
                let key = Self::SigningKey::slh_keygen_internal(sk_seed, sk_prf, pk_seed);
                let key: &slh_dsa::VerifyingKey<_> = key.as_ref();
                verifying_key.copy_from_slice(&key.to_bytes());
            }

            fn load(&self, signing_key: &[u8]) -> Self::SigningKey {
                signing_key.try_into().expect("of the right length")
            }

            fn sign(&self, key: &Self::SigningKey, message: &[u8], signature: &mut [u8]) {
                let made = key.try_sign_with_context(message, b"", None);
                signature.copy_from_slice(&made.expect("a short context").to_bytes());
            }

            fn verify(&self, verifying_key: &[u8], message: &[u8], signature: &[u8]) -> bool {
                let key = slh_dsa::VerifyingKey::<slh_dsa::$name>::try_from(verifying_key)
                    .expect("of the right length");
                slh_dsa::Signature::try_from(signature).is_ok_and(|signature| {
                    key.try_verify_with_context(message, b"", &signature).is_ok()
                })
            }
        }
    )+};
}

slh! {
    SlhDsaShake128f: Shake128f;
    SlhDsaShake192f: Shake192f;
    SlhDsaShake256f: Shake256f;
    SlhDsaShake128s: Shake128s;
    SlhDsaShake192s: Shake192s;
    SlhDsaShake256s: Shake256s;
    SlhDsaSha2_128f: Sha2_128f;
    SlhDsaSha2_192f: Sha2_192f;
    SlhDsaSha2_256f: Sha2_256f;
    SlhDsaSha2_128s: Sha2_128s;
    SlhDsaSha2_192s: Sha2_192s;
    SlhDsaSha2_256s: Sha2_256s;
}
