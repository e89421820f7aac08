//! Sets of e-mail addresses in the policy file.

use core::fmt;
use core::str::FromStr;

use pq_x509::certificate::EmailAddress;

use super::dns::{AskedName, NamePattern};
use crate::policy::file::read_from_strings;

/// A set of e-mail addresses, as a policy writes it.
///
/// `someone@example.org` is this address alone, and `*@example.org` all addresses at this host. `*@` may stand before
/// any [`NamePattern`]: then the set has all addresses at the hosts in that pattern. Case matters only before the `@`.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct EmailPattern(Set);

#[derive(Clone, Debug, Eq, PartialEq)]
enum Set {
    One(EmailAddress),
    AllAt(NamePattern),
}

impl EmailPattern {
    /// Whether an address is in the set.
    pub(crate) fn includes(&self, address: &EmailAddress) -> bool {
        match &self.0 {
            Set::One(only) => only == address,
            Set::AllAt(hosts) => {
                AskedName::read(address.host()).is_some_and(|host| hosts.includes(&host))
            }
        }
    }
}

impl FromStr for EmailPattern {
    type Err = EmailPatternError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let invalid = || EmailPatternError(text.into());
        let set = match text.strip_prefix("*@") {
            Some(hosts) => Set::AllAt(hosts.parse().map_err(|_| invalid())?),
            None => {
                let address: EmailAddress = text.parse().map_err(|_| invalid())?;
                // Somebody expected the star to stand for any characters.
                match address.local_part().contains('*') {
                    true => return Err(invalid()),
                    false => Set::One(address),
                }
            }
        };
        Ok(Self(set))
    }
}

read_from_strings!(EmailPattern);

impl fmt::Display for EmailPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Set::One(address) => address.fmt(f),
            Set::AllAt(hosts) => write!(f, "*@{hosts}"),
        }
    }
}

/// The text is not a set of e-mail addresses.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error(
    "{0:?} is not a set of e-mail addresses: write \"someone@example.org\" for this address, \
     \"*@example.org\" for all at this host, or \"*@.example.org\" for all at this host and at hosts below it"
)]
pub struct EmailPatternError(String);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_includes_what_its_notation_says() {
        for (text, inside, outside) in [
            (
                "someone@example.org",
                &["someone@example.org", "someone@EXAMPLE.org"][..],
                &[
                    "Someone@example.org",
                    "else@example.org",
                    "someone@a.example.org",
                ][..],
            ),
            (
                "*@Example.org",
                &["a@example.org", "b@EXAMPLE.org"],
                &["a@a.example.org", "a@badexample.org", "a@org"],
            ),
            (
                "*@.example.org",
                &["a@example.org", "a@a.b.example.org"],
                &["a@badexample.org", "a@example.org.net"],
            ),
            (
                "*@*.example.org",
                &["a@b.example.org"],
                &["a@example.org", "a@a.b.example.org"],
            ),
            ("*@.", &["a@example.org", "a@localhost"], &[]),
        ] {
            let pattern: EmailPattern = text.parse().unwrap();
            for address in inside {
                assert!(
                    pattern.includes(&address.parse().unwrap()),
                    "{text} {address}"
                );
            }
            for address in outside {
                assert!(
                    !pattern.includes(&address.parse().unwrap()),
                    "{text} {address}"
                );
            }
            let written = pattern.to_string();
            assert_eq!(written.parse(), Ok(pattern), "{written}");
        }
    }

    #[test]
    fn what_is_no_pattern_is_refused() {
        for text in [
            "",
            "*",
            "@",
            "*@",
            "@example.org",
            "example.org",
            ".example.org",
            "a*@example.org",
            "someone@.example.org",
            "someone@*.example.org",
            "*@*",
            "*@a@example.org",
            "*@192.0.2.1",
        ] {
            let read: Result<EmailPattern, _> = text.parse();
            assert_eq!(read, Err(EmailPatternError(text.into())));
        }
    }
}
