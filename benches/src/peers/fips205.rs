//! `fips205`, which is plain Rust.

use fips205::traits::{KeyGen, SerDes, Signer, Verifier};

use crate::schemes::slh_dsa::Slh;

macro_rules! slh {
    ($($set:ident: $module:ident;)+) => {$(
        pub(super) struct $set;

        impl Slh for $set {
            type SigningKey = fips205::$module::PrivateKey;

            fn name(&self) -> String {
                "fips205".into()
            }

            fn generate(&self, seed: &[u8], verifying_key: &mut [u8]) {
                const N: usize = fips205::$module::N;
                let part = |i: usize| -> &[u8; N] {
                    seed[i * N..][..N].try_into().expect("of the right length")
                };
                let (key, _) =
                    fips205::$module::KG::keygen_from_seed::<N>(part(0), part(1), part(2));
                verifying_key.copy_from_slice(&key.into_bytes());
            }

            fn load(&self, signing_key: &[u8]) -> Self::SigningKey {
                let bytes = signing_key.try_into().expect("of the right length");
                Self::SigningKey::try_from_bytes(bytes).expect("a valid key")
            }

            fn sign(&self, key: &Self::SigningKey, message: &[u8], signature: &mut [u8]) {
                let made = key.try_sign(message, b"", false).expect("a short context");
                signature.copy_from_slice(&made);
            }

            fn verify(&self, verifying_key: &[u8], message: &[u8], signature: &[u8]) -> bool {
                let key = verifying_key.try_into().expect("of the right length");
                let signature = signature.try_into().expect("of the right length");
                fips205::$module::PublicKey::try_from_bytes(key)
                    .is_ok_and(|key| key.verify(message, signature, b""))
            }
        }
    )+};
}

slh! {
    SlhDsaShake128f: slh_dsa_shake_128f;
    SlhDsaShake192f: slh_dsa_shake_192f;
    SlhDsaShake256f: slh_dsa_shake_256f;
    SlhDsaShake128s: slh_dsa_shake_128s;
    SlhDsaShake192s: slh_dsa_shake_192s;
    SlhDsaShake256s: slh_dsa_shake_256s;
    SlhDsaSha2_128f: slh_dsa_sha2_128f;
    SlhDsaSha2_192f: slh_dsa_sha2_192f;
    SlhDsaSha2_256f: slh_dsa_sha2_256f;
    SlhDsaSha2_128s: slh_dsa_sha2_128s;
    SlhDsaSha2_192s: slh_dsa_sha2_192s;
    SlhDsaSha2_256s: slh_dsa_sha2_256s;
}
