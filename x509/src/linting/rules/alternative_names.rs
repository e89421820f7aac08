//! Alternative names: of hosts, mailboxes and resources.

use alloc::collections::BTreeSet;
use core::net::IpAddr;

use const_oid::db::rfc5280::ID_CE_SUBJECT_ALT_NAME;

use super::ALL;
use crate::certificate::dns_name::is_dns_name;
use crate::certificate::{SpiffeId, Uri, is_dot_atom};
use crate::linting::document::{Document, GeneralName, general_names};
use crate::linting::listed::{Listed, hex, quoted};
use crate::linting::rule::Rule;

pub(super) static RULES: &[Rule] = &[
    Rule::error(
        "rfc5280-dns-name",
        "RFC 5280 section 4.2.1.6",
        "a dNSName is a DNS name, in ASCII and without final dot",
        ALL,
        |document| {
            let names = wrong(document, GeneralName::dns, is_dns_name_or_wildcard)?;
            Some(format!("{names} is no DNS name{}", advice(document)))
        },
    ),
    Rule::notice(
        "rfc5280-dns-name-underscore",
        "RFC 5280 section 4.2.1.6, RFC 1034 section 3.5",
        "a dNSName has no underscore",
        ALL,
        |document| {
            let is_plain = |name: &str| !name.contains('_');
            let names = wrong(document, GeneralName::dns, is_plain)?;
            Some(format!(
                "{names} has an underscore, which host names must not have"
            ))
        },
    ),
    Rule::notice(
        "rfc9525-wildcard",
        "RFC 9525 section 6.3",
        "a wildcard is the whole first label of a dNSName",
        ALL,
        |document| {
            let is_plain = |name: &str| !name.strip_prefix("*.").unwrap_or(name).contains('*');
            let names = wrong(document, GeneralName::dns, is_plain)?;
            Some(format!(
                "{names} stands for no name; write the wildcard as \"*.\" in front"
            ))
        },
    ),
    Rule::error(
        "rfc5280-email-address",
        "RFC 5280 section 4.2.1.6",
        "an rfc822Name is a mailbox, such as someone@example.org, without anything around it",
        ALL,
        |document| {
            let names = wrong(document, GeneralName::email, is_mailbox)?;
            Some(format!("{names} is no mailbox"))
        },
    ),
    Rule::error(
        "rfc5280-uri",
        "RFC 5280 section 4.2.1.6",
        "a uniformResourceIdentifier is absolute, and its host a DNS name or an address",
        ALL,
        |document| {
            let names = wrong(document, GeneralName::uri, |uri| uri.parse::<Uri>().is_ok())?;
            Some(format!("{names} is no absolute URI with a valid host"))
        },
    ),
    Rule::error(
        "spiffe-id",
        "SPIFFE-ID section 2, X.509-SVID section 2",
        "a URI with the scheme spiffe is a SPIFFE ID, and the only URI",
        ALL,
        spiffe_id,
    ),
    Rule::error(
        "rfc5280-ip-address",
        "RFC 5280 section 4.2.1.6",
        "an iPAddress has 4 octets, or 16",
        ALL,
        |document| {
            let addresses: Listed = document
                .alternative_names()
                .filter_map(|name| name.address())
                .filter(|octets| !matches!(octets.len(), 4 | 16))
                .map(|octets| format!("{} octets ({})", octets.len(), hex(octets)))
                .collect();
            Some(format!(
                "an iPAddress has {}, and not 4 or 16",
                addresses.text()?
            ))
        },
    ),
    Rule::notice(
        "rfc5280-alternative-name-repeated",
        "RFC 5280 section 4.2.1.6",
        "each alternative name is there once",
        ALL,
        |document| {
            let mut seen = BTreeSet::new();
            let names = general_names(&document.content(ID_CE_SUBJECT_ALT_NAME)?);
            let texts = names.filter_map(|name| {
                let text = name
                    .dns()
                    .map(<[u8]>::to_ascii_lowercase)
                    .map(|name| quoted(&name));
                let text = text.or_else(|| name.email().or_else(|| name.uri()).map(quoted));
                text.or_else(|| name.address().map(hex))
            });
            let repeated: Listed = texts.filter(|text| !seen.insert(text.clone())).collect();
            Some(format!("has {} more than once", repeated.text()?))
        },
    ),
];

/// The alternative names of a kind that are wrong.
fn wrong<'a>(
    document: &Document<'a>,
    kind: fn(&GeneralName<'a>) -> Option<&'a [u8]>,
    is_right: impl Fn(&str) -> bool,
) -> Option<String> {
    let names = document.alternative_names();
    let wrong: Listed = names
        .filter_map(|name| kind(&name))
        .filter(|name| !is_right(&String::from_utf8_lossy(name)))
        .map(quoted)
        .collect();
    wrong.text()
}

fn spiffe_id(document: &Document<'_>) -> Option<String> {
    let uris: Vec<&[u8]> = document
        .alternative_names()
        .filter_map(|name| name.uri())
        .collect();
    let meant = |uri: &&[u8]| core::str::from_utf8(uri).is_ok_and(SpiffeId::is_meant);
    let meant = uris.iter().copied().find(meant)?;
    let id = core::str::from_utf8(meant).ok()?.parse::<SpiffeId>();
    match (id, uris.len()) {
        (Err(error), _) => Some(error.to_string()),
        (Ok(_), 1) => None,
        (Ok(id), number) => Some(format!(
            "{id} is one of {number} URIs, and validators refuse more than one"
        )),
    }
}

/// Another rule is about wildcards in other places.
fn is_dns_name_or_wildcard(name: &str) -> bool {
    let bare = name.strip_prefix("*.").unwrap_or(name);
    is_dns_name(&bare.replace('*', "x"))
}

/// The advice for names that are no DNS names, if they are addresses.
fn advice(document: &Document<'_>) -> &'static str {
    let mut names = document.alternative_names();
    let is_address =
        |name: &[u8]| core::str::from_utf8(name).is_ok_and(|name| name.parse::<IpAddr>().is_ok());
    match names.any(|name| name.dns().is_some_and(is_address)) {
        true => "; write an address as iPAddress",
        false => "",
    }
}

/// Mailbox of RFC 2821 section 4.1.2, without a check of the text between quotation marks.
fn is_mailbox(name: &str) -> bool {
    let Some((local, domain)) = name.rsplit_once('@') else {
        return false;
    };
    let is_quoted = local.len() > 2 && local.starts_with('"') && local.ends_with('"');
    let is_literal = domain.starts_with('[') && domain.ends_with(']');
    name.is_ascii() && (is_quoted || is_dot_atom(local)) && (is_literal || is_dns_name(domain))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mailboxes() {
        for name in [
            "someone@example.org",
            "some.one+tag@a.example",
            "\"some one\"@example.org",
            "someone@[192.0.2.1]",
        ] {
            assert!(is_mailbox(name), "{name}");
        }
        for name in [
            "",
            "someone",
            "@example.org",
            "someone@",
            "someone@example..org",
            ".someone@example.org",
            "some one@example.org",
            "<someone@example.org>",
            "Someone <someone@example.org>",
            "söme@example.org",
        ] {
            assert!(!is_mailbox(name), "{name}");
        }
    }

    #[test]
    fn dns_names() {
        for name in [
            "localhost",
            "a.example",
            "*.a.example",
            "a*.example",
            "_a.example",
        ] {
            assert!(is_dns_name_or_wildcard(name), "{name}");
        }
        for name in [
            "",
            " ",
            ".a.example",
            "a.example.",
            "a b",
            "192.0.2.1",
            "bücher.example",
        ] {
            assert!(!is_dns_name_or_wildcard(name), "{name}");
        }
    }
}
