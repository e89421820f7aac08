//! Which extensions are critical.

use const_oid::ObjectIdentifier;
use const_oid::db::rfc5280::{
    ANY_EXTENDED_KEY_USAGE, ID_CE_AUTHORITY_KEY_IDENTIFIER, ID_CE_BASIC_CONSTRAINTS,
    ID_CE_CRL_DISTRIBUTION_POINTS, ID_CE_CRL_NUMBER, ID_CE_DELTA_CRL_INDICATOR,
    ID_CE_EXT_KEY_USAGE, ID_CE_FRESHEST_CRL, ID_CE_INHIBIT_ANY_POLICY, ID_CE_ISSUER_ALT_NAME,
    ID_CE_ISSUING_DISTRIBUTION_POINT, ID_CE_KEY_USAGE, ID_CE_NAME_CONSTRAINTS,
    ID_CE_POLICY_CONSTRAINTS, ID_CE_POLICY_MAPPINGS, ID_CE_SUBJECT_ALT_NAME,
    ID_CE_SUBJECT_DIRECTORY_ATTRIBUTES, ID_CE_SUBJECT_KEY_IDENTIFIER, ID_PE_AUTHORITY_INFO_ACCESS,
    ID_PE_SUBJECT_INFO_ACCESS,
};

use super::{BUT_LISTS, BUT_REQUESTS, CERTIFICATES, LISTS};
use crate::linting::document::{Document, extension_name};
use crate::linting::rule::Rule;

pub(super) static RULES: &[Rule] = &[
    Rule::error(
        "rfc5280-basic-constraints-critical",
        "RFC 5280 section 4.2.1.9",
        "basicConstraints of a CA is critical",
        CERTIFICATES,
        |one| {
            one.is_ca()
                .then(|| not_critical(one, ID_CE_BASIC_CONSTRAINTS))?
        },
    ),
    Rule::warning(
        "rfc5280-key-usage-critical",
        "RFC 5280 section 4.2.1.3",
        "keyUsage is critical",
        CERTIFICATES,
        |one| not_critical(one, ID_CE_KEY_USAGE),
    ),
    Rule::error(
        "rfc5280-authority-key-id-critical",
        "RFC 5280 sections 4.2.1.1 and 5.2.1",
        "authorityKeyIdentifier is not critical",
        BUT_REQUESTS,
        |one| critical(one, ID_CE_AUTHORITY_KEY_IDENTIFIER),
    ),
    Rule::error(
        "rfc5280-subject-key-id-critical",
        "RFC 5280 section 4.2.1.2",
        "subjectKeyIdentifier is not critical",
        CERTIFICATES,
        |one| critical(one, ID_CE_SUBJECT_KEY_IDENTIFIER),
    ),
    Rule::error(
        "rfc5280-name-constraints-critical",
        "RFC 5280 section 4.2.1.10",
        "nameConstraints is critical",
        CERTIFICATES,
        |one| not_critical(one, ID_CE_NAME_CONSTRAINTS),
    ),
    Rule::error(
        "rfc5280-policy-constraints-critical",
        "RFC 5280 section 4.2.1.11",
        "policyConstraints is critical",
        CERTIFICATES,
        |one| not_critical(one, ID_CE_POLICY_CONSTRAINTS),
    ),
    Rule::error(
        "rfc5280-inhibit-any-policy-critical",
        "RFC 5280 section 4.2.1.14",
        "inhibitAnyPolicy is critical",
        CERTIFICATES,
        |one| not_critical(one, ID_CE_INHIBIT_ANY_POLICY),
    ),
    Rule::warning(
        "rfc5280-policy-mappings-critical",
        "RFC 5280 section 4.2.1.5",
        "policyMappings is critical",
        CERTIFICATES,
        |one| not_critical(one, ID_CE_POLICY_MAPPINGS),
    ),
    Rule::error(
        "rfc5280-subject-empty",
        "RFC 5280 sections 4.1.2.6 and 4.2.1.6",
        "a certificate without subject has a subjectAltName, which is critical",
        CERTIFICATES,
        subject_empty,
    ),
    Rule::warning(
        "rfc5280-alternative-names-critical",
        "RFC 5280 section 4.2.1.6",
        "subjectAltName beside a subject is not critical",
        CERTIFICATES,
        |one| {
            let has_subject = !one.subject?.value().is_empty();
            has_subject.then(|| critical(one, ID_CE_SUBJECT_ALT_NAME))?
        },
    ),
    Rule::warning(
        "rfc5280-issuer-alternative-names-critical",
        "RFC 5280 sections 4.2.1.7 and 5.2.2",
        "issuerAltName is not critical",
        BUT_REQUESTS,
        |one| critical(one, ID_CE_ISSUER_ALT_NAME),
    ),
    Rule::error(
        "rfc5280-directory-attributes-critical",
        "RFC 5280 section 4.2.1.8",
        "subjectDirectoryAttributes is not critical",
        CERTIFICATES,
        |one| critical(one, ID_CE_SUBJECT_DIRECTORY_ATTRIBUTES),
    ),
    Rule::warning(
        "rfc5280-any-purpose-critical",
        "RFC 5280 section 4.2.1.12",
        "extKeyUsage with anyExtendedKeyUsage is not critical",
        BUT_LISTS,
        |one| {
            let is_any = one.is_for(ANY_EXTENDED_KEY_USAGE);
            is_any.then(|| critical(one, ID_CE_EXT_KEY_USAGE))?
        },
    ),
    Rule::warning(
        "rfc5280-distribution-points-critical",
        "RFC 5280 section 4.2.1.13",
        "cRLDistributionPoints is not critical",
        CERTIFICATES,
        |one| critical(one, ID_CE_CRL_DISTRIBUTION_POINTS),
    ),
    Rule::error(
        "rfc5280-freshest-crl-critical",
        "RFC 5280 sections 4.2.1.15 and 5.2.6",
        "freshestCRL is not critical",
        BUT_REQUESTS,
        |one| critical(one, ID_CE_FRESHEST_CRL),
    ),
    Rule::error(
        "rfc5280-information-access-critical",
        "RFC 5280 sections 4.2.2.1, 4.2.2.2 and 5.2.7",
        "authorityInfoAccess and subjectInfoAccess are not critical",
        BUT_REQUESTS,
        |one| {
            critical(one, ID_PE_AUTHORITY_INFO_ACCESS)
                .or_else(|| critical(one, ID_PE_SUBJECT_INFO_ACCESS))
        },
    ),
    Rule::error(
        "rfc5280-list-number-critical",
        "RFC 5280 section 5.2.3",
        "cRLNumber is not critical",
        LISTS,
        |one| critical(one, ID_CE_CRL_NUMBER),
    ),
    Rule::error(
        "rfc5280-delta-indicator-critical",
        "RFC 5280 section 5.2.4",
        "deltaCRLIndicator is critical",
        LISTS,
        |one| not_critical(one, ID_CE_DELTA_CRL_INDICATOR),
    ),
    Rule::error(
        "rfc5280-issuing-distribution-point-critical",
        "RFC 5280 section 5.2.5",
        "issuingDistributionPoint is critical",
        LISTS,
        |one| not_critical(one, ID_CE_ISSUING_DISTRIBUTION_POINT),
    ),
];

/// Says that an extension is critical, if it is.
fn critical(document: &Document<'_>, oid: ObjectIdentifier) -> Option<String> {
    let is_critical = document.extension(oid)?.critical;
    is_critical.then(|| format!("{} is critical", extension_name(oid)))
}

/// Says that an extension is not critical, if it is there and is not.
fn not_critical(document: &Document<'_>, oid: ObjectIdentifier) -> Option<String> {
    let is_critical = document.extension(oid)?.critical;
    (!is_critical).then(|| format!("{} is not critical", extension_name(oid)))
}

fn subject_empty(certificate: &Document<'_>) -> Option<String> {
    let is_nameless = certificate.subject?.value().is_empty();
    let names = certificate.extension(ID_CE_SUBJECT_ALT_NAME);
    let what = match names {
        _ if !is_nameless => return None,
        Some(names) if names.critical => return None,
        Some(_) => "the subject is empty, and subjectAltName is not critical",
        None => "the subject is empty, and there is no subjectAltName",
    };
    Some(what.into())
}
