//! `libcrux-ml-kem` and `libcrux-ml-dsa`.

use pq_core::ml_dsa::PreHash;

use super::{Dsa, DsaKey, Implementation, Input, Kem, KemKey};

macro_rules! kem {
    ($set:ident, $module:ident::{$private_key:ident}) => {
        pub(super) struct $set;

        impl Implementation for $set {
            fn name(&self) -> &'static str {
                "libcrux-ml-kem"
            }
        }

        impl Kem for $set {
            fn generate(&self, seed: &[u8; 64]) -> Box<dyn KemKey> {
                let pair = libcrux_ml_kem::$module::generate_key_pair(*seed);
                let (private_key, encapsulation_key) = pair.into_parts();
                assert_eq!(
                    encapsulation_key_in(private_key.as_slice()),
                    encapsulation_key.as_slice()
                );
                Box::new(private_key)
            }

            fn import(&self, dk: &[u8]) -> Box<dyn KemKey> {
                let key = libcrux_ml_kem::$module::$private_key::try_from(dk);
                Box::new(key.expect("of the right length"))
            }

            fn encapsulate(&self, ek: &[u8], m: &[u8; 32]) -> (Vec<u8>, [u8; 32]) {
                let ek = ek.try_into().expect("of the right length");
                assert!(libcrux_ml_kem::$module::validate_public_key(&ek));
                let (ciphertext, secret) = libcrux_ml_kem::$module::encapsulate(&ek, *m);
                (ciphertext.as_slice().to_vec(), secret)
            }
        }

        impl KemKey for libcrux_ml_kem::$module::$private_key {
            fn encapsulation_key(&self) -> Vec<u8> {
                encapsulation_key_in(self.as_slice()).to_vec()
            }

            fn expanded(&self) -> Vec<u8> {
                self.as_slice().to_vec()
            }

            fn decapsulate(&self, ciphertext: &[u8]) -> [u8; 32] {
                let ciphertext = ciphertext.try_into().expect("of the right length");
                libcrux_ml_kem::$module::decapsulate(self, &ciphertext)
            }
        }
    };
}

kem!(MlKem512, mlkem512::{MlKem512PrivateKey});
kem!(MlKem768, mlkem768::{MlKem768PrivateKey});
kem!(MlKem1024, mlkem1024::{MlKem1024PrivateKey});

/// ek inside dk = ŝ ‖ ek ‖ H(ek) ‖ z, where ŝ has 384·k bytes and ek has 32 more.
fn encapsulation_key_in(dk: &[u8]) -> &[u8] {
    let secret_len = (dk.len() - 96) / 2;
    &dk[secret_len..dk.len() - 64]
}

macro_rules! dsa {
    ($set:ident, $module:ident::{$key_pair:ident, $verifying_key:ident, $signature:ident}) => {
        pub(super) struct $set;

        impl Implementation for $set {
            fn name(&self) -> &'static str {
                "libcrux-ml-dsa"
            }
        }

        impl Dsa for $set {
            fn generate(&self, xi: &[u8; 32]) -> Box<dyn DsaKey> {
                Box::new(libcrux_ml_dsa::$module::generate_key_pair(*xi))
            }

            fn import(&self, _: &[u8]) -> Option<Box<dyn DsaKey>> {
                None // it derives no verifying key from a signing key
            }

            fn verify(
                &self,
                verifying_key: &[u8],
                input: &Input<'_>,
                signature: &[u8],
            ) -> Option<bool> {
                use libcrux_ml_dsa::$module::{$signature, $verifying_key};

                let key = verifying_key.try_into().expect("of the right length");
                let key = $verifying_key::new(key);
                let signature = signature.try_into().expect("of the right length");
                let signature = $signature::new(signature);
                let verdict = match *input {
                    Input::Pure { message, context } => {
                        libcrux_ml_dsa::$module::verify(&key, message, context, &signature)
                    }
                    Input::PreHash {
                        hash,
                        message,
                        context,
                    } if hash.pre_hash == PreHash::Shake128 => {
                        libcrux_ml_dsa::$module::verify_pre_hashed_shake128(
                            &key, message, context, &signature,
                        )
                    }
                    Input::PreHash { .. } | Input::Mu(_) => return None,
                };
                Some(verdict.is_ok())
            }
        }

        impl DsaKey for libcrux_ml_dsa::$module::$key_pair {
            fn verifying_key(&self) -> Vec<u8> {
                self.verification_key.as_slice().to_vec()
            }

            fn expanded(&self) -> Vec<u8> {
                self.signing_key.as_slice().to_vec()
            }

            fn sign(&self, input: &Input<'_>, rnd: &[u8; 32]) -> Option<Vec<u8>> {
                let key = &self.signing_key;
                let signature = match *input {
                    Input::Pure { message, context } => {
                        libcrux_ml_dsa::$module::sign(key, message, context, *rnd)
                    }
                    Input::PreHash {
                        hash,
                        message,
                        context,
                    } if hash.pre_hash == PreHash::Shake128 => {
                        libcrux_ml_dsa::$module::sign_pre_hashed_shake128(
                            key, message, context, *rnd,
                        )
                    }
                    Input::PreHash { .. } | Input::Mu(_) => return None,
                };
                let signature = signature.expect("a signature within the bound on attempts");
                Some(signature.as_slice().to_vec())
            }
        }
    };
}

dsa!(MlDsa44, ml_dsa_44::{MLDSA44KeyPair, MLDSA44VerificationKey, MLDSA44Signature});
dsa!(MlDsa65, ml_dsa_65::{MLDSA65KeyPair, MLDSA65VerificationKey, MLDSA65Signature});
dsa!(MlDsa87, ml_dsa_87::{MLDSA87KeyPair, MLDSA87VerificationKey, MLDSA87Signature});
