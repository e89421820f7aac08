//! Signers and recipients: keys with certificates of one root.

use std::sync::LazyLock;

use p256::ecdh::diffie_hellman;
use p256::pkcs8::EncodePublicKey;
use p256::{PublicKey, SecretKey};
use pq_x509::certificate::{Certificate, KeyUsages};
use pq_x509::issuing::{CertificateBuilder, Issuer};
use pq_x509::keys::agreement::{Agreement, AgreementError, AgreementKey, AgreementPublicKey};
use pq_x509::keys::{SignError, SignatureAlgorithm, Signer, SigningKey, SubjectKey};
use pq_x509::pki_types::{
    AlgorithmIdentifier, InvalidSignature, SignatureVerificationAlgorithm, SubjectPublicKeyInfoDer,
    alg_id,
};
use pq_x509::validation::ChainValidator;
use pq_x509::x509_cert::spki::{AlgorithmIdentifierOwned, ObjectIdentifier};
use signers::{EcdsaP256, P256Key};
use zeroize::Zeroizing;

static ROOT: LazyLock<Issuer<SigningKey>> = LazyLock::new(|| {
    let key = SigningKey::generate(SignatureAlgorithm::MlDsa44).unwrap();
    Issuer::self_signed(CertificateBuilder::ca("Root"), key).unwrap()
});

/// A certificate by this root, for a key of any kind.
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

/// A key of ECDH on P-256, with its public half.
#[derive(Clone)]
pub(crate) struct EcdhKey {
    key: SecretKey,
    spki: Vec<u8>,
}

impl EcdhKey {
    pub(crate) fn new(secret: u8) -> Self {
        let key = SecretKey::from_slice(&[secret; 32]).unwrap();
        let spki = key.public_key().to_public_key_der().unwrap().into_vec();
        Self { key, spki }
    }

    pub(crate) fn certificate(&self, usage: KeyUsages) -> Certificate {
        let builder = CertificateBuilder::end_entity().common_name("someone");
        ROOT.issue(builder.key_usage(usage), self).unwrap()
    }
}

impl SubjectKey for EcdhKey {
    fn spki(&self) -> SubjectPublicKeyInfoDer<'_> {
        self.spki.as_slice().into()
    }
}

impl AgreementKey for EcdhKey {
    fn agree(&self, public_key: &[u8]) -> Result<Zeroizing<Vec<u8>>, AgreementError> {
        let public_key = PublicKey::from_sec1_bytes(public_key).map_err(AgreementError::new)?;
        let secret = diffie_hellman(self.key.to_nonzero_scalar(), public_key.as_affine());
        Ok(secret.raw_secret_bytes().to_vec().into())
    }
}

/// Always uses the same key, which is not ephemeral at all.
impl AgreementPublicKey for EcdhKey {
    fn agree_once(&self) -> Result<Agreement, AgreementError> {
        let ephemeral = Self::new(99);
        Ok(Agreement {
            public_key: ephemeral.key.public_key().to_sec1_bytes().into(),
            secret: ephemeral.agree(&self.key.public_key().to_sec1_bytes())?,
        })
    }
}

/// A key of ECDSA whose signatures claim the identifier of another algorithm, below 1.3.6.1.5.5.7.6. In the signed
/// bytes, the `unknown` identifier is replaced by this one, too.
pub(crate) struct Renamed {
    pub(crate) key: P256Key,
    pub(crate) unknown: Option<u8>,
    pub(crate) arc: u8,
}

impl Renamed {
    pub(crate) const fn identifier(arc: u8) -> [u8; 10] {
        [6, 8, 0x2b, 6, 1, 5, 5, 7, 6, arc]
    }

    /// The bytes with the one identifier replaced by the other.
    pub(crate) fn rename(&self, bytes: &[u8]) -> Vec<u8> {
        let mut bytes = bytes.to_vec();
        let Some(unknown) = self.unknown else {
            return bytes;
        };
        let unknown = Self::identifier(unknown);
        for at in 0..bytes.len().saturating_sub(unknown.len()) {
            let end = at + unknown.len();
            if bytes[at..end] == unknown {
                bytes[at..end].copy_from_slice(&Self::identifier(self.arc));
            }
        }
        bytes
    }
}

impl SubjectKey for Renamed {
    fn spki(&self) -> SubjectPublicKeyInfoDer<'_> {
        self.key.spki()
    }
}

impl Signer for Renamed {
    fn signature_algorithm(&self) -> AlgorithmIdentifierOwned {
        let arc = self.unknown.unwrap_or(self.arc);
        AlgorithmIdentifierOwned {
            oid: ObjectIdentifier::from_bytes(&Self::identifier(arc)[2..]).unwrap(),
            parameters: None,
        }
    }

    fn sign(&self, message: &[u8]) -> Result<Vec<u8>, SignError> {
        self.key.sign(&self.rename(message))
    }
}

/// Verifies signatures of MLDSA65-ECDSA-P256-SHA512, as far as these messages need it.
#[derive(Debug)]
pub(crate) struct Composite;

impl Composite {
    pub(crate) const ARC: u8 = 45;
}

impl SignatureVerificationAlgorithm for Composite {
    fn verify_signature(
        &self,
        public_key: &[u8],
        message: &[u8],
        signature: &[u8],
    ) -> Result<(), InvalidSignature> {
        EcdsaP256.verify_signature(public_key, message, signature)
    }

    fn public_key_alg_id(&self) -> AlgorithmIdentifier {
        alg_id::ECDSA_P256
    }

    fn signature_alg_id(&self) -> AlgorithmIdentifier {
        const IDENTIFIER: [u8; 10] = Renamed::identifier(Composite::ARC);
        AlgorithmIdentifier::from_slice(&IDENTIFIER)
    }
}
