//! RustCrypto's `ml-kem` and `ml-dsa`.

// The crates deprecate expanded keys in favor of seeds; these tests need both.
#![expect(deprecated, reason = "the expanded forms are what is compared")]

use ml_dsa::ExpandedSigningKey;
use ml_kem::{Decapsulate, ExpandedKeyEncoding, KeyExport};

use super::{Dsa, DsaKey, Implementation, Input, Kem, KemKey};

macro_rules! kem {
    ($set:ident) => {
        pub(super) struct $set;

        impl Implementation for $set {
            fn name(&self) -> &'static str {
                "RustCrypto's ml-kem"
            }
        }

        impl Kem for $set {
            fn generate(&self, seed: &[u8; 64]) -> Box<dyn KemKey> {
                Box::new(ml_kem::DecapsulationKey::<ml_kem::$set>::from_seed(
                    (*seed).into(),
                ))
            }

            fn import(&self, dk: &[u8]) -> Box<dyn KemKey> {
                let dk = dk.try_into().expect("of the right length");
                let key = ml_kem::DecapsulationKey::<ml_kem::$set>::from_expanded_bytes(dk);
                Box::new(key.expect("a valid key"))
            }

            fn encapsulate(&self, ek: &[u8], m: &[u8; 32]) -> (Vec<u8>, [u8; 32]) {
                let ek = ek.try_into().expect("of the right length");
                let ek = ml_kem::EncapsulationKey::<ml_kem::$set>::new(ek).expect("a valid key");
                let (ciphertext, secret) = ek.encapsulate_deterministic(&(*m).into());
                (ciphertext.to_vec(), secret.into())
            }
        }

        impl KemKey for ml_kem::DecapsulationKey<ml_kem::$set> {
            fn encapsulation_key(&self) -> Vec<u8> {
                self.encapsulation_key().to_bytes().to_vec()
            }

            fn expanded(&self) -> Vec<u8> {
                self.to_expanded_bytes().to_vec()
            }

            fn decapsulate(&self, ciphertext: &[u8]) -> [u8; 32] {
                self.decapsulate_slice(ciphertext)
                    .expect("of the right length")
                    .into()
            }
        }
    };
}

kem!(MlKem512);
kem!(MlKem768);
kem!(MlKem1024);

macro_rules! dsa {
    ($set:ident) => {
        pub(super) struct $set;

        impl Implementation for $set {
            fn name(&self) -> &'static str {
                "RustCrypto's ml-dsa"
            }
        }

        impl Dsa for $set {
            fn generate(&self, xi: &[u8; 32]) -> Box<dyn DsaKey> {
                let key = ExpandedSigningKey::<ml_dsa::$set>::from_seed(&(*xi).into());
                Box::new(key)
            }

            fn import(&self, sk: &[u8]) -> Option<Box<dyn DsaKey>> {
                let sk = sk.try_into().expect("of the right length");
                Some(Box::new(ExpandedSigningKey::<ml_dsa::$set>::from_expanded(
                    sk,
                )))
            }

            fn verify(
                &self,
                verifying_key: &[u8],
                input: &Input<'_>,
                signature: &[u8],
            ) -> Option<bool> {
                let verifying_key = verifying_key.try_into().expect("of the right length");
                let key = ml_dsa::VerifyingKey::<ml_dsa::$set>::decode(verifying_key);
                let signature = signature.try_into().expect("of the right length");
                let Some(signature) = ml_dsa::Signature::<ml_dsa::$set>::decode(signature) else {
                    return Some(false);
                };
                Some(match (*input, input.message_representative()) {
                    (Input::Mu(mu), _) => key.verify_mu(&(*mu).into(), &signature),
                    (_, Some(m)) => key.verify_internal(&m, &signature),
                    (_, None) => unreachable!("all others have a message"),
                })
            }
        }

        impl DsaKey for ExpandedSigningKey<ml_dsa::$set> {
            fn verifying_key(&self) -> Vec<u8> {
                self.verifying_key().encode().to_vec()
            }

            fn expanded(&self) -> Vec<u8> {
                self.to_expanded().to_vec()
            }

            fn sign(&self, input: &Input<'_>, rnd: &[u8; 32]) -> Option<Vec<u8>> {
                let signature = match (*input, input.message_representative()) {
                    (Input::Mu(mu), _) if *rnd == [0; 32] => {
                        self.sign_mu_deterministic(&(*mu).into())
                    }
                    (_, Some(m)) => self.sign_internal(&[&m], &(*rnd).into()),
                    _ => return None,
                };
                Some(signature.encode().to_vec())
            }
        }
    };
}

dsa!(MlDsa44);
dsa!(MlDsa65);
dsa!(MlDsa87);
