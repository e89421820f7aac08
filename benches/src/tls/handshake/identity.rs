//! Certificates for both ends: ML-DSA from pq-x509, ECDSA with a signer of this file.

use core::error::Error;

use aws_lc_rs::encoding::{AsDer, PublicKeyX509Der};
use aws_lc_rs::rand::SystemRandom;
use aws_lc_rs::signature::{ECDSA_P256_SHA256_ASN1_SIGNING, EcdsaKeyPair, KeyPair};
use pq_x509::issuing::{CertificateBuilder, Issuer};
use pq_x509::keys::{SignError, SignatureAlgorithm, Signer, SigningKey, SubjectKey};
use pq_x509::pki_types::{CertificateDer, SubjectPublicKeyInfoDer};
use spki::{AlgorithmIdentifierOwned, ObjectIdentifier};

/// A root, a certificate below it for a server, and its key in PKCS#8.
pub(crate) struct Identity {
    pub(crate) root: CertificateDer<'static>,
    pub(crate) leaf: CertificateDer<'static>,
    pub(crate) key: Vec<u8>,
}

impl Identity {
    /// Root and leaf with ECDSA on P-256.
    pub(crate) fn p256(name: &str) -> Result<Self, Box<dyn Error>> {
        Self::issue(name, P256::generate)
    }

    /// Root and leaf with one of ML-DSA's parameter sets.
    pub(crate) fn ml_dsa(
        name: &str,
        algorithm: SignatureAlgorithm,
    ) -> Result<Self, Box<dyn Error>> {
        Self::issue(name, || {
            let key = SigningKey::generate(algorithm)?;
            let der = key.to_pkcs8_der()?.to_vec();
            Ok((key, der))
        })
    }

    fn issue<S: Signer>(
        name: &str,
        mut generate: impl FnMut() -> Result<(S, Vec<u8>), Box<dyn Error>>,
    ) -> Result<Self, Box<dyn Error>> {
        let root = Issuer::self_signed(CertificateBuilder::ca("Bench Root"), generate()?.0)?;
        let (leaf_key, key) = generate()?;
        let leaf = root.issue(CertificateBuilder::server().dns_name(name), &leaf_key)?;
        Ok(Self {
            root: root.certificate().der().clone(),
            leaf: leaf.into_der(),
            key,
        })
    }
}

/// An ECDSA key, which pq-x509 doesn't sign with.
pub(crate) struct P256 {
    key: EcdsaKeyPair,
    spki: Vec<u8>,
}

impl P256 {
    /// A key, and its PKCS#8.
    pub(crate) fn generate() -> Result<(Self, Vec<u8>), Box<dyn Error>> {
        let algorithm = &ECDSA_P256_SHA256_ASN1_SIGNING;
        let pkcs8 = EcdsaKeyPair::generate_pkcs8(algorithm, &SystemRandom::new())?;
        let key = EcdsaKeyPair::from_pkcs8(algorithm, pkcs8.as_ref())?;
        let spki: PublicKeyX509Der<'_> = key.public_key().as_der()?;
        let spki = spki.as_ref().to_vec();
        Ok((Self { key, spki }, pkcs8.as_ref().to_vec()))
    }
}

impl SubjectKey for P256 {
    fn spki(&self) -> SubjectPublicKeyInfoDer<'_> {
        self.spki.as_slice().into()
    }
}

impl Signer for P256 {
    fn signature_algorithm(&self) -> AlgorithmIdentifierOwned {
        AlgorithmIdentifierOwned {
            // ecdsa-with-SHA256 (RFC 5758, section 3.2)
            oid: ObjectIdentifier::new_unwrap("1.2.840.10045.4.3.2"),
            parameters: None,
        }
    }

    fn sign(&self, message: &[u8]) -> Result<Vec<u8>, SignError> {
        self.key
            .sign(&SystemRandom::new(), message)
            .map(|signature| signature.as_ref().to_vec())
            .map_err(SignError::new)
    }
}
