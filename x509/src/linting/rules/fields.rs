//! Version, serial number, signature algorithms and unique identifiers.

use const_oid::ObjectIdentifier;
use const_oid::db::rfc5912::{
    DSA_WITH_SHA_1, MD_2_WITH_RSA_ENCRYPTION, MD_5_WITH_RSA_ENCRYPTION, SHA_1_WITH_RSA_ENCRYPTION,
};

use super::{BUT_REQUESTS, CERTIFICATES};
use crate::linting::document::{Document, Kind};
use crate::linting::listed::hex;
use crate::linting::rule::Rule;

pub(super) static RULES: &[Rule] = &[
    Rule::error(
        "rfc5280-version",
        "RFC 5280 section 4.1.2.1",
        "a certificate with extensions is of version 3, one with unique identifiers of version 2 or 3",
        CERTIFICATES,
        version,
    ),
    Rule::error(
        "rfc5280-unique-identifiers",
        "RFC 5280 section 4.1.2.8",
        "a certificate has no unique identifiers",
        CERTIFICATES,
        |certificate| {
            let one = certificate.unique_identifiers.first()?;
            let identifier = hex(one.value());
            Some(format!(
                "has the unique identifier {identifier}; leave it out"
            ))
        },
    ),
    Rule::error(
        "rfc5280-serial-number-positive",
        "RFC 5280 section 4.1.2.2",
        "a serial number is positive",
        CERTIFICATES,
        serial_number_positive,
    ),
    Rule::error(
        "rfc5280-serial-number-length",
        "RFC 5280 section 4.1.2.2",
        "a serial number takes at most 20 octets",
        CERTIFICATES,
        |certificate| {
            let len = certificate.serial_number?.value().len();
            (len > 20).then(|| format!("the serial number takes {len} octets, more than 20"))
        },
    ),
    Rule::notice(
        "cabf-serial-number-entropy",
        "CA/Browser Forum, TLS Baseline Requirements section 7.1",
        "a serial number has at least 64 random bits, so at least 8 octets",
        CERTIFICATES,
        |certificate| {
            let number = certificate.serial_number?.value();
            let text = hex(number);
            // Nobody gains by guessing a root's number.
            (number.len() < 8 && !certificate.is_self_issued()).then(|| {
                format!(
                    "the serial number {text} has fewer than 64 bits, so that it can be guessed"
                )
            })
        },
    ),
    Rule::error(
        "rfc5280-signature-algorithms-agree",
        "RFC 5280 sections 4.1.1.2 and 5.1.1.2",
        "the signature algorithms in the signed part and beside the signature are the same",
        BUT_REQUESTS,
        signature_algorithms_agree,
    ),
    Rule::notice(
        "sp800-131a-signature-hash",
        "NIST SP 800-131A",
        "a CA hashes what it signs with SHA-2, SHA-3 or the signature algorithm itself",
        BUT_REQUESTS,
        weak_hash,
    ),
];

fn version(certificate: &Document<'_>) -> Option<String> {
    let version = certificate.version.map_or(&[0][..], |one| one.value());
    let has = match (
        certificate.extension_list,
        certificate.unique_identifiers.first(),
    ) {
        (Some(_), _) if version != [2] => "extensions, which only version 3 has",
        (_, Some(_)) if version == [0] => "a unique identifier, which only versions 2 and 3 have",
        _ if matches!(version, [0..=2]) => return None,
        _ => "another version than 1, 2 and 3",
    };
    let number = match version {
        [number] => (u16::from(*number) + 1).to_string(),
        other => format!("number {}", hex(other)),
    };
    Some(format!("is of version {number} and has {has}"))
}

fn serial_number_positive(certificate: &Document<'_>) -> Option<String> {
    let number = certificate.serial_number?.value();
    let text = hex(number);
    match number {
        [0x80..=0xff, ..] => Some(format!("the serial number {text} is negative")),
        _ if number.iter().all(|octet| *octet == 0) => Some("the serial number is zero".into()),
        _ => None,
    }
}

fn signature_algorithms_agree(document: &Document<'_>) -> Option<String> {
    let (inner, outer) = (document.inner_algorithm?, document.outer_algorithm?);
    let fields = [inner, outer].map(|one| (one.oid, one.parameters.map(|one| one.whole())));
    if fields[0] == fields[1] {
        return None;
    }
    let (inside, outside) = (inner.name(), outer.name());
    Some(match inside == outside {
        true => format!("the two identifiers of {inside} have different parameters"),
        false => format!("the signed part names {inside}, but the signature is of {outside}"),
    })
}

fn weak_hash(document: &Document<'_>) -> Option<String> {
    /// ecdsa-with-SHA1 (RFC 5480)
    const ECDSA_WITH_SHA_1: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.10045.4.1");
    // Nobody relies on the signature of a root.
    if document.kind == Kind::Certificate && document.is_self_issued() {
        return None;
    }
    let hash = match document.outer_algorithm?.oid {
        DSA_WITH_SHA_1 | ECDSA_WITH_SHA_1 | SHA_1_WITH_RSA_ENCRYPTION => "SHA-1",
        MD_5_WITH_RSA_ENCRYPTION => "MD5",
        MD_2_WITH_RSA_ENCRYPTION => "MD2",
        _ => return None,
    };
    Some(format!(
        "is signed with {hash}, for which collisions can be found"
    ))
}
