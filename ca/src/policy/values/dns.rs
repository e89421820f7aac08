//! DNS names: sets of names in the policy file, and names that are asked for.

use core::fmt;
use core::str::FromStr;

use pq_x509::pki_types::DnsName;

use crate::policy::file::read_from_strings;

/// A set of DNS names, as a policy writes it.
///
/// `www.example.org` is this name alone, `*.example.org` all names with exactly one more label, `.example.org` the
/// name and all names below it, and `.` every name. Case makes no difference: letters are converted to lower case.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct NamePattern {
    scope: Scope,
    /// In lower case; empty for the root.
    base: String,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Scope {
    Exactly,
    OneLabelMore,
    WithAllBelow,
}

impl NamePattern {
    /// Whether the name, or every name that the wildcard covers, is in the set.
    pub(crate) fn includes(&self, name: &AskedName) -> bool {
        match (self.scope, name.wildcard) {
            (Scope::Exactly, false) => name.base == self.base,
            (Scope::Exactly, true) => false,
            (Scope::OneLabelMore, false) => parent(&name.base) == Some(&self.base),
            (Scope::OneLabelMore, true) => name.base == self.base,
            (Scope::WithAllBelow, _) => is_at_or_below(&name.base, &self.base),
        }
    }

    /// Whether the name, or any name that the wildcard covers, is in the set.
    pub(crate) fn meets(&self, name: &AskedName) -> bool {
        let stands_for_base = name.wildcard && parent(&self.base) == Some(&name.base);
        self.includes(name) || (stands_for_base && self.scope != Scope::OneLabelMore)
    }
}

impl FromStr for NamePattern {
    type Err = NamePatternError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (scope, base) = match text.split_once('.') {
            Some(("*", base)) => (Scope::OneLabelMore, base),
            Some(("", base)) => (Scope::WithAllBelow, base),
            _ => (Scope::Exactly, text),
        };
        let is_root = base.is_empty() && scope == Scope::WithAllBelow;
        if !is_root && !is_dns_name(base) {
            return Err(NamePatternError(text.into()));
        }
        Ok(Self {
            scope,
            base: base.to_ascii_lowercase(),
        })
    }
}

read_from_strings!(NamePattern);

impl fmt::Display for NamePattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.scope {
            Scope::Exactly => "",
            Scope::OneLabelMore => "*.",
            Scope::WithAllBelow => ".",
        })?;
        f.write_str(&self.base)
    }
}

/// The text is not a set of DNS names.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error(
    "{0:?} is not a set of DNS names: write \"example.org\" for this name, \"*.example.org\" for \
     names with one more label, \".example.org\" for this name and all below it, or \".\" for all \
     names; write no final dot, and names in other scripts as \"xn--...\""
)]
pub struct NamePatternError(String);

/// A DNS name that is asked for.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct AskedName {
    /// Whether this is a wildcard, which covers all names with one label more than `base`.
    pub(crate) wildcard: bool,
    /// In lower case.
    base: String,
}

impl AskedName {
    /// Reads a name as pq-x509 does when it issues certificates.
    pub(crate) fn read(name: &str) -> Option<Self> {
        let (wildcard, base) = match name.strip_prefix("*.") {
            Some(base) => (true, base),
            None => (false, name),
        };
        is_dns_name(base).then(|| Self {
            wildcard,
            base: base.to_ascii_lowercase(),
        })
    }

    /// Whether there is only one label, not counting a `*`.
    pub(crate) fn is_single_label(&self) -> bool {
        parent(&self.base).is_none()
    }
}

/// Whether this is a DNS name by pq-x509's rules for names without a `*`: ASCII labels, no final dot, no address.
fn is_dns_name(name: &str) -> bool {
    !name.ends_with('.') && DnsName::try_from(name).is_ok()
}

/// The name without its first label, if it has several.
fn parent(name: &str) -> Option<&str> {
    name.split_once('.').map(|(_, parent)| parent)
}

/// Whether a name equals another one or is below it. Both are in lower case. All names are below the empty one.
fn is_at_or_below(name: &str, base: &str) -> bool {
    base.is_empty()
        || name
            .strip_suffix(base)
            .is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pattern(text: &str) -> NamePattern {
        text.parse().unwrap()
    }

    fn name(text: &str) -> AskedName {
        AskedName::read(text).unwrap()
    }

    #[test]
    fn a_pattern_includes_what_its_notation_says() {
        for (text, inside, outside) in [
            (
                "example.org",
                &["example.org", "EXAMPLE.org"][..],
                &[
                    "www.example.org",
                    "*.example.org",
                    "org",
                    "evil-example.org",
                    "example.org.evil.net",
                ][..],
            ),
            (
                "*.Example.org",
                &["www.example.org", "*.example.org", "_a.example.ORG"],
                &[
                    "example.org",
                    "a.www.example.org",
                    "*.www.example.org",
                    "*.org",
                    "evil-example.org",
                    "www.evil-example.org",
                ],
            ),
            (
                ".example.org",
                &[
                    "example.org",
                    "www.example.org",
                    "a.www.example.org",
                    "*.example.org",
                    "*.a.b.example.org",
                ],
                &[
                    "org",
                    "*.org",
                    "evil-example.org",
                    "www.evil-example.org",
                    "example.org.net",
                ],
            ),
            (".", &["org", "localhost", "*.org", "a.b.c"], &[]),
            (
                ".localhost",
                &["localhost", "a.localhost"],
                &["mylocalhost"],
            ),
        ] {
            for asked in inside {
                assert!(pattern(text).includes(&name(asked)), "{text} {asked}");
            }
            for asked in outside {
                assert!(!pattern(text).includes(&name(asked)), "{text} {asked}");
            }
        }
    }

    /// A wildcard stands for more than itself.
    #[test]
    fn a_pattern_meets_wildcards_that_stand_for_a_name_of_it() {
        for (text, met, not_met) in [
            (
                "a.example.org",
                &["a.example.org", "*.example.org"][..],
                &["*.a.example.org", "*.org", "b.example.org"][..],
            ),
            (
                "*.example.org",
                &["a.example.org", "*.example.org"],
                &["example.org", "*.org", "*.a.example.org"],
            ),
            (
                ".a.example.org",
                &["a.example.org", "*.example.org", "*.a.example.org"],
                &["example.org", "*.org", "b.example.org"],
            ),
            (".", &["example.org", "*.example.org"], &[]),
        ] {
            for asked in met {
                assert!(pattern(text).meets(&name(asked)), "{text} {asked}");
            }
            for asked in not_met {
                assert!(!pattern(text).meets(&name(asked)), "{text} {asked}");
            }
        }
    }

    #[test]
    fn patterns_are_written_as_they_are_read() {
        for text in [
            "example.org",
            "*.example.org",
            ".example.org",
            ".",
            "localhost",
        ] {
            assert_eq!(pattern(text).to_string(), text);
        }
    }

    #[test]
    fn what_is_no_pattern_is_refused() {
        for text in [
            "",
            "*",
            "*.",
            "..",
            "example.org.",
            ".example.org.",
            "*.*.org",
            "a.*.org",
            "*a.org",
            "..example.org",
            "-a.org",
            "10.0.0.1",
            ".10.0.0.1",
            "bücher.example",
            "a b",
            "a\0b",
        ] {
            assert_eq!(
                text.parse::<NamePattern>(),
                Err(NamePatternError(text.into()))
            );
        }
    }

    #[test]
    fn what_is_no_name_is_not_read() {
        for text in [
            "",
            ".",
            "*",
            "*.",
            "*.*.org",
            "a.*.b",
            "a..b",
            "example.org.",
            "*.example.org.",
            ".a",
            "::1",
            "127.0.0.1",
            "bücher.example",
        ] {
            assert_eq!(AskedName::read(text), None, "{text:?}");
        }
    }
}
