//! What the certificate of a delegate must have, by which a CA lets another key answer (RFC 6960 section 4.2.2.2).
//! Issuing and validation use the same checks.

use const_oid::ObjectIdentifier;
use const_oid::db::rfc5280::ID_KP_OCSP_SIGNING;
use der::flagset::FlagSet;
use pq_keys::errors::from_causes;
use x509_cert::ext::pkix::KeyUsages;

use crate::certificate::{CanonicalName, Certificate, SignatureError};

/// Why a certificate doesn't allow its owner to answer for a CA (RFC 6960 section 4.2.2.2).
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum OcspDelegateError {
    /// It was issued by another CA.
    #[error("it was issued by \"{0}\"; have it issued by the CA whose certificates it answers for")]
    AnotherIssuer(String),
    /// It was issued by another key of a CA of this name.
    #[error(
        "another key of \"{0}\" issued it, and nobody accepts its answers for this one; have it issued by the key whose \
         certificates it answers for"
    )]
    AnotherKey(String),
    /// It lacks the extended key usage OCSPSigning.
    #[error(
        "it does not have the extended key usage OCSPSigning; have it issued as an OCSP responder's \
         certificate"
    )]
    WithoutPurpose,
    /// Its key usage is not for signatures of documents.
    #[error(
        "its key usage has neither digitalSignature nor nonRepudiation; have it issued with one"
    )]
    KeyUsage,
    /// It has a critical extension that is not processed here.
    #[error("it has the critical extension {0}, which is not supported; have it issued without it")]
    CriticalExtension(ObjectIdentifier),
    /// It is not valid at this time.
    #[error("it is not valid at this time; have it renewed, or check the clock")]
    Validity,
    /// It was not signed by the CA's key.
    #[error("the signature of that certificate: {0}")]
    Signature(SignatureError),
    /// It was revoked by the CA.
    #[error("it was revoked; use another one")]
    Revoked,
    /// Nobody knows whether it was revoked.
    #[error(
        "it may have been revoked: it has no id-pkix-ocsp-nocheck, and there is no usable revocation list \
         of its issuer; get one, or have it issued with that extension"
    )]
    UnknownStatus,
}

from_causes!(OcspDelegateError: Signature(SignatureError));

/// Checks a delegate's certificate, as far as it and its issuer's name tell.
pub(crate) fn check_delegate(
    delegate: &Certificate,
    issuer: &Certificate,
) -> Result<(), OcspDelegateError> {
    if CanonicalName::of(delegate.issuer()) != CanonicalName::of(issuer.subject()) {
        return Err(OcspDelegateError::AnotherIssuer(delegate.describe_issuer()));
    }
    // anyExtendedKeyUsage is not enough: the CA must have intended this use.
    let purposes = delegate.extended_key_usage().unwrap_or_default();
    if !purposes.contains(&ID_KP_OCSP_SIGNING) {
        return Err(OcspDelegateError::WithoutPurpose);
    }
    delegate.key_usage().map_or(Ok(()), check_delegate_usage)
}

/// The rule of RFC 5280 section 4.2.1.12 for signers of OCSP responses.
pub(crate) fn check_delegate_usage(usages: FlagSet<KeyUsages>) -> Result<(), OcspDelegateError> {
    let fitting = KeyUsages::DigitalSignature | KeyUsages::NonRepudiation;
    match (usages & fitting).is_empty() {
        true => Err(OcspDelegateError::KeyUsage),
        false => Ok(()),
    }
}
