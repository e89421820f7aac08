//! Critical extensions, which a validator must not ignore if it does not process them.

use const_oid::ObjectIdentifier;
use const_oid::db::rfc5280::{ID_CE_CERTIFICATE_POLICIES, ID_CE_POLICY_CONSTRAINTS};
use x509_cert::ext::Extension;

use super::error::ValidationError;
use crate::certificate::{Certificate, PROCESSED, are_interpreted, critical_beside};

/// A critical extension that neither webpki nor this crate processes, if there is one
/// (RFC 5280 section 4.2). `own` are those that the caller processes beside them.
pub(crate) fn unprocessed_critical_extension(
    certificate: &Certificate,
    own: &[ObjectIdentifier],
) -> Option<ObjectIdentifier> {
    let extensions = certificate.parsed().tbs_certificate().extensions()?;
    let policies = extensions.iter().filter(|one| are_interpreted(one));
    let policies: Vec<_> = policies.map(|one| one.extn_id).collect();
    critical_beside(&[&PROCESSED, own, &policies].concat(), extensions)
}

/// That critical policies on a path are processed by accepting all: no CA on it may require some.
pub(crate) fn check_policies(path: &[Certificate]) -> Result<(), ValidationError> {
    let is_critical = |one: &Extension| one.critical && one.extn_id == ID_CE_CERTIFICATE_POLICIES;
    let requires = |one: &Extension| one.extn_id == ID_CE_POLICY_CONSTRAINTS;
    let has = |one: &Certificate, is: &dyn Fn(&Extension) -> bool| {
        let extensions = one.parsed().tbs_certificate().extensions();
        extensions.is_some_and(|all| all.iter().any(is))
    };
    match path.iter().find(|one| has(one, &is_critical)) {
        Some(one) if path.iter().any(|one| has(one, &requires)) => {
            Err(ValidationError::UnsupportedCriticalExtension {
                subject: Some(one.describe_subject()),
                oid: Some(ID_CE_CERTIFICATE_POLICIES),
            })
        }
        _ => Ok(()),
    }
}
