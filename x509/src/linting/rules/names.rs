//! Issuer and subject: distinguished names.

use const_oid::ObjectIdentifier;
use const_oid::db::rfc3280::{EMAIL_ADDRESS, PSEUDONYM};
use const_oid::db::rfc4519::{
    COMMON_NAME, COUNTRY_NAME, DN_QUALIFIER, DOMAIN_COMPONENT, GENERATION_QUALIFIER, GIVEN_NAME,
    INITIALS, LOCALITY_NAME, NAME, ORGANIZATION_NAME, ORGANIZATIONAL_UNIT_NAME, SERIAL_NUMBER, SN,
    ST, TITLE,
};

use super::{ALL, BUT_LISTS, BUT_REQUESTS, CERTIFICATES};
use crate::linting::document::{Attribute, Document, Element, attributes, tag};
use crate::linting::listed::{Listed, quoted};
use crate::linting::rule::Rule;

pub(super) static RULES: &[Rule] = &[
    Rule::error(
        "rfc5280-issuer-empty",
        "RFC 5280 sections 4.1.2.4 and 5.1.2.3",
        "the issuer has a name",
        BUT_REQUESTS,
        |document| {
            let is_empty = document.issuer?.value().is_empty();
            is_empty.then(|| "the issuer's name is empty".into())
        },
    ),
    Rule::error(
        "rfc5280-ca-without-subject",
        "RFC 5280 section 4.1.2.6",
        "a CA has a name",
        CERTIFICATES,
        |certificate| {
            let is_nameless = certificate.is_ca() && certificate.subject?.value().is_empty();
            is_nameless.then(|| "is a CA's, and its subject is empty".into())
        },
    ),
    Rule::error(
        "rfc5280-attribute-type",
        "RFC 5280 appendix A.1",
        "an attribute of a name has the type that its kind demands",
        ALL,
        attribute_types,
    ),
    Rule::warning(
        "rfc5280-string-type",
        "RFC 5280 sections 4.1.2.4 and 4.1.2.6",
        "texts in names are PrintableString or UTF8String, except in names that had another type before",
        ALL,
        old_string_types,
    ),
    Rule::error(
        "rfc5280-attribute-length",
        "RFC 5280 appendix A.1",
        "an attribute of a name is neither empty nor longer than its kind allows",
        ALL,
        attribute_lengths,
    ),
    Rule::error(
        "rfc5280-country",
        "RFC 5280 appendix A.1",
        "a country is two letters (ISO 3166)",
        ALL,
        countries,
    ),
    Rule::warning(
        "rfc5280-email-in-subject",
        "RFC 5280 section 4.1.2.6",
        "an e-mail address is a subjectAltName and no part of the subject",
        BUT_LISTS,
        |document| {
            let subject = document.subject?;
            let mut parts = attributes(&subject);
            let address = parts.find(|part| part.kind == EMAIL_ADDRESS)?;
            let text = quoted(address.value.value());
            Some(format!(
                "the subject has the e-mail address {text}; move it to subjectAltName"
            ))
        },
    ),
];

/// The type of an attribute's value.
#[derive(Clone, Copy, PartialEq)]
enum Text {
    /// A choice of types.
    Directory,
    Printable,
    Ia5,
}

/// The attributes of RFC 5280 appendix A.1: their names, types and greatest lengths in characters.
static ATTRIBUTES: &[(ObjectIdentifier, &str, Text, usize)] = &[
    (COMMON_NAME, "commonName", Text::Directory, 64),
    (SN, "surname", Text::Directory, 32_768),
    (SERIAL_NUMBER, "serialNumber", Text::Printable, 64),
    (COUNTRY_NAME, "countryName", Text::Printable, 2),
    (LOCALITY_NAME, "localityName", Text::Directory, 128),
    (ST, "stateOrProvinceName", Text::Directory, 128),
    (ORGANIZATION_NAME, "organizationName", Text::Directory, 64),
    (
        ORGANIZATIONAL_UNIT_NAME,
        "organizationalUnitName",
        Text::Directory,
        64,
    ),
    (TITLE, "title", Text::Directory, 64),
    (NAME, "name", Text::Directory, 32_768),
    (GIVEN_NAME, "givenName", Text::Directory, 32_768),
    (INITIALS, "initials", Text::Directory, 32_768),
    (
        GENERATION_QUALIFIER,
        "generationQualifier",
        Text::Directory,
        32_768,
    ),
    (DN_QUALIFIER, "dnQualifier", Text::Printable, usize::MAX),
    (PSEUDONYM, "pseudonym", Text::Directory, 128),
    (DOMAIN_COMPONENT, "domainComponent", Text::Ia5, usize::MAX),
    (EMAIL_ADDRESS, "emailAddress", Text::Ia5, 255),
];

/// An attribute with what is known about its kind.
struct Known<'a> {
    of: &'static str,
    name: &'static str,
    text: Text,
    limit: usize,
    value: Element<'a>,
}

/// The attributes of issuer and subject whose kinds are known.
fn known<'a>(document: &Document<'a>) -> impl Iterator<Item = Known<'a>> {
    let names = [("issuer", document.issuer), ("subject", document.subject)];
    let names = names.into_iter().filter_map(|(of, name)| Some((of, name?)));
    let all = names.flat_map(|(of, name)| attributes(&name).map(move |one| (of, one)));
    all.filter_map(|(of, Attribute { kind, value })| {
        let mut rows = ATTRIBUTES.iter();
        let &(_, name, text, limit) = rows.find(|(known, ..)| *known == kind)?;
        Some(Known {
            of,
            name,
            text,
            limit,
            value,
        })
    })
}

fn attribute_types(document: &Document<'_>) -> Option<String> {
    let is_of_type = |one: &Known<'_>| match one.text {
        Text::Directory => is_new(one.value.tag) || old_type(one.value.tag).is_some(),
        Text::Printable => one.value.tag == tag::PRINTABLE_STRING,
        Text::Ia5 => one.value.tag == tag::IA5_STRING,
    };
    let wrong: Listed = known(document)
        .filter(|one| !is_of_type(one))
        .map(|one| {
            let expected = match one.text {
                Text::Directory => "PrintableString or UTF8String",
                Text::Printable => "PrintableString",
                Text::Ia5 => "IA5String",
            };
            let (of, name, tag) = (one.of, one.name, one.value.tag);
            format!("the {of}'s {name} is of type {tag:#04x} and not {expected}")
        })
        .collect();
    wrong.text()
}

fn is_new(tag: u8) -> bool {
    matches!(tag, tag::PRINTABLE_STRING | tag::UTF8_STRING)
}

/// The types of text that CAs may keep in names that they used before.
fn old_type(tag: u8) -> Option<&'static str> {
    match tag {
        tag::TELETEX_STRING => Some("TeletexString"),
        tag::BMP_STRING => Some("BMPString"),
        tag::UNIVERSAL_STRING => Some("UniversalString"),
        _ => None,
    }
}

fn old_string_types(document: &Document<'_>) -> Option<String> {
    let old: Listed = known(document)
        .filter(|one| one.text == Text::Directory)
        .filter_map(|one| {
            let (of, name, old) = (one.of, one.name, old_type(one.value.tag)?);
            Some(format!("the {of}'s {name} is a {old}"))
        })
        .collect();
    old.text()
}

fn attribute_lengths(document: &Document<'_>) -> Option<String> {
    let wrong: Listed = known(document)
        .filter(|one| one.name != "countryName")
        .filter_map(|one| {
            let (of, name, limit, len) = (one.of, one.name, one.limit, characters(&one.value));
            match len {
                0 => Some(format!("the {of}'s {name} is empty")),
                _ if len > limit => Some(format!(
                    "the {of}'s {name} has {len} characters, more than {limit}"
                )),
                _ => None,
            }
        })
        .collect();
    wrong.text()
}

fn characters(value: &Element<'_>) -> usize {
    let octets = value.value();
    match value.tag {
        tag::UTF8_STRING => String::from_utf8_lossy(octets).chars().count(),
        tag::BMP_STRING => octets.len() / 2,
        tag::UNIVERSAL_STRING => octets.len() / 4,
        _ => octets.len(),
    }
}

fn countries(document: &Document<'_>) -> Option<String> {
    let wrong: Listed = known(document)
        .filter(|one| one.name == "countryName")
        .filter(|one| {
            let value = one.value.value();
            value.len() != 2 || !value.iter().all(u8::is_ascii_alphabetic)
        })
        .map(|one| format!("the {}'s country is {}", one.of, quoted(one.value.value())))
        .collect();
    Some(format!(
        "{}; write the two letters of ISO 3166",
        wrong.text()?
    ))
}
