//! Critical extensions, which whoever does not process them must not pass over.

use const_oid::{AssociatedOid, ObjectIdentifier};
use x509_cert::ext::pkix::{
    BasicConstraints, ExtendedKeyUsage, KeyUsage, NameConstraints, SubjectAltName,
};

use crate::certificate::Certificate;

/// A critical extension that neither webpki nor this crate processes, if there is one
/// (RFC 5280 section 4.2).
pub(crate) fn unprocessed_critical_extension(
    certificate: &Certificate,
) -> Option<ObjectIdentifier> {
    const PROCESSED: [ObjectIdentifier; 5] = [
        BasicConstraints::OID,
        ExtendedKeyUsage::OID,
        KeyUsage::OID,
        NameConstraints::OID,
        SubjectAltName::OID,
    ];
    let extensions = certificate.parsed().tbs_certificate().extensions()?;
    extensions
        .iter()
        .find(|extension| extension.critical && !PROCESSED.contains(&extension.extn_id))
        .map(|extension| extension.extn_id)
}
