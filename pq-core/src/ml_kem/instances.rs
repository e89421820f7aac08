//! The operations of each parameter set, compiled in this crate.

use super::SHARED_SECRET_LEN;
use super::decapsulation::decaps;
use super::encapsulation::encaps;
use super::keys::{DecapsulationKey, EncapsulationKey};
use super::params::{MlKem512, MlKem768, MlKem1024, ParameterSet};
use crate::Error;
use crate::instances::instances;

instances! {
    /// The operations that each parameter set has compiled for every backend.
    pub trait Instances {
        fn keygen(key: &mut DecapsulationKey<Self>, d: &[u8; 32], z: &[u8; 32], hashes: bool)
            = DecapsulationKey::generate;
        fn decode_decapsulation_key(
            key: &mut DecapsulationKey<Self>,
            bytes: &[u8]
        ) -> Result<(), Error> = DecapsulationKey::decode;
        fn encode_secret(key: &DecapsulationKey<Self>, output: &mut [u8])
            = DecapsulationKey::encode_secret;
        fn encapsulation_key(bytes: &[u8]) -> Result<EncapsulationKey<Self>, Error>
            = EncapsulationKey::from_bytes_with;
        fn encaps(
            key: &EncapsulationKey<Self>,
            m: &[u8; 32],
            ciphertext: &mut [u8],
            secret: &mut [u8; SHARED_SECRET_LEN]
        ) = encaps;
        fn decaps(
            key: &DecapsulationKey<Self>,
            ciphertext: &[u8],
            secret: &mut [u8; SHARED_SECRET_LEN]
        ) = decaps;
    }

    #[inline(never)]
    impl for MlKem512, MlKem768, MlKem1024
}
