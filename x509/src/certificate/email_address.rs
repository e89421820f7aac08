//! E-mail addresses as certificates have them: their syntax, which is narrower than that of RFC 5321, and when two are
//! the same.

use core::fmt;
use core::str::FromStr;

use pq_keys::errors::describe;

use super::dns_name::is_dns_name;

/// The address of a mailbox, as in an rfc822Name (RFC 5280 section 4.2.1.6): a local part, an `@`
/// and a DNS name, in ASCII and without anything around them.
///
/// RFC 5321 allows more: local parts between quotation marks, and addresses instead of hosts. This crate
/// does not write these, and when it validates a chain, no constraint permits them.
///
/// Two addresses are equal if their local parts are equal, including the case of letters, and their
/// hosts are equal in letters of any case (RFC 5280 section 7.5).
///
/// ```
/// use pq_x509::certificate::EmailAddress;
///
/// let address: EmailAddress = "someone@example.org".parse()?;
/// assert_eq!(address.local_part(), "someone");
/// assert_eq!(address, "someone@EXAMPLE.ORG".parse()?);
/// assert_ne!(address, "Someone@example.org".parse()?);
/// # Ok::<(), pq_x509::certificate::InvalidEmailAddress>(())
/// ```
#[derive(Clone, Debug, Eq)]
pub struct EmailAddress {
    text: String,
    /// Where the `@` is.
    at: usize,
}

impl EmailAddress {
    /// The address.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// The part before the `@`.
    pub fn local_part(&self) -> &str {
        &self.text[..self.at]
    }

    /// The part after the `@`: a DNS name.
    pub fn host(&self) -> &str {
        &self.text[self.at + 1..]
    }
}

impl FromStr for EmailAddress {
    type Err = InvalidEmailAddress;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let invalid = || InvalidEmailAddress(describe(text));
        let (local, host) = text.rsplit_once('@').ok_or_else(invalid)?;
        match is_dot_atom(local) && local.len() <= MAX_LOCAL && is_dns_name(host) {
            true => Ok(Self {
                text: text.into(),
                at: local.len(),
            }),
            false => Err(invalid()),
        }
    }
}

impl PartialEq for EmailAddress {
    fn eq(&self, other: &Self) -> bool {
        self.local_part() == other.local_part() && self.host().eq_ignore_ascii_case(other.host())
    }
}

impl fmt::Display for EmailAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// A text that is no address of a mailbox, or none that certificates have in ASCII.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error(
    "\"{0}\" is not an e-mail address: write one such as \"someone@example.org\", in ASCII, with \
     neither quotation marks nor an address instead of the host"
)]
pub struct InvalidEmailAddress(String);

/// In octets (RFC 5321 section 4.5.3.1.1).
const MAX_LOCAL: usize = 64;

/// Dot-string of RFC 5321 section 4.1.2.
pub(crate) fn is_dot_atom(local: &str) -> bool {
    let is_of_atoms =
        |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-/=?^_`{|}~".contains(&byte);
    local
        .split('.')
        .all(|atom| !atom.is_empty() && atom.bytes().all(is_of_atoms))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses() {
        for text in [
            "someone@example.org",
            "some.one+tag@a.example",
            "Some_One@EXAMPLE.org",
            "root@localhost",
        ] {
            let address: EmailAddress = text.parse().unwrap();
            assert_eq!(address.to_string(), text);
            let parts = [address.local_part(), address.host()].join("@");
            assert_eq!(parts, text);
        }
        for text in [
            "",
            "@",
            "someone",
            "@example.org",
            "someone@",
            "some@one@example.org",
            "someone@example..org",
            "someone@example.org.",
            "someone@*.example.org",
            "someone@[192.0.2.1]",
            "someone@192.0.2.1",
            ".someone@example.org",
            "some..one@example.org",
            "some one@example.org",
            "\"some one\"@example.org",
            "<someone@example.org>",
            "Someone <someone@example.org>",
            "söme@example.org",
            "someone@bücher.example",
            "someone@example.org\0",
        ] {
            assert_eq!(
                text.parse::<EmailAddress>(),
                Err(InvalidEmailAddress(describe(text)))
            );
        }
        let long = |length| format!("{}@example.org", "a".repeat(length));
        assert!(long(64).parse::<EmailAddress>().is_ok());
        assert!(long(65).parse::<EmailAddress>().is_err());
    }
}
