//! URLs of revocation lists and of other data about a certificate.

use const_oid::db::rfc5280::{
    ID_CE_CRL_DISTRIBUTION_POINTS, ID_CE_FRESHEST_CRL, ID_PE_AUTHORITY_INFO_ACCESS,
    ID_PE_SUBJECT_INFO_ACCESS,
};

use super::BUT_REQUESTS;
use crate::linting::document::{Document, Element, GeneralName, general_names, tag};
use crate::linting::listed::{Listed, quoted};
use crate::linting::rule::Rule;

pub(super) static RULES: &[Rule] = &[
    Rule::error(
        "rfc5280-distribution-point-empty",
        "RFC 5280 section 4.2.1.13",
        "a distribution point says where its list is, or who issues it",
        BUT_REQUESTS,
        |document| {
            let mut points = distribution_points(document);
            let has = |point: &Element<'_>, tag| point.elements().with_tag(tag).is_some();
            let is_empty =
                |point: Element<'_>| !has(&point, POINT_NAME) && !has(&point, tag::around(2));
            points.any(is_empty).then(|| {
                "a distribution point says neither where a list is nor who issues it".into()
            })
        },
    ),
    Rule::warning(
        "rfc5280-distribution-point-relative",
        "RFC 5280 section 4.2.1.13",
        "a distribution point has a full name, not one relative to the issuer's",
        BUT_REQUESTS,
        |document| {
            let mut names = distribution_points(document).filter_map(|point| point_name(&point));
            let is_relative = |name: Element<'_>| name.tag == tag::around(1);
            names
                .any(is_relative)
                .then(|| "a distribution point has a name relative to the issuer's".into())
        },
    ),
    Rule::warning(
        "rfc5280-distribution-point-url",
        "RFC 5280 section 4.2.1.13",
        "a distribution point has a URL of the scheme http or ldap",
        BUT_REQUESTS,
        |document| {
            let has_url = |point: Element<'_>| {
                let names = point_name(&point).filter(|name| name.tag == FULL_NAME);
                // Others are for the rules above.
                names.is_none_or(|names| general_names(&names).any(|name| is_fetched(&name)))
            };
            let mut points = distribution_points(document);
            (!points.all(has_url))
                .then(|| "a distribution point has no URL of the scheme http or ldap".into())
        },
    ),
    Rule::warning(
        "rfc5280-access-location",
        "RFC 5280 section 4.2.2.1",
        "at least one location of authorityInfoAccess is a URL of the scheme http or ldap",
        BUT_REQUESTS,
        |document| {
            let access = document.content(ID_PE_AUTHORITY_INFO_ACCESS)?;
            let mut names = locations(&access);
            // Another rule is about an empty one.
            let is_there = !access.value().is_empty();
            (is_there && !names.any(|name| is_fetched(&name)))
                .then(|| "authorityInfoAccess has no URL of the scheme http or ldap".into())
        },
    ),
    Rule::warning(
        "rfc5280-https-location",
        "RFC 5280 section 8",
        "URLs for checking a certificate have neither the scheme https nor ldaps",
        BUT_REQUESTS,
        |document| {
            let access = [ID_PE_AUTHORITY_INFO_ACCESS, ID_PE_SUBJECT_INFO_ACCESS]
                .into_iter()
                .filter_map(|oid| document.content(oid))
                .flat_map(|access| locations(&access));
            let of_points = distribution_points(document)
                .filter_map(|point| point_name(&point))
                .flat_map(|names| general_names(&names));
            let secured: Listed = access
                .chain(of_points)
                .filter(|name| has_scheme(name, "https:") || has_scheme(name, "ldaps:"))
                .filter_map(|name| name.uri().map(quoted))
                .collect();
            let urls = secured.text()?;
            Some(format!(
                "{urls}: checking the certificate of that server may need the data at the URL; use http"
            ))
        },
    ),
];

/// The field with the name of a distribution point, and the choice of a full name in it.
const POINT_NAME: u8 = tag::around(0);
const FULL_NAME: u8 = tag::around(0);

fn distribution_points<'a>(document: &Document<'a>) -> impl Iterator<Item = Element<'a>> {
    [ID_CE_CRL_DISTRIBUTION_POINTS, ID_CE_FRESHEST_CRL]
        .into_iter()
        .filter_map(|oid| document.content(oid))
        .flat_map(|points| points.elements())
}

fn point_name<'a>(point: &Element<'a>) -> Option<Element<'a>> {
    point.elements().with_tag(POINT_NAME)?.elements().next()
}

/// The locations of authorityInfoAccess and subjectInfoAccess.
fn locations<'a>(access: &Element<'a>) -> impl Iterator<Item = GeneralName<'a>> + use<'a> {
    let descriptions = access.elements();
    descriptions.filter_map(|one| Some(GeneralName::of(one.elements().nth(1)?)))
}

fn is_fetched(name: &GeneralName<'_>) -> bool {
    ["http:", "ldap:"]
        .iter()
        .any(|scheme| has_scheme(name, scheme))
}

fn has_scheme(name: &GeneralName<'_>, scheme: &str) -> bool {
    let start = name.uri().and_then(|uri| uri.get(..scheme.len()));
    start.is_some_and(|start| start.eq_ignore_ascii_case(scheme.as_bytes()))
}
