//! The extensions of certificate policies (RFC 5280 sections 4.2.1.4, 4.2.1.5 and 4.2.1.14), as far as validation has to
//! process them.
//!
//! All policies will do for whoever validates here, none is required, and where one is mapped, the other
//! will do as well. Then the algorithm of RFC 5280 section 6.1 refuses nothing for the policies, unless a CA requires some by policyConstraints, or
//! maps anyPolicy.

use alloc::collections::BTreeSet;
use alloc::vec::Vec;

use const_oid::ObjectIdentifier;
use const_oid::db::rfc5280::{
    ANY_POLICY, ID_CE_CERTIFICATE_POLICIES, ID_CE_INHIBIT_ANY_POLICY, ID_CE_POLICY_MAPPINGS,
    ID_QT_CPS, ID_QT_UNOTICE,
};
use der::asn1::{AnyRef, BmpString, Ia5StringRef, IntRef, UintRef};
use der::{Decode, Sequence, Tag, Tagged};
use pq_keys::encoding::syntax;
use x509_cert::ext::Extension;
use x509_cert::ext::pkix::CertificatePolicies;

/// The extensions that [`are_interpreted`] knows.
pub(crate) const OF_POLICIES: [ObjectIdentifier; 3] = [
    ID_CE_CERTIFICATE_POLICIES,
    ID_CE_POLICY_MAPPINGS,
    ID_CE_INHIBIT_ANY_POLICY,
];

/// Whether an extension is one of those, and can be interpreted whole, the policies with all of their qualifiers, as it has
/// to be if it is critical.
pub(crate) fn are_interpreted(extension: &Extension) -> bool {
    let contents = extension.extn_value.as_bytes();
    match extension.extn_id {
        ID_CE_CERTIFICATE_POLICIES => are_policies(contents),
        ID_CE_POLICY_MAPPINGS => are_mappings(contents),
        // SkipCerts ::= INTEGER (0..MAX)
        ID_CE_INHIBIT_ANY_POLICY => UintRef::from_der(contents).is_ok(),
        _ => false,
    }
}

/// Whether each policy is there once, and has only qualifiers that RFC 5280 defines.
fn are_policies(contents: &[u8]) -> bool {
    let Ok(CertificatePolicies(policies)) = read_policies(contents) else {
        return false;
    };
    let mut qualifiers = policies
        .iter()
        .flat_map(|one| one.policy_qualifiers.iter().flatten());
    let are_known =
        qualifiers.all(|one| [ID_QT_CPS, ID_QT_UNOTICE].contains(&one.policy_qualifier_id));
    let identifiers: BTreeSet<ObjectIdentifier> =
        policies.iter().map(|one| one.policy_identifier).collect();
    are_known && !policies.is_empty() && identifiers.len() == policies.len()
}

/// Reads the policies, and the qualifiers that RFC 5280 defines whole.
pub(crate) fn read_policies(contents: &[u8]) -> der::Result<CertificatePolicies> {
    let policies = CertificatePolicies::from_der(contents)?;
    let are_sound = policies.0.iter().all(|one| {
        let Some(qualifiers) = &one.policy_qualifiers else {
            return true;
        };
        let mut sound = qualifiers.iter().map(|one| {
            let qualifier = one.qualifier.as_ref().map(AnyRef::from);
            match one.policy_qualifier_id {
                ID_QT_CPS => qualifier.is_some_and(is_ia5_string),
                ID_QT_UNOTICE => qualifier.is_some_and(is_user_notice),
                _ => true,
            }
        });
        // SEQUENCE SIZE (1..MAX) OF PolicyQualifierInfo
        !qualifiers.is_empty() && sound.all(|is_sound| is_sound)
    });
    match are_sound {
        true => Ok(policies),
        false => Err(Tag::Sequence.value_error().into()),
    }
}

/// ```text
/// UserNotice ::= SEQUENCE {
///     noticeRef        NoticeReference OPTIONAL,
///     explicitText     DisplayText OPTIONAL }
/// ```
fn is_user_notice(notice: AnyRef<'_>) -> bool {
    match fields(notice).as_deref() {
        Some([]) => true,
        Some([one]) => is_notice_reference(*one) || is_display_text(*one),
        Some([reference, text]) => is_notice_reference(*reference) && is_display_text(*text),
        _ => false,
    }
}

/// ```text
/// NoticeReference ::= SEQUENCE {
///     organization     DisplayText,
///     noticeNumbers    SEQUENCE OF INTEGER }
/// ```
fn is_notice_reference(reference: AnyRef<'_>) -> bool {
    match fields(reference).as_deref() {
        Some([organization, numbers]) => {
            is_display_text(*organization) && numbers.decode_as::<Vec<IntRef<'_>>>().is_ok()
        }
        _ => false,
    }
}

/// A text that is not empty. Those of more than 200 characters are not refused, as section 4.2.1.4 recommends.
fn is_display_text(text: AnyRef<'_>) -> bool {
    let value = text.value();
    let is_string = match text.tag() {
        Tag::Ia5String => is_ia5_string(text),
        Tag::VisibleString => value.iter().all(|c| matches!(c, b' '..=b'~')),
        Tag::BmpString => BmpString::from_ucs2(value).is_ok(),
        Tag::Utf8String => str::from_utf8(value).is_ok(),
        _ => false,
    };
    is_string && !value.is_empty()
}

fn is_ia5_string(text: AnyRef<'_>) -> bool {
    Ia5StringRef::try_from(text).is_ok()
}

/// The fields of a SEQUENCE, whatever they are.
fn fields(sequence: AnyRef<'_>) -> Option<Vec<AnyRef<'_>>> {
    sequence.decode_as().ok()
}

/// Whether policyMappings can be read, and no policy is mapped to or from anyPolicy (RFC 5280 section 6.1.4 (a)).
pub(crate) fn are_mappings(contents: &[u8]) -> bool {
    #[derive(Sequence)]
    struct Mapping<'a> {
        issuer_domain_policy: AnyRef<'a>,
        subject_domain_policy: AnyRef<'a>,
    }
    let is_other = |policy: AnyRef<'_>| {
        policy.tag() == Tag::ObjectIdentifier
            && syntax::check_primitive(Tag::ObjectIdentifier, policy.value()).is_ok()
            && policy.value() != ANY_POLICY.as_bytes()
    };
    let mappings = Vec::<Mapping<'_>>::from_der(contents);
    mappings.is_ok_and(|mappings| {
        let mut all = mappings.iter();
        !mappings.is_empty()
            && all.all(|one| {
                is_other(one.issuer_domain_policy) && is_other(one.subject_domain_policy)
            })
    })
}
