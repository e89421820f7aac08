//! Critical extensions, which a validator must not ignore if it does not process them.

use const_oid::ObjectIdentifier;
use const_oid::db::rfc5280::{ID_CE_POLICY_CONSTRAINTS, ID_CE_POLICY_MAPPINGS};
use x509_cert::ext::Extension;

use super::error::ValidationError;
use crate::certificate::{
    Certificate, OF_POLICIES, PROCESSED, are_interpreted, are_mappings, critical_beside,
};

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

/// That critical extensions of policies on a path are processed by accepting all: no CA on it may require some, and none may
/// map anyPolicy (RFC 5280 section 6.1.4 (a)), in an extension that is critical or not.
pub(crate) fn check_policies(path: &[Certificate]) -> Result<(), ValidationError> {
    let is_critical = |one: &Extension| one.critical && OF_POLICIES.contains(&one.extn_id);
    let requires = |one: &Extension| one.extn_id == ID_CE_POLICY_CONSTRAINTS;
    let maps_any = |one: &Extension| {
        one.extn_id == ID_CE_POLICY_MAPPINGS && !are_mappings(one.extn_value.as_bytes())
    };
    // The root is trusted as it is: nothing is prepared for it.
    let cas = path
        .get(1..path.len().saturating_sub(1))
        .unwrap_or_default();
    if let Some(ca) = cas.iter().find(|one| extension(one, maps_any).is_some()) {
        return Err(ValidationError::PolicyMappings {
            subject: ca.describe_subject(),
        });
    }
    let critical = path
        .iter()
        .find_map(|one| Some((one, extension(one, is_critical)?)));
    match critical {
        Some((one, oid)) if path.iter().any(|one| extension(one, requires).is_some()) => {
            Err(ValidationError::UnsupportedCriticalExtension {
                subject: Some(one.describe_subject()),
                oid: Some(oid),
            })
        }
        _ => Ok(()),
    }
}

/// Which extension of a certificate is one of these.
fn extension(
    certificate: &Certificate,
    is: impl Fn(&Extension) -> bool,
) -> Option<ObjectIdentifier> {
    let extensions = certificate.parsed().tbs_certificate().extensions()?;
    let found = extensions.iter().find(|one| is(one))?;
    Some(found.extn_id)
}
