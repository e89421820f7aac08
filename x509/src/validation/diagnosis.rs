//! Finds the certificate that webpki's error is about, because webpki does not name it.

use const_oid::db::rfc5912::{ID_RSASSA_PSS, RSA_ENCRYPTION};
use pki_types::{CertificateDer, SignatureVerificationAlgorithm};
use pq_keys::encoding::rsa_bits;

use super::critical::unprocessed_critical_extension;
use super::error::ValidationError;
use super::roots::Roots;
use crate::certificate::signed::is_of;
use crate::certificate::{Certificate, CertificateError, SignatureError};

/// Converts webpki's error to ours, with the subject if it can be found.
///
/// Looks at only a few certificates of the chain, because the peer chose it.
pub(crate) fn explain(
    error: webpki::Error,
    chain: &[CertificateDer<'_>],
    roots: &Roots,
    algorithms: &[&dyn SignatureVerificationAlgorithm],
) -> ValidationError {
    let mut verdict = ValidationError::from(error);
    let sent: Vec<Certificate> = chain
        .iter()
        .take(MAX_CERTIFICATES)
        .filter_map(|der| Certificate::from_der(der).ok())
        .collect();
    let first = |is_it: &dyn Fn(&Certificate) -> bool| {
        let found = sent.iter().find(|certificate| is_it(certificate));
        found.map(Certificate::describe_subject)
    };
    let keys = || sent.iter().skip(1).chain(roots.above(&sent));
    match &mut verdict {
        ValidationError::Malformed => {
            let unread = (chain.iter().take(MAX_CERTIFICATES))
                .find_map(|der| Certificate::from_der(der).err());
            verdict = match unread {
                Some(CertificateError::Der(_)) => ValidationError::Malformed,
                Some(error) => error.into(),
                None => ValidationError::Unreadable,
            };
        }
        ValidationError::BadSignature { .. }
            if keys().any(|ca| unusable_rsa_bits(ca).is_some()) =>
        {
            if let Some((ca, bits)) = keys().find_map(|ca| Some((ca, unusable_rsa_bits(ca)?))) {
                verdict = ValidationError::RsaKeyLength {
                    subject: ca.describe_subject(),
                    bits,
                };
            }
        }
        ValidationError::UnsupportedAlgorithm(Some(oid)) => {
            let is_known =
                |one: &&dyn SignatureVerificationAlgorithm| is_of(&one.signature_alg_id(), *oid);
            if algorithms.iter().any(is_known) {
                verdict = ValidationError::UnsupportedParameters {
                    of: "the signature",
                    algorithm: *oid,
                };
            }
        }
        ValidationError::AlgorithmMismatch {
            signature: Some(signature),
            key: Some(key),
        } => {
            let is_known = |one: &&dyn SignatureVerificationAlgorithm| {
                is_of(&one.signature_alg_id(), *signature) && is_of(&one.public_key_alg_id(), *key)
            };
            if algorithms.iter().any(is_known) {
                verdict = ValidationError::UnsupportedParameters {
                    of: "the issuer's key",
                    algorithm: *key,
                };
            }
        }
        ValidationError::Expired {
            subject, not_after, ..
        } => *subject = first(&|certificate| certificate.not_after() == *not_after),
        ValidationError::NotYetValid {
            subject,
            not_before,
            ..
        } => *subject = first(&|certificate| certificate.not_before() == *not_before),
        ValidationError::NotACa { subject } => {
            *subject = first(&|certificate| {
                !certificate.is_ca() && sent.iter().any(|other| issued(certificate, other))
            });
        }
        ValidationError::NameConstraintViolation | ValidationError::NoNetwork { .. } => {
            // webpki compares an address up to the first octet that differs, and may not come to a gap in the mask.
            let has_others = |ca: &&Certificate| match ca.name_constraints() {
                Ok(Some(constraints)) => !constraints.has_only_networks(),
                _ => false,
            };
            let mut above = path(&sent).into_iter().skip(1).chain(roots.above(&sent));
            if let Some(ca) = above.find(has_others) {
                verdict = ValidationError::NoNetwork {
                    subject: Some(ca.describe_subject()),
                };
            }
        }
        ValidationError::PathLengthExceeded { subject } => {
            // webpki's count has the self-issued ones in it; if they make the difference, it searches again.
            *subject = (path(&sent).into_iter().skip(1).enumerate())
                .find(|(below, ca)| ca.path_len().is_some_and(|limit| *below > limit.into()))
                .map(|(_, ca)| ca.describe_subject());
        }
        ValidationError::BadSignature { subject } => {
            *subject = path(&sent)
                .into_iter()
                .find(|certificate| {
                    let issuers: Vec<&Certificate> = roots
                        .with_subject(certificate.issuer_der())
                        .chain(&sent)
                        .filter(|issuer| issued(issuer, certificate))
                        .take(MAX_ISSUERS + 1)
                        .collect();
                    let invalid = |issuer: &&Certificate| {
                        certificate.verify_signature(issuer, algorithms)
                            == Err(SignatureError::Invalid)
                    };
                    (1..=MAX_ISSUERS).contains(&issuers.len()) && issuers.iter().all(invalid)
                })
                .map(Certificate::describe_subject);
        }
        ValidationError::UnsupportedCriticalExtension { subject, oid } => {
            let found = sent.iter().find_map(|certificate| {
                unprocessed_critical_extension(certificate, &[]).map(|oid| (certificate, oid))
            });
            *subject = found.map(|(certificate, _)| certificate.describe_subject());
            *oid = found.map(|(_, oid)| oid);
        }
        _ => {}
    }
    verdict
}

/// The length of an RSA key that no signature is verified with.
pub(crate) fn unusable_rsa_bits(certificate: &Certificate) -> Option<usize> {
    let bits = bits_of_rsa(certificate)?.ok()?;
    (!(2048..=8192).contains(&bits)).then_some(bits)
}

/// The length of the key, if it is one of RSA.
///
/// # Errors
///
/// If the key is malformed.
pub(crate) fn bits_of_rsa(certificate: &Certificate) -> Option<der::Result<usize>> {
    let spki = certificate.spki_ref();
    match spki.algorithm.oid {
        RSA_ENCRYPTION | ID_RSASSA_PSS => Some(rsa_bits(spki.subject_public_key.raw_bytes())),
        _ => None,
    }
}

/// webpki gives up beyond six intermediates.
pub(crate) const MAX_CERTIFICATES: usize = 8;

/// With more issuers of one name than this, no certificate is named: each issuer costs a
/// verification, and only if all fail is the certificate the bad one.
const MAX_ISSUERS: usize = 4;

/// Whether one issued the other, by the names only.
fn issued(issuer: &Certificate, certificate: &Certificate) -> bool {
    issuer != certificate && issuer.subject() == certificate.issuer()
}

/// The end entity and the CAs above it, as far as they were sent, each once.
fn path(sent: &[Certificate]) -> Vec<&Certificate> {
    let mut path: Vec<&Certificate> = sent.first().into_iter().collect();
    while let Some(next) = path.last().and_then(|last| {
        sent.iter()
            .find(|issuer| issued(issuer, last) && !path.contains(issuer))
    }) {
        path.push(next);
    }
    path
}
