//! The keys inside JWKs and COSE_Keys: it checks that a public key and a seed belong together. A macro makes such
//! documents sign as their keys do.

use pq_keys::{KeyError, SigningKey, VerifyingKey};

use super::algorithm::Algorithm;
use super::error::AkpError;

/// A public key and its algorithm. It verifies only signatures of this algorithm.
#[derive(Clone, Debug)]
pub(crate) struct PublicKey {
    algorithm: Algorithm,
    key: VerifyingKey,
}

impl PublicKey {
    pub(crate) fn new(key: VerifyingKey) -> Result<Self, AkpError> {
        let algorithm = key.algorithm().try_into()?;
        Ok(Self { algorithm, key })
    }

    pub(crate) fn from_bytes(algorithm: Algorithm, bytes: &[u8]) -> Result<Self, AkpError> {
        let key = VerifyingKey::from_bytes(algorithm.into(), bytes)?;
        Ok(Self { algorithm, key })
    }

    pub(crate) fn algorithm(&self) -> Algorithm {
        self.algorithm
    }

    pub(crate) fn key(&self) -> &VerifyingKey {
        &self.key
    }
}

/// A private key that has a seed, and its algorithm.
#[derive(Clone, Debug)]
pub(crate) struct PrivateKey {
    key: SigningKey,
    public: PublicKey,
}

impl PrivateKey {
    pub(crate) fn new(key: SigningKey) -> Result<Self, AkpError> {
        let public = PublicKey::new(key.verifying_key().clone())?;
        let private = Self { key, public };
        private.seed()?;
        Ok(private)
    }

    /// The private key of a document that has both halves.
    pub(crate) fn from_parts(public: PublicKey, seed: &[u8]) -> Result<Self, AkpError> {
        let algorithm = public.algorithm.into();
        if seed.len() != SEED_LEN {
            let len = seed.len();
            return Err(AkpError::SeedLen { algorithm, len });
        }
        let key = SigningKey::from_seed(algorithm, seed)?;
        match *key.verifying_key() == public.key {
            true => Ok(Self { key, public }),
            false => Err(AkpError::PublicKeyMismatch(algorithm)),
        }
    }

    pub(crate) fn public(&self) -> &PublicKey {
        &self.public
    }

    pub(crate) fn key(&self) -> &SigningKey {
        &self.key
    }

    pub(crate) fn seed(&self) -> Result<&[u8], AkpError> {
        let no_seed = || KeyError::NoSeed(self.key.algorithm().into());
        Ok(self.key.seed().ok_or_else(no_seed)?)
    }
}

/// The length of a seed (FIPS 204, algorithm 1).
const SEED_LEN: usize = 32;

/// Makes a document with a private key a [`Signer`](pq_keys::Signer) that signs with this key.
macro_rules! signs_by_its_key {
    ($document:ty) => {
        impl pq_keys::SubjectKey for $document {
            fn spki(&self) -> pq_keys::pki_types::SubjectPublicKeyInfoDer<'_> {
                self.signing_key().spki()
            }
        }

        impl pq_keys::Signer for $document {
            fn signature_algorithm(&self) -> pq_keys::spki::AlgorithmIdentifierOwned {
                self.signing_key().signature_algorithm()
            }

            fn sign(&self, message: &[u8]) -> Result<Vec<u8>, pq_keys::SignError> {
                pq_keys::Signer::sign(self.signing_key(), message)
            }
        }
    };
}

pub(crate) use signs_by_its_key;
