//! `libcrux-ml-kem` and `libcrux-ml-dsa`, which choose AVX2, NEON or portable code.

use core::convert::Infallible;

use crate::schemes::ml_dsa::Dsa;
use crate::schemes::ml_kem::Kem;

macro_rules! kem {
    ($($set:ident: $module:ident::$private_key:ident;)+) => {$(
        /// Keys are bytes in this interface.
        pub(super) struct $set;

        impl Kem for $set {
            type Key = libcrux_ml_kem::$module::$private_key;

            fn name(&self) -> String {
                "libcrux".into()
            }

            fn generate(&self, seed: &[u8; 64], encapsulation_key: &mut [u8]) -> Self::Key {
                let pair = libcrux_ml_kem::$module::generate_key_pair(*seed);
                encapsulation_key.copy_from_slice(pair.pk());
                pair.into_parts().0
            }

            fn load(&self, _: &[u8; 64], expanded: &[u8]) -> Self::Key {
                expanded.try_into().expect("of the right length")
            }

            fn encapsulate(
                &self,
                encapsulation_key: &[u8],
                m: &[u8; 32],
                ciphertext: &mut [u8],
            ) -> Option<[u8; 32]> {
                let key = encapsulation_key.try_into().expect("of the right length");
                if !libcrux_ml_kem::$module::validate_public_key(&key) {
                    return None;
                }
                let (encapsulated, secret) = libcrux_ml_kem::$module::encapsulate(&key, *m);
                ciphertext.copy_from_slice(encapsulated.as_slice());
                Some(secret)
            }

            fn decapsulate(&self, key: &Self::Key, ciphertext: &[u8]) -> [u8; 32] {
                let ciphertext = ciphertext.try_into().expect("of the right length");
                libcrux_ml_kem::$module::decapsulate(key, &ciphertext)
            }
        }
    )+};
}

kem! {
    MlKem512: mlkem512::MlKem512PrivateKey;
    MlKem768: mlkem768::MlKem768PrivateKey;
    MlKem1024: mlkem1024::MlKem1024PrivateKey;
}

/// The interface that keeps **Â** in the key, like ours. Callers have to name the backend.
#[cfg(target_arch = "x86_64")]
pub(super) mod avx2_unpacked {
    use crate::schemes::ml_kem::Kem;

    macro_rules! kem {
        ($($set:ident: $module:ident, $key_pair:ident, $public_key:ident;)+) => {$(
            pub(crate) struct $set(());

            impl $set {
                pub(crate) fn detect() -> Option<Self> {
                    // the same condition as in libcrux
                    is_x86_feature_detected!("avx2").then_some(Self(()))
                }
            }

            impl Kem for $set {
                type Key = libcrux_ml_kem::$module::avx2::unpacked::$key_pair;

                fn name(&self) -> String {
                    "libcrux/unpacked".into()
                }

                fn generate(&self, seed: &[u8; 64], encapsulation_key: &mut [u8]) -> Self::Key {
                    use libcrux_ml_kem::$module::avx2::unpacked;

                    let pair = unpacked::generate_key_pair(*seed);
                    let key = unpacked::key_pair_serialized_public_key(&pair);
                    encapsulation_key.copy_from_slice(key.as_slice());
                    pair
                }

                fn load(&self, seed: &[u8; 64], _: &[u8]) -> Self::Key {
                    libcrux_ml_kem::$module::avx2::unpacked::generate_key_pair(*seed)
                }

                fn encapsulate(
                    &self,
                    encapsulation_key: &[u8],
                    m: &[u8; 32],
                    ciphertext: &mut [u8],
                ) -> Option<[u8; 32]> {
                    use libcrux_ml_kem::$module::avx2::{self, unpacked};

                    let bytes = encapsulation_key.try_into().expect("of the right length");
                    if !avx2::validate_public_key(&bytes) {
                        return None;
                    }
                    let mut key = unpacked::$public_key::default();
                    unpacked::unpacked_public_key(&bytes, &mut key);
                    let (encapsulated, secret) = unpacked::encapsulate(&key, *m);
                    ciphertext.copy_from_slice(encapsulated.as_slice());
                    Some(secret)
                }

                fn decapsulate(&self, key: &Self::Key, ciphertext: &[u8]) -> [u8; 32] {
                    let ciphertext = ciphertext.try_into().expect("of the right length");
                    libcrux_ml_kem::$module::avx2::unpacked::decapsulate(key, &ciphertext)
                }
            }
        )+};
    }

    kem! {
        MlKem512: mlkem512, MlKem512KeyPairUnpacked, MlKem512PublicKeyUnpacked;
        MlKem768: mlkem768, MlKem768KeyPairUnpacked, MlKem768PublicKeyUnpacked;
        MlKem1024: mlkem1024, MlKem1024KeyPairUnpacked, MlKem1024PublicKeyUnpacked;
    }
}

macro_rules! dsa {
    ($($set:ident: $module:ident, $signing_key:ident, $verifying_key:ident, $signature:ident;)+) => {$(
        pub(super) struct $set;

        impl Dsa for $set {
            type SigningKey = libcrux_ml_dsa::$module::$signing_key;
            type VerifyingKey = Infallible;

            fn name(&self) -> String {
                "libcrux".into()
            }

            fn generate(&self, xi: &[u8; 32], verifying_key: &mut [u8]) -> Self::SigningKey {
                let pair = libcrux_ml_dsa::$module::generate_key_pair(*xi);
                verifying_key.copy_from_slice(pair.verification_key.as_slice());
                pair.signing_key
            }

            fn load(&self, _: &[u8; 32], expanded: &[u8]) -> Self::SigningKey {
                Self::SigningKey::new(expanded.try_into().expect("of the right length"))
            }

            fn sign(
                &self,
                key: &Self::SigningKey,
                message: &[u8],
                rnd: &[u8; 32],
                signature: &mut [u8],
            ) {
                let made = libcrux_ml_dsa::$module::sign(key, message, b"", *rnd)
                    .expect("a signature within the bound on attempts");
                signature.copy_from_slice(made.as_slice());
            }

            fn verify(&self, verifying_key: &[u8], message: &[u8], signature: &[u8]) -> bool {
                use libcrux_ml_dsa::$module::{$signature, $verifying_key, verify};

                let key = verifying_key.try_into().expect("of the right length");
                let signature = signature.try_into().expect("of the right length");
                let signature = $signature::new(signature);
                verify(&$verifying_key::new(key), message, b"", &signature).is_ok()
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
    MlDsa44: ml_dsa_44, MLDSA44SigningKey, MLDSA44VerificationKey, MLDSA44Signature;
    MlDsa65: ml_dsa_65, MLDSA65SigningKey, MLDSA65VerificationKey, MLDSA65Signature;
    MlDsa87: ml_dsa_87, MLDSA87SigningKey, MLDSA87VerificationKey, MLDSA87Signature;
}
