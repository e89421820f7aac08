//! Critical extensions, which a validator must not ignore if it does not process them.

use const_oid::ObjectIdentifier;

use crate::certificate::{Certificate, PROCESSED, critical_beside};

/// A critical extension that neither webpki nor this crate processes, if there is one
/// (RFC 5280 section 4.2). `own` are those that the caller processes beside them.
pub(crate) fn unprocessed_critical_extension(
    certificate: &Certificate,
    own: &[ObjectIdentifier],
) -> Option<ObjectIdentifier> {
    let extensions = certificate.parsed().tbs_certificate().extensions()?;
    critical_beside(&[&PROCESSED, own].concat(), extensions)
}
