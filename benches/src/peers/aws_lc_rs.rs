//! `aws-lc-rs`: AWS-LC's C and assembly. For ML-KEM and ML-DSA these are mlkem-native and mldsa-native.

use aws_lc_rs::kem;
use aws_lc_rs::signature::{self, KeyPair, ParsedPublicKey, PqdsaKeyPair, VerificationAlgorithm};

use crate::schemes::ml_dsa::Dsa;
use crate::schemes::ml_kem::Kem;

macro_rules! kem {
    ($($set:ident: $algorithm:ident;)+) => {$(
        pub(super) struct $set;

        impl Kem for $set {
            type Key = kem::DecapsulationKey;

            const DRAWS_RANDOMNESS: bool = true;

            fn name(&self) -> String {
                "aws-lc-rs".into()
            }

            fn generate(&self, _: &[u8; 64], encapsulation_key: &mut [u8]) -> Self::Key {
                let key = Self::Key::generate(&kem::$algorithm).expect("randomness");
                let public_key = key.encapsulation_key().expect("a generated key has one");
                let bytes = public_key.key_bytes().expect("a key has bytes");
                encapsulation_key.copy_from_slice(bytes.as_ref());
                key
            }

            fn load(&self, _: &[u8; 64], expanded: &[u8]) -> Self::Key {
                Self::Key::new(&kem::$algorithm, expanded).expect("of the right length")
            }

            fn encapsulate(
                &self,
                encapsulation_key: &[u8],
                _: &[u8; 32],
                ciphertext: &mut [u8],
            ) -> Option<[u8; 32]> {
                let key = kem::EncapsulationKey::new(&kem::$algorithm, encapsulation_key).ok()?;
                let (encapsulated, secret) = key.encapsulate().ok()?;
                ciphertext.copy_from_slice(encapsulated.as_ref());
                secret.as_ref().try_into().ok()
            }

            fn decapsulate(&self, key: &Self::Key, ciphertext: &[u8]) -> [u8; 32] {
                let secret = key.decapsulate(ciphertext.into()).expect("of the right length");
                secret.as_ref().try_into().expect("32 bytes")
            }
        }
    )+};
}

kem! {
    MlKem512: ML_KEM_512;
    MlKem768: ML_KEM_768;
    MlKem1024: ML_KEM_1024;
}

macro_rules! dsa {
    ($($set:ident: $signing:ident, $verification:ident;)+) => {$(
        pub(super) struct $set;

        impl Dsa for $set {
            type SigningKey = PqdsaKeyPair;
            /// Parsed, but not expanded: AWS-LC samples **Â** in each verification.
            type VerifyingKey = ParsedPublicKey;

            const DRAWS_RND: bool = true;

            fn name(&self) -> String {
                "aws-lc-rs".into()
            }

            fn generate(&self, xi: &[u8; 32], verifying_key: &mut [u8]) -> PqdsaKeyPair {
                let key = self.load(xi, &[]);
                verifying_key.copy_from_slice(key.public_key().as_ref());
                key
            }

            fn load(&self, xi: &[u8; 32], _: &[u8]) -> PqdsaKeyPair {
                PqdsaKeyPair::from_seed(&signature::$signing, xi).expect("of the right length")
            }

            fn sign(&self, key: &PqdsaKeyPair, message: &[u8], _: &[u8; 32], signature: &mut [u8]) {
                key.sign(message, signature).expect("a buffer long enough");
            }

            fn verify(&self, verifying_key: &[u8], message: &[u8], signature: &[u8]) -> bool {
                signature::$verification
                    .verify_sig(verifying_key, message, signature)
                    .is_ok()
            }

            fn expand(&self, verifying_key: &[u8]) -> Option<ParsedPublicKey> {
                ParsedPublicKey::new(&signature::$verification, verifying_key).ok()
            }

            fn verify_expanded(
                &self,
                key: &ParsedPublicKey,
                message: &[u8],
                signature: &[u8],
            ) -> bool {
                key.verify_sig(message, signature).is_ok()
            }
        }
    )+};
}

dsa! {
    MlDsa44: ML_DSA_44_SIGNING, ML_DSA_44;
    MlDsa65: ML_DSA_65_SIGNING, ML_DSA_65;
    MlDsa87: ML_DSA_87_SIGNING, ML_DSA_87;
}
