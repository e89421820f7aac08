//! HashSLH-DSA (FIPS 205, section 10.2.2): keys of SLH-DSA that sign a hash of the message.

use alloc::boxed::Box;
use alloc::sync::Arc;

use pq_core::Error;
use pq_core::slh_dsa::{self, Message, ParameterSet, PreHash};
use zeroize::Zeroizing;

use super::{AnyPrivateKey, AnySigningKey, AnyVerifyingKey, slh_dsa_sign};

/// A key that is for messages hashed by this function, and for no others.
struct Hashing<K> {
    key: K,
    hash: PreHash,
}

pub(crate) fn signing_key<P: ParameterSet>(
    hash: PreHash,
    bytes: &[u8],
) -> Result<Box<dyn AnySigningKey>, Error> {
    let key = slh_dsa::SigningKey::<P>::boxed_from_bytes(bytes)?;
    Ok(Box::new(Hashing { key, hash }))
}

pub(crate) fn verifying_key<P: ParameterSet>(
    hash: PreHash,
    bytes: &[u8],
) -> Result<Arc<dyn AnyVerifyingKey>, Error> {
    let key = slh_dsa::VerifyingKey::<P>::from_bytes(bytes)?;
    Ok(Arc::new(Hashing { key, hash }))
}

impl<K: AnyPrivateKey> AnyPrivateKey for Hashing<Box<K>> {
    fn seed(&self) -> Option<&[u8]> {
        self.key.seed()
    }

    fn to_expanded(&self) -> Zeroizing<Vec<u8>> {
        self.key.to_expanded()
    }

    fn public_key(&self) -> &[u8] {
        self.key.public_key()
    }
}

impl<P: ParameterSet> AnySigningKey for Hashing<Box<slh_dsa::SigningKey<P>>> {
    fn sign(
        &self,
        message: &[u8],
        context: &[u8],
        randomness: &[u8; 32],
    ) -> Result<Vec<u8>, Error> {
        let message = Message::Hashed(self.hash, message);
        slh_dsa_sign(&self.key, message, context, randomness)
    }

    fn check(&self) -> Result<(), Error> {
        self.key.check()
    }
}

impl<P: ParameterSet> AnyVerifyingKey for Hashing<slh_dsa::VerifyingKey<P>> {
    fn as_bytes(&self) -> &[u8] {
        self.key.as_bytes()
    }

    fn verify(&self, message: &[u8], context: &[u8], signature: &[u8]) -> Result<(), Error> {
        let message = Message::Hashed(self.hash, message);
        self.key.verify_bytes(message, context, signature)
    }
}
