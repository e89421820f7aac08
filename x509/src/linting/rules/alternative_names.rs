//! Alternative names: of hosts, mailboxes and resources.

use core::net::IpAddr;

use super::ALL;
use crate::certificate::names::is_dns_name;
use crate::linting::document::{Document, GeneralName};
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
                "{names} has an underscore, which names of hosts have not"
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
        "an rfc822Name is a mailbox, such as someone@example.org, and nothing around it",
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
            let names = wrong(document, GeneralName::uri, is_absolute_uri)?;
            Some(format!(
                "{names} is no absolute URI with a host that there may be"
            ))
        },
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
];

/// The alternative names of a kind that are not as they should be.
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

/// Wildcards in other places are for another rule.
fn is_dns_name_or_wildcard(name: &str) -> bool {
    let bare = name.strip_prefix("*.").unwrap_or(name);
    is_dns_name(&bare.replace('*', "x"))
}

/// What to do about names that are no DNS names, if they are addresses.
fn advice(document: &Document<'_>) -> &'static str {
    let mut names = document.alternative_names();
    let is_address =
        |name: &[u8]| core::str::from_utf8(name).is_ok_and(|name| name.parse::<IpAddr>().is_ok());
    match names.any(|name| name.dns().is_some_and(is_address)) {
        true => "; write an address as iPAddress",
        false => "",
    }
}

/// Mailbox of RFC 2821 section 4.1.2, but for what is between quotation marks.
fn is_mailbox(name: &str) -> bool {
    let Some((local, domain)) = name.rsplit_once('@') else {
        return false;
    };
    let is_quoted = local.len() > 2 && local.starts_with('"') && local.ends_with('"');
    let is_atom = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-/=?^_`{|}~".contains(&byte);
    let is_plain = local
        .split('.')
        .all(|atom| !atom.is_empty() && atom.bytes().all(is_atom));
    let is_literal = domain.starts_with('[') && domain.ends_with(']');
    name.is_ascii() && (is_quoted || is_plain) && (is_literal || is_dns_name(domain))
}

/// RFC 3986, as far as RFC 5280 asks for it.
fn is_absolute_uri(uri: &str) -> bool {
    let Some((scheme, rest)) = uri.split_once(':') else {
        return false;
    };
    let is_scheme = scheme.starts_with(|first: char| first.is_ascii_alphabetic())
        && scheme
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte));
    let is_of_uris = rest
        .bytes()
        .all(|byte| byte.is_ascii_graphic() && !b"\"<>\\^`{|}".contains(&byte));
    let has_host = match rest.strip_prefix("//") {
        Some(rest) => {
            is_host(host(rest)) || (scheme.eq_ignore_ascii_case("ldap") && rest.starts_with('/'))
        }
        None => !rest.is_empty(),
    };
    is_scheme && is_of_uris && has_host
}

/// The host of what follows the `//` of a URI.
fn host(rest: &str) -> &str {
    let authority = rest.split(['/', '?', '#']).next().unwrap_or(rest);
    let authority = authority
        .rsplit_once('@')
        .map_or(authority, |(_, host)| host);
    match authority.rsplit_once(':') {
        Some((host, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => host,
        _ => authority,
    }
}

fn is_host(host: &str) -> bool {
    let literal = host
        .strip_prefix('[')
        .and_then(|host| host.strip_suffix(']'));
    match literal {
        Some(address) => address
            .parse::<IpAddr>()
            .is_ok_and(|address| address.is_ipv6()),
        None => host.parse::<IpAddr>().is_ok() || is_dns_name(host),
    }
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
    fn uris() {
        for uri in [
            "https://example.org",
            "https://example.org:8443/a?b#c",
            "spiffe://example.org/workload",
            "https://someone@192.0.2.1/",
            "https://[2001:db8::1]:80/a",
            "urn:uuid:f81d4fae-7dec-11d0-a765-00a0c91e6bf6",
            "ldap:///CN=CA,DC=example?certificateRevocationList?base",
        ] {
            assert!(is_absolute_uri(uri), "{uri}");
        }
        for uri in [
            "",
            "example.org/a",
            "/a",
            ":a",
            "1a:b",
            "https:",
            "https:///a",
            "https://a..b/",
            "https://[192.0.2.1]/",
            "https://example.org/a b",
            "https://example.org/ü",
        ] {
            assert!(!is_absolute_uri(uri), "{uri}");
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
