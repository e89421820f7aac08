//! Private keys of every kind that signs, as the keys of CAs and of signers.

use pq_ca::folder::StoredKey;
use pq_keys::any::{AnyAlgorithm, AnyKeyError, AnyPrivateKey, AnySigningKey};
use pq_keys::pki_types::SubjectPublicKeyInfoDer;
use pq_keys::spki::AlgorithmIdentifierOwned;
use pq_keys::{SignError, Signer, SubjectKey};
use zeroize::Zeroizing;

use super::error::KeyError;
use super::narrow::Narrow;

/// A private key of any kind that signs; a CA's folder stores it.
#[derive(Clone, Debug)]
pub(crate) struct SigningKey(pub(crate) AnySigningKey);

impl SigningKey {
    pub(crate) fn algorithm(&self) -> AnyAlgorithm {
        self.0.algorithm()
    }
}

impl Narrow<AnyPrivateKey> for SigningKey {
    fn narrow(key: AnyPrivateKey) -> Result<Self, KeyError> {
        match AnySigningKey::try_from(key) {
            Ok(key) => Ok(Self(key)),
            Err(AnyKeyError::NotASignatureKey(AnyAlgorithm::XWing)) => Err(KeyError::OnlyForFiles),
            Err(error) => Err(error.into()),
        }
    }
}

impl SubjectKey for SigningKey {
    fn spki(&self) -> SubjectPublicKeyInfoDer<'_> {
        self.0.spki()
    }
}

impl Signer for SigningKey {
    fn signature_algorithm(&self) -> AlgorithmIdentifierOwned {
        self.0.signature_algorithm()
    }

    fn sign(&self, message: &[u8]) -> Result<Vec<u8>, SignError> {
        Signer::sign(&self.0, message)
    }
}

impl StoredKey for SigningKey {
    type Error = KeyError;

    fn from_pem(text: &[u8]) -> Result<Self, KeyError> {
        Ok(Self(AnySigningKey::from_pem(text)?))
    }

    fn to_pem(&self) -> Result<Zeroizing<String>, KeyError> {
        Ok(self.0.to_pkcs8_pem()?)
    }
}
