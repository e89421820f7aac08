//! Keys that sign for tests, as a program brings them that has its own: they implement pq-keys' traits, and have
//! nothing to do with pq-keys' own types and with a base of the provider.
#![forbid(unsafe_code)]

use p256::ecdsa::signature::{Signer as _, Verifier as _};
use p256::ecdsa::{DerSignature, SigningKey, VerifyingKey};
use p256::pkcs8::{DecodePrivateKey as _, EncodePublicKey as _};
use pki_types::{
    AlgorithmIdentifier, InvalidSignature, SignatureVerificationAlgorithm, SubjectPublicKeyInfoDer,
    alg_id,
};
use pq_keys::{SignError, Signer, SubjectKey};
use spki::{AlgorithmIdentifierOwned, ObjectIdentifier};

/// A key of ECDSA on P-256.
#[derive(Debug)]
pub struct P256Key {
    key: SigningKey,
    spki: Vec<u8>,
}

impl P256Key {
    /// The key whose secret is this byte 32 times.
    ///
    /// # Panics
    /// If the byte is 0 or 0xff.
    pub fn new(secret: u8) -> Self {
        Self::from_key(SigningKey::from_slice(&[secret; 32]).expect("a secret"))
    }

    /// The key in a PKCS#8 document.
    ///
    /// # Panics
    /// If there is none.
    pub fn from_pkcs8(der: &[u8]) -> Self {
        Self::from_key(SigningKey::from_pkcs8_der(der).expect("a key on P-256"))
    }

    fn from_key(key: SigningKey) -> Self {
        let spki = key.verifying_key().to_public_key_der();
        Self {
            spki: spki.expect("a public key").into_vec(),
            key,
        }
    }

    /// The same key, with a public half that has its point compressed.
    #[must_use]
    pub fn compressed(mut self) -> Self {
        let point = self.key.verifying_key().to_sec1_point(true);
        let length = self.spki.len() - 65;
        self.spki.truncate(length);
        self.spki.extend_from_slice(point.as_bytes());
        // The lengths of the SEQUENCE and of the BIT STRING.
        self.spki[1] -= 32;
        self.spki[length - 2] -= 32;
        self
    }
}

impl SubjectKey for P256Key {
    fn spki(&self) -> SubjectPublicKeyInfoDer<'_> {
        self.spki.as_slice().into()
    }
}

impl Signer for P256Key {
    fn signature_algorithm(&self) -> AlgorithmIdentifierOwned {
        AlgorithmIdentifierOwned {
            // ecdsa-with-SHA256
            oid: ObjectIdentifier::new_unwrap("1.2.840.10045.4.3.2"),
            parameters: None,
        }
    }

    fn sign(&self, message: &[u8]) -> Result<Vec<u8>, SignError> {
        let signature: DerSignature = self.key.try_sign(message).map_err(SignError::new)?;
        Ok(signature.as_bytes().to_vec())
    }
}

/// Verifies the signatures of a [`P256Key`].
#[derive(Debug)]
pub struct EcdsaP256;

impl SignatureVerificationAlgorithm for EcdsaP256 {
    fn verify_signature(
        &self,
        public_key: &[u8],
        message: &[u8],
        signature: &[u8],
    ) -> Result<(), InvalidSignature> {
        let key = VerifyingKey::from_sec1_bytes(public_key).map_err(|_| InvalidSignature)?;
        let signature = DerSignature::from_bytes(signature).map_err(|_| InvalidSignature)?;
        key.verify(message, &signature)
            .map_err(|_| InvalidSignature)
    }

    fn public_key_alg_id(&self) -> AlgorithmIdentifier {
        alg_id::ECDSA_P256
    }

    fn signature_alg_id(&self) -> AlgorithmIdentifier {
        alg_id::ECDSA_SHA256
    }
}
