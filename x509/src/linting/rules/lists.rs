//! Revocation lists.

use const_oid::db::rfc5280::{
    ID_CE_CERTIFICATE_ISSUER, ID_CE_CRL_NUMBER, ID_CE_CRL_REASONS, ID_CE_DELTA_CRL_INDICATOR,
    ID_CE_INVALIDITY_DATE, ID_CE_ISSUING_DISTRIBUTION_POINT,
};

use super::LISTS;
use crate::linting::document::{Document, Extension, moment, tag};
use crate::linting::listed::{Listed, hex};
use crate::linting::rule::Rule;

pub(super) static RULES: &[Rule] = &[
    Rule::error(
        "rfc5280-list-version",
        "RFC 5280 section 5.1.2.1",
        "a revocation list is of version 2",
        LISTS,
        |list| match list.version.map(|version| version.value()) {
            Some([1]) => None,
            Some(other) => Some(format!("has version number {}, not 01", hex(other))),
            None => list.is_whole.then(|| "is of version 1".into()),
        },
    ),
    Rule::error(
        "rfc5280-list-next-update",
        "RFC 5280 section 5.1.2.5",
        "a revocation list says when there will be a newer one",
        LISTS,
        |list| (list.is_whole && list.times.len() == 1).then(|| "has no nextUpdate".into()),
    ),
    Rule::error(
        "rfc5280-list-update-order",
        "RFC 5280 section 5.1.2.5",
        "nextUpdate is after thisUpdate",
        LISTS,
        |list| {
            let [(_, this), (_, next)] = &*list.times else {
                return None;
            };
            let is_in_order = moment(this)?.seconds < moment(next)?.seconds;
            (!is_in_order).then(|| "nextUpdate is not after thisUpdate".into())
        },
    ),
    Rule::error(
        "rfc5280-list-empty",
        "RFC 5280 section 5.1.2.6",
        "a list without revoked certificates leaves their field out",
        LISTS,
        |list| {
            let is_empty = list.revoked?.value().is_empty();
            is_empty.then(|| "revokedCertificates is empty; leave it out".into())
        },
    ),
    Rule::error(
        "rfc5280-list-number",
        "RFC 5280 section 5.2.3",
        "a revocation list has a number",
        LISTS,
        |list| {
            let has_none = list.lacks(ID_CE_CRL_NUMBER);
            has_none.then(|| "has no cRLNumber".into())
        },
    ),
    Rule::error(
        "rfc5280-list-number-length",
        "RFC 5280 section 5.2.3",
        "the number of a revocation list takes at most 20 octets",
        LISTS,
        |list| {
            let len = list.content(ID_CE_CRL_NUMBER)?.value().len();
            (len > 20).then(|| format!("cRLNumber takes {len} octets, more than 20"))
        },
    ),
    Rule::warning(
        "rfc5280-list-entry-repeated",
        "RFC 5280 section 5.1.2.6",
        "a revocation list has each certificate only once",
        LISTS,
        entry_repeated,
    ),
    Rule::error(
        "rfc5280-list-entry-critical",
        "RFC 5280 sections 5.3.1 to 5.3.3",
        "in entries, reasonCode and invalidityDate are not critical, and certificateIssuer is critical",
        LISTS,
        entry_critical,
    ),
    Rule::warning(
        "rfc5280-list-reason-unspecified",
        "RFC 5280 section 5.3.1",
        "an unspecified reason is left out",
        LISTS,
        |list| {
            let entries = with_reason(list, 0)?;
            Some(format!(
                "the reason of {entries} is unspecified; leave it out"
            ))
        },
    ),
    Rule::error(
        "rfc5280-list-remove-from-crl",
        "RFC 5280 section 5.3.1",
        "the reason removeFromCRL is only in delta lists",
        LISTS,
        |list| {
            let is_delta = list.extension(ID_CE_DELTA_CRL_INDICATOR).is_some();
            let entries = with_reason(list, 8)?;
            (!is_delta).then(|| {
                format!("the reason of {entries} is removeFromCRL, and this is no delta list")
            })
        },
    ),
    Rule::error(
        "rfc5280-issuing-distribution-point",
        "RFC 5280 section 5.2.5",
        "issuingDistributionPoint is not empty, and limits the list to at most one kind of certificates",
        LISTS,
        issuing_distribution_point,
    ),
];

/// Sorts the numbers, because whoever made the list chose them and how many there are.
fn entry_repeated(list: &Document<'_>) -> Option<String> {
    let is_of_others = |extension: Extension<'_>| extension.oid == ID_CE_CERTIFICATE_ISSUER;
    let mut numbers = Vec::new();
    for entry in list.revoked() {
        // CAs may use the same numbers, so a list of several CAs is not checked.
        if entry.extensions().any(is_of_others) {
            return None;
        }
        numbers.push(entry.serial_number.value());
    }
    numbers.sort_unstable();
    let pairs = numbers.windows(2).filter(|pair| pair[0] == pair[1]);
    let repeated: Listed = pairs.map(|pair| hex(pair[0])).collect();
    Some(format!(
        "has more than one entry for the serial number {}",
        repeated.text()?
    ))
}

fn entry_critical(list: &Document<'_>) -> Option<String> {
    let is_wrong = |one: &Extension<'_>| match one.oid {
        ID_CE_CRL_REASONS | ID_CE_INVALIDITY_DATE => one.critical,
        ID_CE_CERTIFICATE_ISSUER => !one.critical,
        _ => false,
    };
    let wrong: Listed = list
        .revoked()
        .filter_map(|entry| {
            let found = entry.extensions().find(is_wrong)?;
            let number = hex(entry.serial_number.value());
            let critical = if found.critical {
                "critical"
            } else {
                "not critical"
            };
            Some(format!("{} of {number} is {critical}", found.name()))
        })
        .collect();
    wrong.text()
}

/// The serial numbers of the entries with this reason.
fn with_reason(list: &Document<'_>, reason: u8) -> Option<String> {
    let numbers: Listed = list
        .revoked()
        .filter(|entry| {
            let mut extensions = entry.extensions();
            let found = extensions.find(|one| one.oid == ID_CE_CRL_REASONS);
            let code = found.and_then(|one| one.elements().next_if(tag::ENUMERATED));
            code.is_some_and(|code| code.value() == [reason])
        })
        .map(|entry| hex(entry.serial_number.value()))
        .collect();
    numbers.text()
}

fn issuing_distribution_point(list: &Document<'_>) -> Option<String> {
    let point = list.content(ID_CE_ISSUING_DISTRIBUTION_POINT)?;
    // onlyContainsUserCerts, onlyContainsCACerts and onlyContainsAttributeCerts
    const ONLY: [u8; 3] = [tag::context(1), tag::context(2), tag::context(5)];
    let kinds = point
        .elements()
        .filter(|field| ONLY.contains(&field.tag) && field.is_true());
    let what = match kinds.count() {
        _ if point.value().is_empty() => "issuingDistributionPoint is empty; leave it out",
        0 | 1 => return None,
        _ => {
            "issuingDistributionPoint limits the list to several kinds of certificates, and so to none"
        }
    };
    Some(what.into())
}
