//! The operations of each parameter set, compiled in this crate.

use super::params::{MlDsa44, MlDsa65, MlDsa87, ParameterSet};
use super::signature::Signature;
use super::signing;
use super::signing_key::SigningKey;
use super::verification::{self, Key, Message};
use super::verifying_key::ExpandedVerifyingKey;
use crate::Error;
use crate::instances::instances;

instances! {
    /// The operations that each parameter set has compiled for every backend.
    pub trait Instances {
        fn keygen(key: &mut SigningKey<Self>, xi: &[u8; 32]) = SigningKey::generate;
        fn decode_signing_key(key: &mut SigningKey<Self>, bytes: &[u8]) -> Result<(), Error>
            = SigningKey::decode;
        fn encode_signing_key(key: &SigningKey<Self>, output: &mut [u8]) = SigningKey::encode;
        fn sign(key: &SigningKey<Self>, message: &[&[u8]], rnd: &[u8; 32]) -> Signature<Self>
            = signing::sign;
        fn sign_mu(key: &SigningKey<Self>, mu: &[u8; 64], rnd: &[u8; 32]) -> Signature<Self>
            = signing::sign_mu;
        fn expand(key: &mut ExpandedVerifyingKey<Self>) = ExpandedVerifyingKey::complete;
        fn verify(key: Key<'_, Self>, message: Message<'_>, signature: &Signature<Self>) -> bool
            = verification::verify;
    }

    #[inline(never)]
    impl for MlDsa44, MlDsa65, MlDsa87
}
