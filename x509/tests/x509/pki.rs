//! A small public-key infrastructure for the tests of validation, sound or altered.

use core::time::Duration;
use std::time::SystemTime;

use der::asn1::{Any, BitString};
use der::{Encode, Tag};
use pq_x509::certificate::Certificate;
use pq_x509::issuing::{Ca, CertificateBuilder, EndEntity, Issuer, TbsCertificate};
use pq_x509::keys::{SignatureAlgorithm, Signer, SigningKey};
use pq_x509::pki_types::{ServerName, UnixTime};
use pq_x509::validation::{ChainValidator, ValidationError};
use pq_x509::x509_cert::ext::pkix::KeyUsage;

/// A root, an intermediate and a leaf for `example.org` and 192.0.2.1.
pub(crate) struct Pki {
    pub(crate) root: Issuer<SigningKey>,
    pub(crate) ca: Issuer<SigningKey>,
    pub(crate) leaf_key: SigningKey,
}

impl Pki {
    pub(crate) fn new() -> Self {
        Self::with_ca(CertificateBuilder::ca("CA"))
    }

    pub(crate) fn with_ca(ca: CertificateBuilder<Ca>) -> Self {
        let root = Issuer::self_signed(CertificateBuilder::ca("Root"), key()).unwrap();
        Self {
            ca: root.issue_ca(ca, key()).unwrap(),
            root,
            leaf_key: key(),
        }
    }

    pub(crate) fn leaf(&self) -> Certificate {
        self.issue(server())
    }

    pub(crate) fn issue(&self, builder: CertificateBuilder<EndEntity>) -> Certificate {
        self.ca.issue(builder, &self.leaf_key).unwrap()
    }

    pub(crate) fn chain(&self, leaf: Certificate) -> Vec<Certificate> {
        vec![leaf, self.ca.certificate().clone()]
    }

    pub(crate) fn validator(&self) -> ChainValidator {
        ChainValidator::new([self.root.certificate().clone()]).unwrap()
    }

    pub(crate) fn validate(&self, chain: &[Certificate]) -> Result<usize, ValidationError> {
        self.validate_for("example.org", chain)
    }

    pub(crate) fn validate_for(
        &self,
        name: &str,
        chain: &[Certificate],
    ) -> Result<usize, ValidationError> {
        validate_with(&self.validator(), name, chain)
    }

    /// The intermediate once more, with the same name and key, altered.
    pub(crate) fn altered_ca(&self, alter: impl FnOnce(&mut TbsCertificate)) -> Certificate {
        let builder = CertificateBuilder::ca("CA");
        let mut tbs = self.root.prepare(builder, self.ca.signer()).unwrap();
        alter(&mut tbs);
        tbs.sign(self.root.signer()).unwrap()
    }

    /// The root once more, with the same name and key, altered.
    pub(crate) fn altered_root(&self, alter: impl FnOnce(&mut TbsCertificate)) -> Certificate {
        let builder = CertificateBuilder::ca("Root");
        let mut tbs = self.root.prepare(builder, self.root.signer()).unwrap();
        alter(&mut tbs);
        tbs.sign(self.root.signer()).unwrap()
    }

    pub(crate) fn altered_leaf(&self, alter: impl FnOnce(&mut TbsCertificate)) -> Certificate {
        let mut tbs = self.ca.prepare(server(), &self.leaf_key).unwrap();
        alter(&mut tbs);
        tbs.sign(self.ca.signer()).unwrap()
    }
}

pub(crate) fn key() -> SigningKey {
    SigningKey::generate(SignatureAlgorithm::MlDsa44).unwrap()
}

pub(crate) fn server() -> CertificateBuilder<EndEntity> {
    CertificateBuilder::server()
        .dns_name("example.org")
        .ip_address("192.0.2.1".parse().unwrap())
}

/// A document that a key of ML-DSA-44 signed.
pub(crate) fn sign(body: &[u8], key: &SigningKey) -> Vec<u8> {
    let signature = Signer::sign(key, body).unwrap();
    let parts = [
        body.to_vec(),
        SignatureAlgorithm::MlDsa44.identifier().to_der().unwrap(),
        BitString::from_bytes(&signature).unwrap().to_der().unwrap(),
    ];
    Any::new(Tag::Sequence, parts.concat())
        .unwrap()
        .to_der()
        .unwrap()
}

/// Validates a chain, and returns the length of the path.
pub(crate) fn validate_with(
    validator: &ChainValidator,
    name: &str,
    chain: &[Certificate],
) -> Result<usize, ValidationError> {
    let name = ServerName::try_from(name).unwrap();
    let path = validator.validate_server(chain, &name, UnixTime::now())?;
    Ok(path.certificates().len())
}

pub(crate) fn bad_signature(subject: &str) -> ValidationError {
    ValidationError::BadSignature {
        subject: Some(subject.into()),
    }
}

pub(crate) fn not_a_ca(subject: &str) -> ValidationError {
    ValidationError::NotACa {
        subject: Some(subject.into()),
    }
}

pub(crate) fn path_length_exceeded(subject: &str) -> ValidationError {
    ValidationError::PathLengthExceeded {
        subject: Some(subject.into()),
    }
}

pub(crate) fn days_from_now(days: i32) -> SystemTime {
    let shift = Duration::from_secs(u64::from(days.unsigned_abs()) * 24 * 60 * 60);
    match days >= 0 {
        true => SystemTime::now() + shift,
        false => SystemTime::now() - shift,
    }
}

pub(crate) fn unix_days_from_now(days: i32) -> UnixTime {
    let since = days_from_now(days).duration_since(SystemTime::UNIX_EPOCH);
    UnixTime::since_unix_epoch(since.unwrap())
}

pub(crate) fn set_usage(tbs: &mut TbsCertificate, usages: KeyUsage) {
    tbs.set_extension(true, &usages).unwrap();
}
