//! The certificate policies (RFC 5280 section 4.2.1.4), as far as validation has to process them if they are critical.
//!
//! All policies will do for whoever validates here, none is required, and none is mapped. Then the algorithm of RFC 5280
//! section 6.1 refuses nothing for its policies, unless a CA requires some by policyConstraints.

use alloc::collections::BTreeSet;

use const_oid::db::rfc5280::{ID_QT_CPS, ID_QT_UNOTICE};
use const_oid::{AssociatedOid, ObjectIdentifier};
use der::{Decode, Tag, Tagged};
use x509_cert::ext::Extension;
use x509_cert::ext::pkix::CertificatePolicies;

/// Whether an extension is that of the policies, and can be interpreted with all of its qualifiers, as it has to be if it is
/// critical.
pub(crate) fn are_interpreted(extension: &Extension) -> bool {
    if extension.extn_id != CertificatePolicies::OID {
        return false;
    }
    let Ok(policies) = CertificatePolicies::from_der(extension.extn_value.as_bytes()) else {
        return false;
    };
    let mut qualifiers = policies
        .0
        .iter()
        .flat_map(|one| one.policy_qualifiers.iter().flatten());
    let are_known = qualifiers.all(|one| {
        let tag = one.qualifier.as_ref().map(Tagged::tag);
        match one.policy_qualifier_id {
            ID_QT_CPS => tag == Some(Tag::Ia5String),
            ID_QT_UNOTICE => tag == Some(Tag::Sequence),
            _ => false,
        }
    });
    let identifiers: BTreeSet<ObjectIdentifier> =
        policies.0.iter().map(|one| one.policy_identifier).collect();
    are_known && !policies.0.is_empty() && identifiers.len() == policies.0.len()
}
