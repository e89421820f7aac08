//! What CAs may do: basic constraints and name constraints.

use const_oid::db::rfc5280::{
    ID_CE_BASIC_CONSTRAINTS, ID_CE_INHIBIT_ANY_POLICY, ID_CE_NAME_CONSTRAINTS,
    ID_CE_POLICY_CONSTRAINTS, ID_CE_POLICY_MAPPINGS,
};
use x509_cert::ext::pkix::KeyUsages;

use super::CERTIFICATES;
use crate::certificate::EmailAddress;
use crate::certificate::dns_name::is_dns_name;
use crate::linting::document::{Document, Element, GeneralName, extension_name, tag};
use crate::linting::listed::{Listed, hex, quoted};
use crate::linting::rule::Rule;

pub(super) static RULES: &[Rule] = &[
    Rule::error(
        "rfc5280-path-length",
        "RFC 5280 section 4.2.1.9",
        "only certificates of CAs that sign certificates have a path length",
        CERTIFICATES,
        path_length,
    ),
    Rule::error(
        "rfc5280-name-constraints-in-end-entity",
        "RFC 5280 section 4.2.1.10",
        "nameConstraints is only in certificates of CAs",
        CERTIFICATES,
        |certificate| {
            certificate.extension(ID_CE_NAME_CONSTRAINTS)?;
            (!certificate.is_ca()).then(|| "has nameConstraints, and is no CA's".into())
        },
    ),
    Rule::warning(
        "rfc5280-policies-of-cas",
        "RFC 5280 sections 4.2.1.5, 4.2.1.11 and 4.2.1.14",
        "policyMappings, policyConstraints and inhibitAnyPolicy are only in certificates of CAs",
        CERTIFICATES,
        |certificate| {
            let mut for_cas = [
                ID_CE_POLICY_MAPPINGS,
                ID_CE_POLICY_CONSTRAINTS,
                ID_CE_INHIBIT_ANY_POLICY,
            ]
            .into_iter();
            let found = for_cas.find(|oid| certificate.extension(*oid).is_some())?;
            let name = extension_name(found);
            (!certificate.is_ca()).then(|| format!("has {name}, and is no CA's"))
        },
    ),
    Rule::error(
        "rfc5280-name-constraints-empty",
        "RFC 5280 section 4.2.1.10",
        "nameConstraints permits or excludes something",
        CERTIFICATES,
        name_constraints_empty,
    ),
    Rule::error(
        "rfc5280-name-constraints-distance",
        "RFC 5280 section 4.2.1.10",
        "the minimum of a subtree is 0, and there is no maximum",
        CERTIFICATES,
        name_constraints_distance,
    ),
    Rule::error(
        "rfc5280-name-constraints-address",
        "RFC 5280 section 4.2.1.10",
        "an address in nameConstraints is followed by a mask of leading ones, 8 or 32 octets in all",
        CERTIFICATES,
        name_constraints_addresses,
    ),
    Rule::notice(
        "rfc5280-name-constraints-dns",
        "RFC 5280 section 4.2.1.10",
        "a DNS name in nameConstraints has neither a wildcard nor a leading dot",
        CERTIFICATES,
        name_constraints_dns,
    ),
    Rule::error(
        "rfc5280-name-constraints-hosts",
        "RFC 5280 section 4.2.1.10",
        "an e-mail address or a URI in nameConstraints is a host, or a domain with a leading dot, or for \
         e-mail a mailbox",
        CERTIFICATES,
        name_constraints_hosts,
    ),
    Rule::warning(
        "rfc5280-name-constraints-kinds",
        "RFC 5280 section 4.2.1.10",
        "nameConstraints has no x400Address, ediPartyName or registeredID",
        CERTIFICATES,
        |certificate| {
            let kinds: Listed = bases(certificate)
                .filter_map(|base| Some(base.unconstrained_kind()?.into()))
                .collect();
            Some(format!(
                "nameConstraints has {}, which nobody processes",
                kinds.text()?
            ))
        },
    ),
];

fn path_length(certificate: &Document<'_>) -> Option<String> {
    certificate.content(ID_CE_BASIC_CONSTRAINTS)?;
    let length = hex(certificate.path_length()?.value());
    let what = match certificate.key_usage() {
        _ if !certificate.is_ca() => "is no CA's",
        Some(usages) if !usages.contains(KeyUsages::KeyCertSign) => {
            "its keyUsage lacks keyCertSign"
        }
        _ => return None,
    };
    Some(format!(
        "has the path length {length} (hexadecimal), and {what}"
    ))
}

/// The lists of permitted and of excluded subtrees.
fn lists<'a>(certificate: &Document<'a>) -> impl Iterator<Item = Element<'a>> {
    let constraints = certificate.content(ID_CE_NAME_CONSTRAINTS);
    constraints.into_iter().flat_map(|all| all.elements())
}

fn subtrees<'a>(certificate: &Document<'a>) -> impl Iterator<Item = Element<'a>> {
    lists(certificate).flat_map(|list| list.elements())
}

/// The names at the base of the subtrees.
fn bases<'a>(certificate: &Document<'a>) -> impl Iterator<Item = GeneralName<'a>> {
    subtrees(certificate).filter_map(|tree| tree.elements().next().map(GeneralName::of))
}

fn name_constraints_empty(certificate: &Document<'_>) -> Option<String> {
    certificate.content(ID_CE_NAME_CONSTRAINTS)?;
    let is_empty = |list: Element<'_>| list.value().is_empty();
    let what = match lists(certificate).count() {
        0 => "nameConstraints is empty",
        _ if lists(certificate).any(is_empty) => "nameConstraints has an empty list of subtrees",
        _ => return None,
    };
    Some(format!("{what}; leave it out"))
}

fn name_constraints_distance(certificate: &Document<'_>) -> Option<String> {
    let found: Listed = subtrees(certificate)
        .filter_map(|tree| {
            // Skips the base, which may have the same tags.
            let mut fields = tree.elements().skip(1);
            let field = fields.find(|one| one.tag != tag::context(0) || one.value() != [0])?;
            let name = match field.tag == tag::context(0) {
                true => "minimum",
                false => "maximum",
            };
            Some(format!("the {name} {}", hex(field.value())))
        })
        .collect();
    Some(format!(
        "a subtree of nameConstraints has {} (hexadecimal)",
        found.text()?
    ))
}

fn name_constraints_addresses(certificate: &Document<'_>) -> Option<String> {
    let wrong: Listed = bases(certificate)
        .filter_map(|base| base.address())
        .filter(|octets| !is_subnet(octets))
        .map(hex)
        .collect();
    Some(format!(
        "nameConstraints has {}, which is no address with a mask",
        wrong.text()?
    ))
}

fn is_subnet(octets: &[u8]) -> bool {
    let (_, mask) = octets.split_at(octets.len() / 2);
    let ones: u32 = mask.iter().map(|octet| octet.leading_ones()).sum();
    let bits: u32 = mask.iter().map(|octet| octet.count_ones()).sum();
    // If all ones lead their octets, there can still be ones after an octet with zeros.
    let is_prefix = ones == bits
        && mask
            .windows(2)
            .all(|pair| matches!(pair, [0xff, _] | [_, 0]));
    matches!(octets.len(), 8 | 32) && is_prefix
}

fn name_constraints_dns(certificate: &Document<'_>) -> Option<String> {
    let is_name = |name: &&[u8]| {
        let text = core::str::from_utf8(name).unwrap_or_default();
        // The empty name stands for all names.
        name.is_empty() || is_dns_name(text)
    };
    let wrong: Listed = bases(certificate)
        .filter_map(|base| base.dns())
        .filter(|name| !is_name(name))
        .map(quoted)
        .collect();
    Some(format!(
        "nameConstraints has {}, which readers interpret differently; write the bare DNS name",
        wrong.text()?
    ))
}

fn name_constraints_hosts(certificate: &Document<'_>) -> Option<String> {
    let is_host = |name: &str| is_dns_name(name.strip_prefix('.').unwrap_or(name));
    let wrong: Listed = bases(certificate)
        .filter_map(|base| {
            let (name, is_email) = match (base.email(), base.uri()) {
                (Some(name), _) => (name, true),
                (None, name) => (name?, false),
            };
            let text = core::str::from_utf8(name).unwrap_or_default();
            let is_right = is_host(text) || (is_email && text.parse::<EmailAddress>().is_ok());
            (!is_right).then(|| quoted(name))
        })
        .collect();
    Some(format!(
        "nameConstraints has {}, which is no host or mailbox; write a host such as example.org, or \
         .example.org for hosts below it",
        wrong.text()?
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn masks_are_prefixes() {
        let with_mask = |mask: &[u8]| [&vec![0; mask.len()], mask].concat();
        for mask in [[0; 4], [0xff; 4], [0xff, 0xff, 0xfc, 0], [0x80, 0, 0, 0]] {
            assert!(is_subnet(&with_mask(&mask)), "{mask:x?}");
        }
        for mask in [
            [0, 0, 0, 1],
            [0xff, 0, 0xff, 0],
            [0xfd, 0, 0, 0],
            [0xf0, 0xf0, 0, 0],
        ] {
            assert!(!is_subnet(&with_mask(&mask)), "{mask:x?}");
        }
        assert!(is_subnet(&with_mask(&[0xff; 16])));
        assert!(!is_subnet(&[192, 0, 2, 0]));
        assert!(!is_subnet(&[]));
    }
}
