//! PQClean's C, from `pqcrypto-mlkem`, `pqcrypto-mldsa` and `pqcrypto-sphincsplus`: AVX2 or NEON code, and
//! portable code on other CPUs, on Windows, and for ML-KEM on macOS.

use core::convert::Infallible;

use pqcrypto_traits::kem::{Ciphertext as _, PublicKey as _, SecretKey as _, SharedSecret as _};
use pqcrypto_traits::sign;

use crate::schemes::ml_dsa::Dsa;
use crate::schemes::ml_kem::Kem;
use crate::schemes::slh_dsa::Slh;

macro_rules! kem {
    ($($set:ident: $module:ident;)+) => {$(
        pub(super) struct $set;

        impl Kem for $set {
            type Key = pqcrypto_mlkem::$module::SecretKey;

            const DRAWS_RANDOMNESS: bool = true;
            const CHECKS_MODULUS: bool = false;

            fn name(&self) -> String {
                "PQClean".into()
            }

            fn generate(&self, _: &[u8; 64], encapsulation_key: &mut [u8]) -> Self::Key {
                let (public_key, key) = pqcrypto_mlkem::$module::keypair();
                encapsulation_key.copy_from_slice(public_key.as_bytes());
                key
            }

            fn load(&self, _: &[u8; 64], expanded: &[u8]) -> Self::Key {
                Self::Key::from_bytes(expanded).expect("of the right length")
            }

            fn encapsulate(
                &self,
                encapsulation_key: &[u8],
                _: &[u8; 32],
                ciphertext: &mut [u8],
            ) -> Option<[u8; 32]> {
                use pqcrypto_mlkem::$module::{PublicKey, encapsulate};

                let key = PublicKey::from_bytes(encapsulation_key).ok()?;
                let (secret, encapsulated) = encapsulate(&key);
                ciphertext.copy_from_slice(encapsulated.as_bytes());
                secret.as_bytes().try_into().ok()
            }

            fn decapsulate(&self, key: &Self::Key, ciphertext: &[u8]) -> [u8; 32] {
                use pqcrypto_mlkem::$module::{Ciphertext, decapsulate};

                let ciphertext = Ciphertext::from_bytes(ciphertext).expect("of the right length");
                let secret = decapsulate(&ciphertext, key);
                secret.as_bytes().try_into().expect("32 bytes")
            }
        }
    )+};
}

kem! {
    MlKem512: mlkem512;
    MlKem768: mlkem768;
    MlKem1024: mlkem1024;
}

macro_rules! dsa {
    ($($set:ident: $module:ident;)+) => {$(
        pub(super) struct $set;

        impl Dsa for $set {
            type SigningKey = pqcrypto_mldsa::$module::SecretKey;
            type VerifyingKey = Infallible;

            const DRAWS_RND: bool = true;
            const DRAWS_SEED: bool = true;

            fn name(&self) -> String {
                "PQClean".into()
            }

            fn generate(&self, _: &[u8; 32], verifying_key: &mut [u8]) -> Self::SigningKey {
                let (public_key, key) = pqcrypto_mldsa::$module::keypair();
                verifying_key.copy_from_slice(sign::PublicKey::as_bytes(&public_key));
                key
            }

            fn load(&self, _: &[u8; 32], expanded: &[u8]) -> Self::SigningKey {
                sign::SecretKey::from_bytes(expanded).expect("of the right length")
            }

            fn sign(
                &self,
                key: &Self::SigningKey,
                message: &[u8],
                _: &[u8; 32],
                signature: &mut [u8],
            ) {
                let made = pqcrypto_mldsa::$module::detached_sign(message, key);
                signature.copy_from_slice(sign::DetachedSignature::as_bytes(&made));
            }

            fn verify(&self, verifying_key: &[u8], message: &[u8], signature: &[u8]) -> bool {
                let key = sign::PublicKey::from_bytes(verifying_key).expect("of the right length");
                let signature =
                    sign::DetachedSignature::from_bytes(signature).expect("of the right length");
                pqcrypto_mldsa::$module::verify_detached_signature(&signature, message, &key)
                    .is_ok()
            }

            fn expand(&self, _: &[u8]) -> Option<Infallible> {
                None
            }

            fn verify_expanded(&self, key: &Infallible, _: &[u8], _: &[u8]) -> bool {
                match *key {}
            }
        }
    )+};
}

dsa! {
    MlDsa44: mldsa44;
    MlDsa65: mldsa65;
    MlDsa87: mldsa87;
}

macro_rules! slh {
    ($($set:ident: $module:ident;)+) => {$(
        pub(super) struct $set;

        impl Slh for $set {
            type SigningKey = pqcrypto_sphincsplus::$module::SecretKey;

            const DRAWS_RANDOMNESS: bool = true;
            const IS_STANDARD: bool = false;

            fn name(&self) -> String {
                "PQClean".into()
            }

            fn generate(&self, _: &[u8], verifying_key: &mut [u8]) {
                let (key, _) = pqcrypto_sphincsplus::$module::keypair();
                verifying_key.copy_from_slice(sign::PublicKey::as_bytes(&key));
            }

            fn load(&self, signing_key: &[u8]) -> Self::SigningKey {
                sign::SecretKey::from_bytes(signing_key).expect("of the right length")
            }

            fn sign(&self, key: &Self::SigningKey, message: &[u8], signature: &mut [u8]) {
                let made =
                    pqcrypto_sphincsplus::$module::detached_sign(message, key);
                signature.copy_from_slice(sign::DetachedSignature::as_bytes(&made));
            }

            fn verify(&self, verifying_key: &[u8], message: &[u8], signature: &[u8]) -> bool {
                use pqcrypto_sphincsplus::$module::verify_detached_signature;

                let key = sign::PublicKey::from_bytes(verifying_key).expect("of the right length");
                let signature =
                    sign::DetachedSignature::from_bytes(signature).expect("of the right length");
                verify_detached_signature(&signature, message, &key).is_ok()
            }
        }
    )+};
}

slh! {
    SlhDsaShake128f: sphincsshake128fsimple;
    SlhDsaShake192f: sphincsshake192fsimple;
    SlhDsaShake256f: sphincsshake256fsimple;
    SlhDsaShake128s: sphincsshake128ssimple;
    SlhDsaShake192s: sphincsshake192ssimple;
    SlhDsaShake256s: sphincsshake256ssimple;
    SlhDsaSha2_128f: sphincssha2128fsimple;
    SlhDsaSha2_192f: sphincssha2192fsimple;
    SlhDsaSha2_256f: sphincssha2256fsimple;
    SlhDsaSha2_128s: sphincssha2128ssimple;
    SlhDsaSha2_192s: sphincssha2192ssimple;
    SlhDsaSha2_256s: sphincssha2256ssimple;
}
