//! SPIFFE IDs, the URIs that name workloads: their syntax by the SPIFFE standard, which is stricter than that of other
//! URIs.

use core::fmt;
use core::str::FromStr;

use pq_keys::errors::describe;

/// The name of a workload, or of a trust domain, by the
/// [SPIFFE ID standard](https://github.com/spiffe/spiffe/blob/main/standards/SPIFFE-ID.md), such as
/// `spiffe://example.org/billing/api`.
///
/// It is at most 2048 bytes long. The trust domain has lower-case letters, digits, `.`, `-` and `_`. The
/// path is empty, or has segments of letters, digits, `.`, `-` and `_`; no segment is empty, `.` or
/// `..`. There are no ports, users, queries, fragments or escapes, so two IDs are equal if their
/// texts are.
///
/// ```
/// use pq_x509::certificate::SpiffeId;
///
/// let id: SpiffeId = "spiffe://example.org/billing/api".parse()?;
/// assert_eq!(id.trust_domain(), "example.org");
/// assert_eq!(id.path(), "/billing/api");
/// assert!("spiffe://example.org/billing/../api".parse::<SpiffeId>().is_err());
/// # Ok::<(), pq_x509::certificate::SpiffeIdError>(())
/// ```
#[derive(Clone, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct SpiffeId {
    text: String,
    domain_end: usize,
}

impl SpiffeId {
    /// The ID, which is a URI.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// The trust domain. It has its own roots, which vouch for its members.
    pub fn trust_domain(&self) -> &str {
        &self.text[SCHEME.len()..self.domain_end]
    }

    /// What follows the trust domain: empty for the domain itself, else `/` and more.
    pub fn path(&self) -> &str {
        &self.text[self.domain_end..]
    }

    /// Whether a URI has the scheme of SPIFFE IDs, valid or not.
    pub(crate) fn is_meant(uri: &str) -> bool {
        let scheme = uri.split(':').next().unwrap_or(uri);
        scheme.eq_ignore_ascii_case("spiffe")
    }
}

impl FromStr for SpiffeId {
    type Err = SpiffeIdError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if text.len() > MAX_LENGTH {
            return Err(SpiffeIdError::Length(text.len()));
        }
        let Some(rest) = text.strip_prefix(SCHEME) else {
            return Err(SpiffeIdError::Scheme(describe(text)));
        };
        let (domain, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
        let is_of_domains = |byte: u8| is_of_both(byte) || byte.is_ascii_lowercase();
        if !(1..=MAX_DOMAIN).contains(&domain.len()) || !domain.bytes().all(is_of_domains) {
            return Err(SpiffeIdError::TrustDomain(describe(text)));
        }
        let is_segment = |segment: &str| {
            let is_of_paths = |byte: u8| is_of_both(byte) || byte.is_ascii_alphabetic();
            !matches!(segment, "" | "." | "..") && segment.bytes().all(is_of_paths)
        };
        // The first element is before the first slash, and empty.
        if !path.split('/').skip(1).all(is_segment) {
            return Err(SpiffeIdError::Path(describe(text)));
        }
        Ok(Self {
            text: text.into(),
            domain_end: SCHEME.len() + domain.len(),
        })
    }
}

impl fmt::Display for SpiffeId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl From<SpiffeId> for String {
    fn from(id: SpiffeId) -> Self {
        id.text
    }
}

/// Why a text is no SPIFFE ID.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum SpiffeIdError {
    /// It is too long.
    #[error("a SPIFFE ID has at most 2048 bytes, not {0}; shorten its path")]
    Length(usize),
    /// It doesn't begin with the scheme.
    #[error("\"{0}\" is not a SPIFFE ID: it must begin with \"spiffe://\", in lower-case letters")]
    Scheme(String),
    /// Its trust domain is invalid.
    #[error(
        "\"{0}\" is not a SPIFFE ID: its trust domain must be 1 to 255 lower-case letters, digits, dots, \
         hyphens and underscores, without a user or a port"
    )]
    TrustDomain(String),
    /// Its path is invalid.
    #[error(
        "\"{0}\" is not a SPIFFE ID: each segment of its path may have only letters, digits, dots, hyphens \
         and underscores; none may be empty, \".\" or \"..\", and no \"/\" may end the path"
    )]
    Path(String),
}

const SCHEME: &str = "spiffe://";

/// In bytes.
const MAX_LENGTH: usize = 2048;

/// In bytes.
const MAX_DOMAIN: usize = 255;

fn is_of_both(byte: u8) -> bool {
    byte.is_ascii_digit() || b"._-".contains(&byte)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<SpiffeId, SpiffeIdError> {
        text.parse()
    }

    #[test]
    fn ids() {
        for (text, domain, path) in [
            ("spiffe://example.org", "example.org", ""),
            ("spiffe://example.org/a", "example.org", "/a"),
            ("spiffe://a_b-1.c/Ab/9._-/...", "a_b-1.c", "/Ab/9._-/..."),
            ("spiffe://prod/a/b/c", "prod", "/a/b/c"),
        ] {
            let id = read(text).unwrap();
            assert_eq!((id.trust_domain(), id.path()), (domain, path));
            assert_eq!(id.to_string(), text);
        }
        for text in [
            "",
            "spiffe",
            "spiffe:",
            "spiffe:/a/b",
            "SPIFFE://example.org/a",
            "https://example.org/a",
            " spiffe://example.org/a",
        ] {
            assert_eq!(read(text), Err(SpiffeIdError::Scheme(text.into())));
        }
        for text in [
            "spiffe://",
            "spiffe:///a",
            "spiffe://Example.org/a",
            "spiffe://example.org:80/a",
            "spiffe://someone@example.org/a",
            "spiffe://ex%61mple.org/a",
            "spiffe://[::1]/a",
            "spiffe://example.org?a",
            "spiffe://example.org#a",
            "spiffe://example.org\\a",
        ] {
            assert_eq!(read(text), Err(SpiffeIdError::TrustDomain(describe(text))));
        }
        for text in [
            "spiffe://example.org/",
            "spiffe://example.org/a/",
            "spiffe://example.org//a",
            "spiffe://example.org/a/./b",
            "spiffe://example.org/a/../b",
            "spiffe://example.org/..",
            "spiffe://example.org/a?b",
            "spiffe://example.org/a#b",
            "spiffe://example.org/a%2fb",
            "spiffe://example.org/a b",
            "spiffe://example.org/ü",
            "spiffe://example.org/a\0",
        ] {
            assert_eq!(read(text), Err(SpiffeIdError::Path(describe(text))));
        }
    }

    #[test]
    fn lengths() {
        let of_length = |length: usize| format!("spiffe://a/{}", "b".repeat(length - 11));
        assert!(read(&of_length(2048)).is_ok());
        assert_eq!(read(&of_length(2049)), Err(SpiffeIdError::Length(2049)));
        let of_domain = |length: usize| read(&format!("spiffe://{}/b", "a".repeat(length)));
        assert!(of_domain(255).is_ok());
        assert!(of_domain(256).is_err());
    }
}
