//! Whether a document is DER, in the form that its standard defines.

use const_oid::db::rfc5280::{ID_CE_BASIC_CONSTRAINTS, ID_CE_NAME_CONSTRAINTS};
use pq_keys::encoding::syntax::{self, SyntaxError};

use super::ALL;
use crate::certificate::{
    Certificate, CertificateError, CertificateRevocationList, RevocationListError, form,
    request_from_der,
};
use crate::linting::document::{Document, Element, Flaw, Kind, tag};
use crate::linting::listed::Listed;
use crate::linting::rule::Rule;

pub(super) static RULES: &[Rule] = &[
    Rule::error(
        "asn1-syntax",
        "RFC 5280 sections 4.1 and 5.1, RFC 2986 section 4",
        "the document is DER in the form that its standard defines, so that it can be read",
        ALL,
        syntax_of_document,
    ),
    Rule::error(
        "x690-length",
        "X.690 section 10.1",
        "lengths take as few octets as possible",
        ALL,
        |document| at(document, Flaw::Length, "lengths have needless octets"),
    ),
    Rule::error(
        "x690-integer",
        "X.690 section 8.3.2",
        "integers take as few octets as possible",
        ALL,
        |document| {
            at(
                document,
                Flaw::Integer,
                "integers have needless octets, or none",
            )
        },
    ),
    Rule::error(
        "x690-boolean",
        "X.690 section 11.1",
        "TRUE is the octet ff, and FALSE the octet 00",
        ALL,
        |document| at(document, Flaw::Boolean, "a BOOLEAN is neither 00 nor ff"),
    ),
    Rule::error(
        "x690-bit-string",
        "X.690 sections 8.6.2 and 11.2.1",
        "the unused bits of a bit string are at most seven, and zero",
        ALL,
        |document| {
            at(
                document,
                Flaw::BitString,
                "a BIT STRING's unused bits are set, or too many",
            )
        },
    ),
    Rule::error(
        "x690-set-order",
        "X.690 section 11.6",
        "the elements of a set are in the order of their encodings",
        ALL,
        |document| {
            at(
                document,
                Flaw::SetOrder,
                "a SET's elements are out of order",
            )
        },
    ),
    Rule::error(
        "x690-object-identifier",
        "X.690 section 8.19.2",
        "the numbers of an object identifier have no leading zeros",
        ALL,
        |document| {
            let what = "an object identifier has a number with a leading zero";
            at(document, Flaw::ObjectIdentifier, what)
        },
    ),
    Rule::error(
        "x690-default",
        "X.690 section 11.5",
        "a value that is the default is left out",
        ALL,
        defaults,
    ),
    Rule::error(
        "x680-string",
        "X.680 section 41",
        "a string has only contents that its type allows",
        ALL,
        |document| {
            at(
                document,
                Flaw::String,
                "a string has contents that its type does not allow",
            )
        },
    ),
    Rule::warning(
        "x680-printable-string",
        "X.680 section 41.4",
        "a PrintableString has letters, digits, spaces and '()+,-./:=? in it, and nothing else",
        ALL,
        |document| {
            let texts = document.flaws.of_kind(Flaw::PrintableString)?;
            Some(format!(
                "a PrintableString has characters that it must not have: {texts}"
            ))
        },
    ),
];

fn at(document: &Document<'_>, flaw: Flaw, what: &str) -> Option<String> {
    let places = document.flaws.of_kind(flaw)?;
    Some(format!("{what}, at octet {places}"))
}

/// The error of this crate if it can't read the document, unless another rule says the same.
fn syntax_of_document(document: &Document<'_>) -> Option<String> {
    match document.kind {
        Kind::Certificate => {
            let error = Certificate::from_der(document.der).err()?;
            let is_syntax = matches!(
                error,
                CertificateError::Der(_)
                    | CertificateError::Syntax(
                        SyntaxError::Der(_) | SyntaxError::Form { .. } | SyntaxError::TooMany(_)
                    )
            );
            is_syntax.then(|| error.to_string())
        }
        Kind::RevocationList => {
            let error = CertificateRevocationList::from_der(document.der).err()?;
            let is_syntax = matches!(
                error,
                RevocationListError::Der(_)
                    | RevocationListError::Syntax(
                        SyntaxError::Der(_) | SyntaxError::Form { .. } | SyntaxError::TooMany(_)
                    )
            );
            is_syntax.then(|| error.to_string())
        }
        Kind::Request => syntax_of_request(document.der),
    }
}

fn syntax_of_request(der: &[u8]) -> Option<String> {
    // Before it is read, which would take much memory.
    if let Err(error) = syntax::check_number(der) {
        return Some(format!("the request {error}"));
    }
    match (request_from_der(der), syntax::check(der)) {
        (Err(error), _) | (_, Err(SyntaxError::Der(error))) => {
            let error: SyntaxError = form::explain(der, form::REQUEST, error);
            Some(format!("the request {error}"))
        }
        _ => None,
    }
}

fn defaults(document: &Document<'_>) -> Option<String> {
    let mut found = Listed::default();
    let is_version_1 = |version: Element<'_>| version.value() == [0];
    if document.kind == Kind::Certificate && document.version.is_some_and(is_version_1) {
        found.push(|| "version 1".into());
    }
    let entries = document.revoked().flat_map(|entry| entry.extensions());
    for extension in document.extensions.iter().copied().chain(entries) {
        if extension.says_not_critical {
            found.push(|| format!("{} with critical FALSE", extension.name()));
        }
    }
    let constraints = document.content(ID_CE_BASIC_CONSTRAINTS);
    if let Some(ca) = constraints.and_then(|all| all.elements().next_if(tag::BOOLEAN))
        && !ca.is_true()
    {
        found.push(|| "basicConstraints with cA FALSE".into());
    }
    let constraints = document.content(ID_CE_NAME_CONSTRAINTS);
    let subtrees = constraints.iter().flat_map(Element::elements);
    let subtrees = subtrees.flat_map(|trees| trees.elements());
    for subtree in subtrees {
        let minimum = subtree.elements().with_tag(tag::context(0));
        if minimum.is_some_and(|minimum| minimum.value() == [0]) {
            found.push(|| "nameConstraints with minimum 0".into());
        }
    }
    Some(format!("has {}; leave the default out", found.text()?))
}
