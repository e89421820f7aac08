//! Sets of URIs in the policy file.

use core::fmt;
use core::str::FromStr;

use pq_x509::certificate::Uri;

use super::character::{is_kept, is_of_words};
use crate::policy::file::read_from_strings;

/// A set of URIs, as a policy writes it: `spiffe://example.org/billing` is this URI alone, and
/// `spiffe://example.org/apps/*` are all URIs that begin with the text before the `*`.
///
/// Before a `*` there has to be a complete host, and a `/` directly before it. A URI is in no set with a `*` if readers
/// may resolve it to one outside: if it has a segment `.` or `..`, an empty one, or an escape of a character that
/// divides segments or makes such a one (see RFC 3986 section 7.3). Escapes beyond ASCII have to be UTF-8 of letters,
/// decimal digits and marks, since some readers take other characters for such ones. All characters are compared
/// exactly.
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
/// `/`, some merge slashes, and some leave out parameters, so that `..;a` is `..`. Some drop accents, or spaces at the
/// ends of segments.
fn is_resolved(uri: &Uri) -> bool {
    let all = uri.after_authority();
    let (path, rest) = all.split_at(all.find(['?', '#']).unwrap_or(all.len()));
    let Some(decoded) = without_escapes(path) else {
        return false;
    };
    let mut read: String = decoded.chars().filter(|c| is_kept(*c)).collect();
    read.push_str(rest);
    let mut segments = read.split(['/', '?', '#', ';']);
    let has_dots = segments.any(|segment| matches!(segment.trim(), "." | ".."));
    !(has_dots || path.contains("//"))
}

/// A path without its escapes. `None` if one of them may divide a path for some reader, or be part of what does.
fn without_escapes(path: &str) -> Option<String> {
    let mut parts = path.split('%');
    let mut decoded = parts.next()?.as_bytes().to_vec();
    for part in parts {
        let (digits, rest) = part.split_at_checked(2)?;
        let byte = u8::from_str_radix(digits, 16).ok()?;
        if digits.starts_with('+') || !is_harmless(byte) {
            return None;
        }
        decoded.push(byte);
        decoded.extend_from_slice(rest.as_bytes());
    }
    // Lenient readers take an overlong form, such as c0 ae, for the character.
    let decoded = String::from_utf8(decoded).ok()?;
    let is_read_by_all = |character: char| character.is_ascii() || is_of_words(character);
    decoded.chars().all(is_read_by_all).then_some(decoded)
}

/// Whether an escaped byte neither divides a path nor is part of what does, if it is one of ASCII.
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
                    "https://example.org/%e6%9d%b1%e4%ba%ac/u%cc%88/%d9%a3",
                    "https://example.org/%e0%a4%b9%e0%a4%bf%e0%a4%a8%e0%a5%8d%e0%a4%a6%e0%a5%80",
                    "https://example.org/a?b=%c0%ae%ff",
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
                    // Overlong forms of two, three and four bytes, and what else is no UTF-8
                    "https://example.org/a/%c0%ae%c0%ae%c0%afb",
                    "https://example.org/a/%C1%9Cb",
                    "https://example.org/a/%e0%80%af%f0%80%80%afb",
                    "https://example.org/a/%fc",
                    "https://example.org/a/%c3/b",
                    "https://example.org/a/%ed%a0%80",
                    // U+FF0F, U+FF0E, U+2025, U+2488, U+FE68, U+FF05, U+037E and the like of U+2215 and U+00A5
                    "https://example.org/a/..%ef%bc%8fb",
                    "https://example.org/a/%ef%bc%8e%ef%bc%8e/b",
                    "https://example.org/a/%e2%80%a5/b",
                    "https://example.org/a/%e2%92%88/b",
                    "https://example.org/a/..%ef%b9%a8b",
                    "https://example.org/a/%ef%bc%852fb",
                    "https://example.org/a/..%cd%beb",
                    "https://example.org/a/..%e2%88%95b",
                    "https://example.org/a/..%c2%a5b",
                    // what some readers drop
                    "https://example.org/a/.%c2%ad./b",
                    "https://example.org/a/.%e2%80%8d./b",
                    "https://example.org/a/..%cc%81/b",
                    "https://example.org/a/..%20/b",
                    "https://example.org/a/..%cc%81;b/c",
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
