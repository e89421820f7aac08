//! The operations of each parameter set, compiled in this crate.

use super::decapsulation::decaps;
use super::encapsulation::encaps;
use super::keys::{Ciphertext, DecapsulationKey, EncapsulationKey, SharedSecret};
use super::params::{MlKem512, MlKem768, MlKem1024, ParameterSet};
use crate::Error;
use crate::instances::instances;

instances! {
    /// What each parameter set has compiled for every backend.
    pub trait Instances {
        fn keygen(d: &[u8; 32], z: &[u8; 32]) -> DecapsulationKey<Self>
            = DecapsulationKey::from_seed_with;
        fn decapsulation_key(bytes: &[u8]) -> Result<DecapsulationKey<Self>, Error>
            = DecapsulationKey::from_expanded_with;
        fn encode_secret(key: &DecapsulationKey<Self>, output: &mut [u8])
            = DecapsulationKey::encode_secret;
        fn encapsulation_key(bytes: &[u8]) -> Result<EncapsulationKey<Self>, Error>
            = EncapsulationKey::from_bytes_with;
        fn encaps(key: &EncapsulationKey<Self>, m: &[u8; 32]) -> (Ciphertext<Self>, SharedSecret)
            = encaps;
        fn decaps(key: &DecapsulationKey<Self>, ciphertext: &Ciphertext<Self>) -> SharedSecret
            = decaps;
    }

    #[inline(never)]
    impl for MlKem512, MlKem768, MlKem1024
}
