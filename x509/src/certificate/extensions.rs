//! Extensions of certificates, revocation lists and OCSP messages, whatever they contain.

use alloc::collections::BTreeSet;

use const_oid::{AssociatedOid, ObjectIdentifier};
use der::Encode;
use der::asn1::OctetString;
use x509_cert::ext::Extension;
use x509_cert::ext::pkix::{
    BasicConstraints, ExtendedKeyUsage, KeyUsage, NameConstraints, SubjectAltName,
};

/// The extensions that validation by webpki and this crate processes. A certificate with any other
/// critical extension is refused (RFC 5280 section 4.2).
pub(crate) const PROCESSED: [ObjectIdentifier; 5] = [
    BasicConstraints::OID,
    ExtendedKeyUsage::OID,
    KeyUsage::OID,
    NameConstraints::OID,
    SubjectAltName::OID,
];

/// An extension that occurs more than once, which RFC 5280 section 4.2 forbids.
pub(crate) fn repeated(extensions: &[Extension]) -> Option<ObjectIdentifier> {
    let mut seen = BTreeSet::new();
    let mut kinds = extensions.iter().map(|extension| extension.extn_id);
    kinds.find(|kind| !seen.insert(*kind))
}

/// A critical extension that is not among the processed ones.
pub(crate) fn critical_beside(
    processed: &[ObjectIdentifier],
    extensions: &[Extension],
) -> Option<ObjectIdentifier> {
    let unprocessed = |e: &&Extension| e.critical && !processed.contains(&e.extn_id);
    extensions.iter().find(unprocessed).map(|e| e.extn_id)
}

/// An extension as certificates and lists have it.
pub(crate) fn encode_extension<E: AssociatedOid + Encode>(
    critical: bool,
    extension: &E,
) -> der::Result<Extension> {
    Ok(Extension {
        extn_id: E::OID,
        critical,
        extn_value: OctetString::new(extension.to_der()?)?,
    })
}
