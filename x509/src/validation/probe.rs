//! A certificate below a CA, which nobody signed: with it webpki judges the CA as the issuer of an end entity, and not as
//! an end entity.

use core::time::Duration;
use std::time::SystemTime;

use der::asn1::AnyRef;
use der::referenced::OwnedToRef;
use der::{Decode, Sequence, Tag};
use pki_types::{AlgorithmIdentifier, InvalidSignature, SignatureVerificationAlgorithm, UnixTime};
use pq_keys::encoding::to_der;
use spki::{AlgorithmIdentifierOwned, AlgorithmIdentifierRef, SubjectPublicKeyInfoRef};
use x509_cert::certificate::Version;
use x509_cert::name::Name;
use x509_cert::serial_number::SerialNumber;

use super::error::ValidationError;
use crate::certificate::{Certificate, Validity, signed};

/// A certificate of an end entity without any names, which a CA would issue for its own key.
#[derive(Debug)]
pub(crate) struct Probe {
    pub(crate) der: Vec<u8>,
    /// What would be signed.
    body: Vec<u8>,
    /// The key by which it counts as signed.
    key: Vec<u8>,
}

/// A certificate without extensions (RFC 5280 section 4.1).
#[derive(Sequence)]
struct Body<'a> {
    #[asn1(context_specific = "0", default = "Default::default")]
    version: Version,
    number: SerialNumber,
    signature: AlgorithmIdentifierRef<'a>,
    issuer: Name,
    validity: x509_cert::time::Validity,
    subject: Name,
    key: SubjectPublicKeyInfoRef<'a>,
}

impl Probe {
    /// A certificate below this CA that is valid at this time.
    ///
    /// # Errors
    ///
    /// [`ValidationError::UnsupportedAlgorithm`] if none of the algorithms verifies what the CA signs.
    pub(crate) fn below(
        ca: &Certificate,
        algorithms: &[&dyn SignatureVerificationAlgorithm],
        time: UnixTime,
    ) -> Result<Self, ValidationError> {
        let key = ca.spki_ref();
        let of_key = to_der(&key.algorithm).map_err(malformed)?;
        let of_key = AnyRef::from_der(&of_key).map_err(malformed)?;
        let algorithm = algorithms
            .iter()
            .find(|one| *one.public_key_alg_id() == *of_key.value());
        let unsupported = || ValidationError::UnsupportedAlgorithm(Some(key.algorithm.oid));
        let algorithm = algorithm.ok_or_else(unsupported)?.signature_alg_id();
        let algorithm = AnyRef::new(Tag::Sequence, &algorithm)
            .and_then(|contents| contents.decode_as::<AlgorithmIdentifierOwned>())
            .map_err(malformed)?;
        let at = SystemTime::UNIX_EPOCH.checked_add(Duration::from_secs(time.as_secs()));
        let validity = at.and_then(|at| Validity::new(at, at).to_x509().ok());
        // No certificate is valid at a time that none can have.
        let expired = || ValidationError::Expired {
            subject: Some(ca.describe_subject()),
            not_after: ca.not_after(),
            time,
        };
        let body = Body {
            version: Version::V3,
            number: SerialNumber::from(1_u8),
            signature: algorithm.owned_to_ref(),
            issuer: ca.subject().clone(),
            validity: validity.ok_or_else(expired)?,
            subject: Name::default(),
            key: ca.spki_ref(),
        };
        let body = to_der(&body).map_err(malformed)?;
        Ok(Self {
            der: signed::envelope(&body, &algorithm, &[0]).map_err(malformed)?,
            body,
            key: key.subject_public_key.raw_bytes().into(),
        })
    }

    /// An algorithm by which the CA's key signed the probe, and which verifies all else as this one does.
    pub(crate) fn signed_for<'a>(
        &'a self,
        algorithm: &'static dyn SignatureVerificationAlgorithm,
    ) -> impl SignatureVerificationAlgorithm + 'a {
        Signed {
            algorithm,
            probe: self,
        }
    }
}

fn malformed(_: der::Error) -> ValidationError {
    ValidationError::Malformed
}

#[derive(Debug)]
struct Signed<'a> {
    algorithm: &'static dyn SignatureVerificationAlgorithm,
    probe: &'a Probe,
}

impl SignatureVerificationAlgorithm for Signed<'_> {
    fn verify_signature(
        &self,
        public_key: &[u8],
        message: &[u8],
        signature: &[u8],
    ) -> Result<(), InvalidSignature> {
        match message == self.probe.body && public_key == self.probe.key {
            true => Ok(()),
            false => self
                .algorithm
                .verify_signature(public_key, message, signature),
        }
    }

    fn public_key_alg_id(&self) -> AlgorithmIdentifier {
        self.algorithm.public_key_alg_id()
    }

    fn signature_alg_id(&self) -> AlgorithmIdentifier {
        self.algorithm.signature_alg_id()
    }
}
