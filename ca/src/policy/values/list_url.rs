//! The URLs of revocation lists and OCSP responders.

use core::fmt;
use core::str::FromStr;

use crate::policy::file::read_from_strings;

/// The URL of a revocation list (RFC 5280 section 4.2.1.13) or of an OCSP responder (section 4.2.2.1).
///
/// pq-x509 checks its further requirements when a certificate is issued.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct ListUrl(String);

impl ListUrl {
    /// The URL.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for ListUrl {
    type Err = ListUrlError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let rest = text.strip_prefix("http://").unwrap_or_default();
        // A quotation mark would end the string around the URL in the default policy.
        let is_url = rest.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '[')
            && rest
                .chars()
                .all(|c| c.is_ascii_graphic() && !"\"\\<>^`{|}#".contains(c));
        match is_url {
            true => Ok(Self(text.into())),
            false => Err(ListUrlError(text.into())),
        }
    }
}

read_from_strings!(ListUrl);

impl fmt::Display for ListUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The text is not the URL of a revocation list or an OCSP responder.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error(
    "{0:?} is not the URL of a revocation list or an OCSP responder: write one such as \
     \"http://ca.example.org/issuing.crl\"; lists and answers are signed, so they need no https"
)]
pub struct ListUrlError(String);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_are_of_http() {
        for good in [
            "http://a",
            "http://ca.example.org:80/a%20b?c",
            "http://[2001:db8::1]/a",
        ] {
            assert_eq!(good.parse::<ListUrl>().unwrap().as_str(), good);
        }
        for bad in [
            "",
            "http://",
            "http:///a",
            "https://a",
            "HTTP://a",
            "ldap://a",
            "a/b",
            "http://a b",
            "http://ä",
            "http://a\"",
            "http://a\\b",
            "http://a#b",
            "http://a\n",
        ] {
            assert_eq!(bad.parse::<ListUrl>(), Err(ListUrlError(bad.into())));
        }
    }
}
