//! Key identifiers, which help to find paths.

use const_oid::db::rfc5280::{ID_CE_AUTHORITY_KEY_IDENTIFIER, ID_CE_SUBJECT_KEY_IDENTIFIER};

use super::{BUT_REQUESTS, CERTIFICATES, LISTS};
use crate::linting::document::{Document, Element, tag};
use crate::linting::rule::Rule;

pub(super) static RULES: &[Rule] = &[
    Rule::error(
        "rfc5280-ca-without-key-id",
        "RFC 5280 section 4.2.1.2",
        "a CA's certificate has subjectKeyIdentifier",
        CERTIFICATES,
        |certificate| {
            let is_nameless = certificate.lacks(ID_CE_SUBJECT_KEY_IDENTIFIER);
            (certificate.is_ca() && is_nameless)
                .then(|| "is a CA's, and has no subjectKeyIdentifier".into())
        },
    ),
    Rule::warning(
        "rfc5280-end-entity-without-key-id",
        "RFC 5280 section 4.2.1.2",
        "an end entity's certificate has subjectKeyIdentifier",
        CERTIFICATES,
        |certificate| {
            let is_nameless = certificate.lacks(ID_CE_SUBJECT_KEY_IDENTIFIER);
            (!certificate.is_ca() && is_nameless).then(|| "has no subjectKeyIdentifier".into())
        },
    ),
    Rule::error(
        "rfc5280-authority-key-id",
        "RFC 5280 section 4.2.1.1",
        "a certificate that is not self-signed has authorityKeyIdentifier with a keyIdentifier",
        CERTIFICATES,
        |certificate| match certificate.is_self_issued() {
            true => None,
            false => without_issuers_key(certificate),
        },
    ),
    Rule::error(
        "rfc5280-list-authority-key-id",
        "RFC 5280 section 5.2.1",
        "a revocation list has authorityKeyIdentifier with a keyIdentifier",
        LISTS,
        without_issuers_key,
    ),
    Rule::error(
        "rfc5280-authority-key-id-pair",
        "RFC 5280 section 4.2.1.1 and appendix A.2",
        "authorityKeyIdentifier has an issuer and a serial number, or neither",
        BUT_REQUESTS,
        |document| {
            let authority = document.content(ID_CE_AUTHORITY_KEY_IDENTIFIER)?;
            let has = |tag| authority.elements().with_tag(tag).is_some();
            let (issuer, number) = (has(tag::around(1)), has(tag::context(2)));
            (issuer != number)
                .then(|| "authorityKeyIdentifier has only one of issuer and serial number".into())
        },
    ),
];

fn issuers_key<'a>(document: &Document<'a>) -> Option<Element<'a>> {
    let authority = document.content(ID_CE_AUTHORITY_KEY_IDENTIFIER)?;
    authority.elements().with_tag(tag::context(0))
}

fn without_issuers_key(document: &Document<'_>) -> Option<String> {
    let is_there = document.extension(ID_CE_AUTHORITY_KEY_IDENTIFIER).is_some();
    let what = match issuers_key(document) {
        None if is_there => "authorityKeyIdentifier has no keyIdentifier",
        None if document.lacks(ID_CE_AUTHORITY_KEY_IDENTIFIER) => {
            "there is no authorityKeyIdentifier"
        }
        _ => return None,
    };
    Some(what.into())
}
