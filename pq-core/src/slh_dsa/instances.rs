//! The operations of each parameter set, compiled in this crate if the feature
//! `slh-dsa-instances` is enabled.

use super::algorithms;
use super::parallel::ProgressHook;
use super::params::{
    ParameterSet, SlhDsaSha2_128f, SlhDsaSha2_128s, SlhDsaSha2_192f, SlhDsaSha2_192s,
    SlhDsaSha2_256f, SlhDsaSha2_256s, SlhDsaShake128f, SlhDsaShake128s, SlhDsaShake192f,
    SlhDsaShake192s, SlhDsaShake256f, SlhDsaShake256s,
};
#[cfg(feature = "slh-dsa-sp800-230-draft")]
use super::params::{
    SlhDsaSha2_128_24, SlhDsaSha2_192_24, SlhDsaSha2_256_24, SlhDsaShake128_24, SlhDsaShake192_24,
    SlhDsaShake256_24,
};
use super::signing_key::SigningKey;
use super::verifying_key::VerifyingKey;
use crate::Error;
use crate::instances::instances;

instances! {
    /// The operations that each parameter set has for every backend.
    pub trait Instances {
        fn public_root(
            sk_seed: &[u8],
            pk_seed: &[u8],
            progress: ProgressHook<'_>,
            root: &mut [u8]
        ) = algorithms::public_root::<Self, _>;
        fn sign(
            key: &SigningKey<Self>,
            message: &[&[u8]],
            randomness: Option<&[u8]>,
            progress: ProgressHook<'_>,
            signature: &mut [u8]
        ) -> Result<(), Error> = algorithms::sign;
        fn verify(key: &VerifyingKey<Self>, message: &[&[u8]], signature: &[u8]) -> bool
            = algorithms::verify;
    }

    #[cfg_attr(not(feature = "slh-dsa-instances"), inline)]
    impl for
        SlhDsaShake128s, SlhDsaShake128f, SlhDsaShake192s, SlhDsaShake192f,
        SlhDsaShake256s, SlhDsaShake256f, SlhDsaSha2_128s, SlhDsaSha2_128f,
        SlhDsaSha2_192s, SlhDsaSha2_192f, SlhDsaSha2_256s, SlhDsaSha2_256f,
        #[cfg(feature = "slh-dsa-sp800-230-draft")]
        SlhDsaShake128_24,
        #[cfg(feature = "slh-dsa-sp800-230-draft")]
        SlhDsaShake192_24,
        #[cfg(feature = "slh-dsa-sp800-230-draft")]
        SlhDsaShake256_24,
        #[cfg(feature = "slh-dsa-sp800-230-draft")]
        SlhDsaSha2_128_24,
        #[cfg(feature = "slh-dsa-sp800-230-draft")]
        SlhDsaSha2_192_24,
        #[cfg(feature = "slh-dsa-sp800-230-draft")]
        SlhDsaSha2_256_24,
}
