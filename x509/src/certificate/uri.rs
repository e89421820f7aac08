//! URIs as certificates have them (RFC 3986): their syntax, and the host, which name constraints are about.

use core::fmt;
use core::net::{Ipv4Addr, Ipv6Addr};
use core::ops::Range;
use core::str::FromStr;

use pq_keys::errors::describe;

use super::dns_name::is_dns_name;

/// An absolute URI (RFC 3986), as in a uniformResourceIdentifier (RFC 5280 section 4.2.1.6). If it
/// has an authority, its host is a DNS name or an address.
///
/// Two URIs are equal only if all their characters are equal: letters' cases, escapes such as
/// `%61` and segments such as `..` are not normalized.
///
/// ```
/// use pq_x509::certificate::Uri;
///
/// let uri: Uri = "https://someone@www.example.org:8443/a?b".parse()?;
/// assert_eq!(uri.host(), Some("www.example.org"));
/// let uri: Uri = "urn:uuid:f81d4fae-7dec-11d0-a765-00a0c91e6bf6".parse()?;
/// assert_eq!(uri.host(), None);
/// # Ok::<(), pq_x509::certificate::InvalidUri>(())
/// ```
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Uri {
    text: String,
    scheme_end: usize,
    host: Option<Range<usize>>,
}

impl Uri {
    /// The URI.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// The part before the first `:`, in letters of either case.
    pub fn scheme(&self) -> &str {
        &self.text[..self.scheme_end]
    }

    /// The host without user and port: a DNS name, an IPv4 address, or an IPv6 address in brackets.
    pub fn host(&self) -> Option<&str> {
        self.host.clone().map(|host| &self.text[host])
    }

    /// The path and what follows it.
    pub fn after_authority(&self) -> &str {
        match self.text[self.scheme_end + 1..].strip_prefix("//") {
            Some(rest) => &rest[authority(rest).len()..],
            None => &self.text[self.scheme_end + 1..],
        }
    }
}

impl FromStr for Uri {
    type Err = InvalidUri;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        read(text).ok_or_else(|| InvalidUri(describe(text)))
    }
}

impl fmt::Display for Uri {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// A text that is no absolute URI, or has an impossible host.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error(
    "\"{0}\" is not a URI for a certificate: write an absolute one such as \
     \"https://www.example.org/a\", in ASCII, with a DNS name or an address as its host, if it has one"
)]
pub struct InvalidUri(String);

fn read(text: &str) -> Option<Uri> {
    let (scheme, rest) = text.split_once(':')?;
    let is_scheme = scheme.starts_with(|first: char| first.is_ascii_alphabetic())
        && scheme
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte));
    if !is_scheme || rest.is_empty() {
        return None;
    }
    let (host, after) = match rest.strip_prefix("//") {
        None => (None, rest),
        // RFC 4516 section 2: no host means the server that the reader knows.
        Some(after) if scheme.eq_ignore_ascii_case("ldap") && after.starts_with('/') => {
            (None, after)
        }
        Some(after) => {
            let authority = authority(after);
            let start = text.len() - after.len();
            let host = host(authority)?;
            let host = start + host.start..start + host.end;
            (Some(host), &after[authority.len()..])
        }
    };
    // Only one "#" begins a fragment.
    let is_rest =
        after.bytes().filter(|byte| *byte == b'#').count() <= 1 && are_characters(after, b":@/?#");
    is_rest.then(|| Uri {
        text: text.into(),
        scheme_end: scheme.len(),
        host,
    })
}

/// The part up to the path, the query or the fragment.
fn authority(after_slashes: &str) -> &str {
    let end = after_slashes.find(['/', '?', '#']);
    &after_slashes[..end.unwrap_or(after_slashes.len())]
}

/// The position of the host in an authority (RFC 3986 section 3.2), if the authority is valid.
fn host(authority: &str) -> Option<Range<usize>> {
    let (user, rest) = match authority.split_once('@') {
        Some((user, rest)) => (Some(user), rest),
        None => (None, authority),
    };
    if !user.is_none_or(|user| are_characters(user, b":")) {
        return None;
    }
    let host = match rest.rsplit_once(':') {
        Some((host, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => host,
        _ => rest,
    };
    let literal = host
        .strip_prefix('[')
        .and_then(|host| host.strip_suffix(']'));
    let is_host = match literal {
        Some(address) => address.parse::<Ipv6Addr>().is_ok(),
        None => host.parse::<Ipv4Addr>().is_ok() || is_dns_name(host),
    };
    let start = user.map_or(0, |user| user.len() + 1);
    is_host.then(|| start..start + host.len())
}

/// Whether a text has only whole escapes, the characters that every part of a URI may have (RFC 3986
/// appendix A), and these others.
fn are_characters(text: &str, others: &[u8]) -> bool {
    let mut escapes = text.split('%').skip(1);
    text.bytes().all(|byte| {
        byte.is_ascii_alphanumeric()
            || b"-._~!$&'()*+,;=%".contains(&byte)
            || others.contains(&byte)
    }) && escapes.all(|escape| {
        let digits = escape.as_bytes().first_chunk::<2>();
        digits.is_some_and(|digits| digits.iter().all(u8::is_ascii_hexdigit))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn uris() {
        for (text, host, after) in [
            ("https://example.org", Some("example.org"), ""),
            (
                "https://example.org:8443/a?b#c",
                Some("example.org"),
                "/a?b#c",
            ),
            ("https://example.org:/", Some("example.org"), "/"),
            ("https://example.org?a@b", Some("example.org"), "?a@b"),
            ("https://example.org#a@b", Some("example.org"), "#a@b"),
            (
                "spiffe://example.org/workload",
                Some("example.org"),
                "/workload",
            ),
            ("https://someone@192.0.2.1/", Some("192.0.2.1"), "/"),
            ("https://some:one@a.example/", Some("a.example"), "/"),
            ("https://a%40b@c.example", Some("c.example"), ""),
            ("https://[2001:db8::1]:80/a", Some("[2001:db8::1]"), "/a"),
            ("urn:uuid:f81d4fae", None, "uuid:f81d4fae"),
            ("mailto:a@example.org", None, "a@example.org"),
            (
                "ldap:///CN=CA,DC=example?a?base",
                None,
                "/CN=CA,DC=example?a?base",
            ),
        ] {
            let uri: Uri = text.parse().unwrap();
            assert_eq!(uri.host(), host, "{text}");
            assert_eq!(uri.after_authority(), after, "{text}");
            assert!(text.starts_with(&format!("{}:", uri.scheme())), "{text}");
            assert_eq!(uri.to_string(), text);
        }
        for text in [
            "",
            "example.org/a",
            "/a",
            ":a",
            "1a:b",
            "https:",
            "https://",
            "https:///a",
            "https://@/",
            "https://:80/",
            "https://a..b/",
            "https://a.b./",
            "https://*.example.org/",
            "https://a@b@c.example/",
            "https://a.example:b/",
            "https://a.example:80:80/",
            "https://ex%61mple.org/",
            "https://[192.0.2.1]/",
            "https://[::1/",
            "https://2001:db8::1/",
            "https://example.org\\@a.example/",
            "https://example.org/a b",
            "https://example.org/ü",
            "https://bücher.example/",
            "https://example.org/[a]",
            "https://example.org/%",
            "https://example.org/%2",
            "https://example.org/%zz",
            "https://example.org/#a#b",
            "https://example.org/\0",
            " https://example.org/",
        ] {
            assert_eq!(text.parse::<Uri>(), Err(InvalidUri(describe(text))));
        }
    }
}
