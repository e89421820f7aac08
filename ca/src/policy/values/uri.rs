//! Sets of URIs in the policy file.

use core::fmt;
use core::str::FromStr;

use pq_x509::Uri;

use crate::policy::file::read_from_strings;

/// A set of URIs, as a policy writes it: `spiffe://example.org/billing` is this URI alone, and
/// `spiffe://example.org/apps/*` are all URIs that begin with the text before the `*`.
///
/// Before a `*` there has to be a complete host, and a `/` directly before it. A URI is in no set with a `*` if readers
/// may resolve it to one outside: if it has a segment `.` or `..`, an empty one, or an escape of a character that
/// divides segments or makes such a one (see RFC 3986 section 7.3). All characters are compared exactly.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct UriPattern {
    text: String,
    with_all_below: bool,
}

impl UriPattern {
    /// Whether a URI is in the set.
    pub(crate) fn includes(&self, uri: &Uri) -> bool {
        match self.with_all_below {
            false => uri.as_str() == self.text,
            true => uri.as_str().starts_with(&self.text) && is_resolved(uri),
        }
    }
}

/// Whether every reader takes the URI's path for the same one.
///
/// Some resolve dot segments before they decode escapes, others after that, and some decode twice. Some take `\` for
/// `/`, some merge slashes, and some leave out parameters, so that `..;a` is `..`.
fn is_resolved(uri: &Uri) -> bool {
    let all = uri.after_authority();
    let path = all.split(['?', '#']).next().unwrap_or(all);
    let mut segments = all.split(['/', '?', '#', ';']);
    let has_dots = segments.any(|segment| matches!(segment, "." | ".."));
    let mut escapes = path.split('%').skip(1);
    let has_divider = escapes.any(|escape| {
        let digits = escape.get(..2).unwrap_or(escape);
        // What isn't read may be anything.
        u8::from_str_radix(digits, 16).is_ok_and(|byte| !is_harmless(byte)) || digits.len() < 2
    });
    !(has_dots || has_divider || path.contains("//"))
}

/// Whether an escaped byte neither divides a path nor is part of what does.
fn is_harmless(byte: u8) -> bool {
    !(byte.is_ascii_control() || b"./\\%?#;".contains(&byte))
}

impl FromStr for UriPattern {
    type Err = UriPatternError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let invalid = || UriPatternError(text.into());
        let base = text.strip_suffix('*');
        let with_all_below = base.is_some();
        let base = base.unwrap_or(text);
        let uri: Uri = base.parse().map_err(|_| invalid())?;
        let has_path = uri.host().is_some() && uri.after_authority().ends_with('/');
        let is_path = !uri.after_authority().contains(['?', '#']);
        // A quotation mark can't be in a URI, and a star only at the end.
        if base.contains('*') || (with_all_below && !(has_path && is_path)) {
            return Err(invalid());
        }
        Ok(Self {
            text: base.into(),
            with_all_below,
        })
    }
}

read_from_strings!(UriPattern);

impl fmt::Display for UriPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)?;
        f.write_str(if self.with_all_below { "*" } else { "" })
    }
}

/// The text is not a set of URIs.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error(
    "{0:?} is not a set of URIs: write \"spiffe://example.org/billing\" for this URI, or \
     \"spiffe://example.org/apps/*\" for all that begin so, with a host and a \"/\" before the \"*\""
)]
pub struct UriPatternError(String);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_includes_what_its_notation_says() {
        for (text, inside, outside) in [
            (
                "spiffe://example.org/a",
                &["spiffe://example.org/a"][..],
                &[
                    "spiffe://example.org/a/b",
                    "spiffe://example.org/A",
                    "spiffe://Example.org/a",
                    "spiffe://example.org",
                ][..],
            ),
            (
                "spiffe://example.org/a/*",
                &["spiffe://example.org/a/b", "spiffe://example.org/a/b/c"],
                &[
                    "spiffe://example.org/a",
                    "spiffe://example.org/ab",
                    "spiffe://example.org/a/../b",
                    "spiffe://example.org.net/a/b",
                    "spiffe://example.org@example.net/a/b",
                    "https://example.org/a/b",
                ],
            ),
            (
                "https://example.org/*",
                &[
                    "https://example.org/",
                    "https://example.org/a?b=..#c",
                    "https://example.org/a%20b/%C3%BC",
                    "https://example.org/a?b=%2f%2e",
                    "https://example.org/...",
                    "https://example.org/a;b=c/d",
                ],
                &[
                    "https://example.org",
                    "https://example.org:8443/",
                    "https://someone@example.org/",
                    "https://example.org/a/%2e%2E/b",
                    "https://example.org/.%2e",
                    "https://example.org/./a",
                    "https://example.org/a/..%2fb",
                    "https://example.org/a/..%2Fb",
                    "https://example.org/a%2f..%2fb",
                    "https://example.org/a/..%5cb",
                    "https://example.org/a/%252e%252e/b",
                    "https://example.org/a/%2e./b",
                    "https://example.org/a/.%00./b",
                    "https://example.org/a/..;b/c",
                    "https://example.org/a/..%3bb/c",
                    "https://example.org/a//b",
                    "https://example.org//",
                    "https://example.org/a/..?b",
                    "https://example.org/a/..#b",
                    "https://example.org/a?/../b",
                ],
            ),
            ("urn:uuid:1", &["urn:uuid:1"], &["urn:uuid:11"]),
        ] {
            let pattern: UriPattern = text.parse().unwrap();
            for uri in inside {
                assert!(pattern.includes(&uri.parse().unwrap()), "{text} {uri}");
            }
            for uri in outside {
                assert!(!pattern.includes(&uri.parse().unwrap()), "{text} {uri}");
            }
            assert_eq!(pattern.to_string(), text);
        }
    }

    #[test]
    fn what_is_no_pattern_is_refused() {
        for text in [
            "",
            "*",
            "example.org",
            "spiffe:*",
            "spiffe://*",
            "spiffe://*.example.org/a",
            "spiffe://example.org*",
            "spiffe://example.org/a*",
            "spiffe://example.org/*/a",
            "spiffe://example.org/**",
            "https://example.org/?a/*",
            "urn:a/*",
            "https://example.org/ü",
            "https://example.org/\"",
        ] {
            let read: Result<UriPattern, _> = text.parse();
            assert_eq!(read, Err(UriPatternError(text.into())));
        }
    }
}
