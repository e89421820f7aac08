//! Who signs and who receives: keys with certificates of one root.

use std::sync::LazyLock;

use p256::ecdsa::signature::{Signer as _, Verifier as _};
use p256::ecdsa::{DerSignature, SigningKey as EcdsaKey, VerifyingKey as EcdsaPublicKey};
use p256::pkcs8::EncodePublicKey;
use pq_x509::pki_types::{
    AlgorithmIdentifier, InvalidSignature, SignatureVerificationAlgorithm, SubjectPublicKeyInfoDer,
    alg_id,
};
use pq_x509::x509_cert::spki::{AlgorithmIdentifierOwned, ObjectIdentifier};
use pq_x509::{
    Certificate, CertificateBuilder, ChainValidator, Issuer, SignError, SignatureAlgorithm, Signer,
    SigningKey, SubjectKey,
};

static ROOT: LazyLock<Issuer<SigningKey>> = LazyLock::new(|| {
    let key = SigningKey::generate(SignatureAlgorithm::MlDsa44).unwrap();
    Issuer::self_signed(CertificateBuilder::ca("Root"), key).unwrap()
});

/// Certificates of this root, for keys of any kind.
pub(crate) fn certificate(name: &str, key: &(impl SubjectKey + ?Sized)) -> Certificate {
    let builder = CertificateBuilder::end_entity().common_name(name);
    ROOT.issue(builder, key).unwrap()
}

pub(crate) fn validator() -> ChainValidator {
    ChainValidator::new([ROOT.certificate().clone()]).unwrap()
}

/// A key with its certificate.
pub(crate) struct Person {
    pub(crate) key: SigningKey,
    pub(crate) certificate: Certificate,
}

impl Person {
    pub(crate) fn new(algorithm: SignatureAlgorithm) -> Self {
        let key = SigningKey::generate(algorithm).unwrap();
        Self {
            certificate: certificate(algorithm.name(), &key),
            key,
        }
    }
}

/// A classical key: ECDSA on P-256.
pub(crate) struct P256Key {
    key: EcdsaKey,
    spki: Vec<u8>,
}

impl P256Key {
    pub(crate) fn new(secret: u8) -> Self {
        let key = EcdsaKey::from_slice(&[secret; 32]).unwrap();
        let spki = key.verifying_key().to_public_key_der().unwrap().into_vec();
        Self { key, spki }
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
            oid: ObjectIdentifier::new_unwrap("1.2.840.10045.4.3.2"),
            parameters: None,
        }
    }

    fn sign(&self, message: &[u8]) -> Result<Vec<u8>, SignError> {
        let signature: DerSignature = self.key.try_sign(message).map_err(SignError::new)?;
        Ok(signature.as_bytes().to_vec())
    }
}

/// What verifies its signatures.
#[derive(Debug)]
pub(crate) struct EcdsaP256;

impl SignatureVerificationAlgorithm for EcdsaP256 {
    fn verify_signature(
        &self,
        public_key: &[u8],
        message: &[u8],
        signature: &[u8],
    ) -> Result<(), InvalidSignature> {
        let key = EcdsaPublicKey::from_sec1_bytes(public_key).map_err(|_| InvalidSignature)?;
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
