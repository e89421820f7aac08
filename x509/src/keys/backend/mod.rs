//! pq-core's keys behind object-safe traits, so that the rest of the crate needs no
//! parameter set in its types.
//!
//! Private keys are made in the boxes that they stay in, and secrets are written through references:
//! what is moved leaves a copy behind.

pub(crate) mod hash_slh_dsa;

use alloc::boxed::Box;
use alloc::sync::Arc;

use pq_core::ml_dsa;
use pq_core::ml_kem::{self, SHARED_SECRET_LEN};
use pq_core::slh_dsa::{self, Message};
use pq_core::{Dimension, Error};
use zeroize::Zeroizing;

/// What every private key can tell, whatever it is for.
pub(crate) trait AnyPrivateKey: Send + Sync {
    /// `None` if the key came in its expanded form only.
    fn seed(&self) -> Option<&[u8]>;
    fn to_expanded(&self) -> Zeroizing<Vec<u8>>;
    /// The raw public key that belongs to this private key.
    fn public_key(&self) -> &[u8];
}

pub(crate) trait AnySigningKey: AnyPrivateKey {
    /// Pure signing, or HashSLH-DSA's by a key that is for that, hedged by `randomness`, or by as
    /// much of its start as the algorithm takes.
    fn sign(&self, message: &[u8], context: &[u8], randomness: &[u8; 32])
    -> Result<Vec<u8>, Error>;
    /// What reading the key left unchecked because it takes long.
    fn check(&self) -> Result<(), Error>;
}

pub(crate) trait AnyVerifyingKey: Send + Sync {
    fn as_bytes(&self) -> &[u8];
    fn verify(&self, message: &[u8], context: &[u8], signature: &[u8]) -> Result<(), Error>;
}

pub(crate) trait AnyDecapsulationKey: AnyPrivateKey {
    fn decapsulate(
        &self,
        ciphertext: &[u8],
        secret: &mut [u8; SHARED_SECRET_LEN],
    ) -> Result<(), Error>;
}

pub(crate) trait AnyEncapsulationKey: Send + Sync {
    fn as_bytes(&self) -> &[u8];
    /// The ciphertext.
    fn encapsulate(&self, randomness: &[u8; 32], secret: &mut [u8; SHARED_SECRET_LEN]) -> Vec<u8>;
}

pub(crate) fn ml_dsa_from_seed<P: ml_dsa::ParameterSet>(
    seed: &[u8],
) -> Result<Box<dyn AnySigningKey>, Error> {
    Ok(ml_dsa::SigningKey::<P>::boxed_from_seed(fixed(seed)?))
}

pub(crate) fn ml_dsa_from_expanded<P: ml_dsa::ParameterSet>(
    bytes: &[u8],
) -> Result<Box<dyn AnySigningKey>, Error> {
    Ok(ml_dsa::SigningKey::<P>::boxed_from_expanded(bytes)?)
}

pub(crate) fn ml_dsa_verifying_key<P: ml_dsa::ParameterSet>(
    bytes: &[u8],
) -> Result<Arc<dyn AnyVerifyingKey>, Error> {
    Ok(Arc::new(ml_dsa::VerifyingKey::<P>::from_bytes(bytes)?))
}

pub(crate) fn slh_dsa_from_seed<P: slh_dsa::ParameterSet>(
    bytes: &[u8],
) -> Result<Box<dyn AnySigningKey>, Error> {
    check_length(P::SeedLen::N, bytes)?;
    let mut seed = Zeroizing::new(P::SeedLen::from_fn(|_| 0));
    (*seed).as_mut().copy_from_slice(bytes);
    Ok(slh_dsa::SigningKey::<P>::boxed_from_seed(&seed))
}

pub(crate) fn slh_dsa_from_bytes<P: slh_dsa::ParameterSet>(
    bytes: &[u8],
) -> Result<Box<dyn AnySigningKey>, Error> {
    Ok(slh_dsa::SigningKey::<P>::boxed_from_bytes(bytes)?)
}

pub(crate) fn slh_dsa_verifying_key<P: slh_dsa::ParameterSet>(
    bytes: &[u8],
) -> Result<Arc<dyn AnyVerifyingKey>, Error> {
    Ok(Arc::new(slh_dsa::VerifyingKey::<P>::from_bytes(bytes)?))
}

pub(crate) fn decapsulation_key_from_seed<P: ml_kem::ParameterSet>(
    seed: &[u8],
) -> Result<Box<dyn AnyDecapsulationKey>, Error> {
    Ok(ml_kem::DecapsulationKey::<P>::boxed_from_seed(fixed(seed)?))
}

pub(crate) fn decapsulation_key_from_expanded<P: ml_kem::ParameterSet>(
    bytes: &[u8],
) -> Result<Box<dyn AnyDecapsulationKey>, Error> {
    Ok(ml_kem::DecapsulationKey::<P>::boxed_from_expanded(bytes)?)
}

pub(crate) fn encapsulation_key<P: ml_kem::ParameterSet>(
    bytes: &[u8],
) -> Result<Arc<dyn AnyEncapsulationKey>, Error> {
    Ok(Arc::new(ml_kem::EncapsulationKey::<P>::from_bytes(bytes)?))
}

impl<P: ml_dsa::ParameterSet> AnyPrivateKey for ml_dsa::SigningKey<P> {
    fn seed(&self) -> Option<&[u8]> {
        self.seed().map(<[u8; ml_dsa::SEED_LEN]>::as_slice)
    }

    fn to_expanded(&self) -> Zeroizing<Vec<u8>> {
        let mut bytes = Zeroizing::new(vec![0; P::SIGNING_KEY_LEN]);
        self.to_expanded_into(&mut bytes)
            .expect("of the length of the set's");
        bytes
    }

    fn public_key(&self) -> &[u8] {
        self.verifying_key().as_bytes()
    }
}

impl<P: ml_dsa::ParameterSet> AnySigningKey for ml_dsa::SigningKey<P> {
    fn sign(
        &self,
        message: &[u8],
        context: &[u8],
        randomness: &[u8; 32],
    ) -> Result<Vec<u8>, Error> {
        let signature = self.sign(message, context, randomness)?;
        Ok(signature.as_bytes().to_vec())
    }

    fn check(&self) -> Result<(), Error> {
        Ok(())
    }
}

impl<P: ml_dsa::ParameterSet> AnyVerifyingKey for ml_dsa::VerifyingKey<P> {
    fn as_bytes(&self) -> &[u8] {
        self.as_bytes()
    }

    fn verify(&self, message: &[u8], context: &[u8], signature: &[u8]) -> Result<(), Error> {
        let signature = ml_dsa::Signature::<P>::from_bytes(signature)?;
        self.verify(message, context, &signature)
    }
}

pub(crate) fn slh_dsa_sign<P: slh_dsa::ParameterSet>(
    key: &slh_dsa::SigningKey<P>,
    message: Message<'_>,
    context: &[u8],
    randomness: &[u8; 32],
) -> Result<Vec<u8>, Error> {
    let mut addrnd = Zeroizing::new(P::N::from_fn(|_| 0));
    (*addrnd).as_mut().copy_from_slice(&randomness[..P::N::N]);
    let mut signature = vec![0; P::SIGNATURE_LEN];
    key.sign_into(message, context, Some(&addrnd), &|_| (), &mut signature)?;
    Ok(signature)
}

impl<P: slh_dsa::ParameterSet> AnyPrivateKey for slh_dsa::SigningKey<P> {
    /// What comes before PK.root in the key.
    fn seed(&self) -> Option<&[u8]> {
        Some(&self.as_bytes()[..P::SeedLen::N])
    }

    fn to_expanded(&self) -> Zeroizing<Vec<u8>> {
        Zeroizing::new(self.as_bytes().to_vec())
    }

    fn public_key(&self) -> &[u8] {
        self.verifying_key().as_bytes()
    }
}

impl<P: slh_dsa::ParameterSet> AnySigningKey for slh_dsa::SigningKey<P> {
    fn sign(
        &self,
        message: &[u8],
        context: &[u8],
        randomness: &[u8; 32],
    ) -> Result<Vec<u8>, Error> {
        slh_dsa_sign(self, Message::Pure(message), context, randomness)
    }

    fn check(&self) -> Result<(), Error> {
        self.check()
    }
}

impl<P: slh_dsa::ParameterSet> AnyVerifyingKey for slh_dsa::VerifyingKey<P> {
    fn as_bytes(&self) -> &[u8] {
        self.as_bytes()
    }

    fn verify(&self, message: &[u8], context: &[u8], signature: &[u8]) -> Result<(), Error> {
        self.verify_bytes(Message::Pure(message), context, signature)
    }
}

impl<P: ml_kem::ParameterSet> AnyPrivateKey for ml_kem::DecapsulationKey<P> {
    fn seed(&self) -> Option<&[u8]> {
        self.seed().map(<[u8; ml_kem::SEED_LEN]>::as_slice)
    }

    fn to_expanded(&self) -> Zeroizing<Vec<u8>> {
        let mut bytes = Zeroizing::new(vec![0; P::DECAPSULATION_KEY_LEN]);
        self.to_expanded_into(&mut bytes)
            .expect("of the length of the set's");
        bytes
    }

    fn public_key(&self) -> &[u8] {
        self.encapsulation_key().as_bytes()
    }
}

impl<P: ml_kem::ParameterSet> AnyDecapsulationKey for ml_kem::DecapsulationKey<P> {
    fn decapsulate(
        &self,
        ciphertext: &[u8],
        secret: &mut [u8; SHARED_SECRET_LEN],
    ) -> Result<(), Error> {
        self.decapsulate_into(ciphertext, secret)
    }
}

impl<P: ml_kem::ParameterSet> AnyEncapsulationKey for ml_kem::EncapsulationKey<P> {
    fn as_bytes(&self) -> &[u8] {
        self.as_bytes()
    }

    fn encapsulate(&self, randomness: &[u8; 32], secret: &mut [u8; SHARED_SECRET_LEN]) -> Vec<u8> {
        let mut ciphertext = vec![0; P::CIPHERTEXT_LEN];
        self.encapsulate_into(randomness, &mut ciphertext, secret)
            .expect("of the length of the set's");
        ciphertext
    }
}

fn check_length(expected: usize, bytes: &[u8]) -> Result<(), Error> {
    match bytes.len() {
        actual if actual == expected => Ok(()),
        actual => Err(Error::WrongLength { expected, actual }),
    }
}

fn fixed<const N: usize>(bytes: &[u8]) -> Result<&[u8; N], Error> {
    bytes.try_into().map_err(|_| Error::WrongLength {
        expected: N,
        actual: bytes.len(),
    })
}
