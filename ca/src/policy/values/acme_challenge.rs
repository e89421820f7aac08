//! The challenges of ACME.

use core::fmt;
use core::str::FromStr;

use crate::policy::file::read_from_strings;

/// How a client of ACME shows that a name is its own (RFC 8555 section 8, RFC 8737).
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
#[non_exhaustive]
pub enum AcmeChallenge {
    /// `http-01`: by a file on its web server.
    Http01,
    /// `dns-01`: by a record of its zone.
    Dns01,
    /// `tls-alpn-01`: by a certificate of its TLS server.
    TlsAlpn01,
}

impl AcmeChallenge {
    /// Every challenge.
    pub const ALL: [Self; 3] = [Self::Http01, Self::Dns01, Self::TlsAlpn01];

    /// The name in the policy file, and in ACME.
    pub fn name(self) -> &'static str {
        match self {
            Self::Http01 => "http-01",
            Self::Dns01 => "dns-01",
            Self::TlsAlpn01 => "tls-alpn-01",
        }
    }
}

impl fmt::Display for AcmeChallenge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for AcmeChallenge {
    type Err = UnknownAcmeChallenge;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        let mut all = Self::ALL.into_iter();
        let found = all.find(|challenge| challenge.name() == name);
        found.ok_or_else(|| UnknownAcmeChallenge(name.into()))
    }
}

read_from_strings!(AcmeChallenge);

/// The text is not the name of a challenge.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error("{0:?} is not a challenge of ACME; write \"http-01\", \"dns-01\" or \"tls-alpn-01\"")]
pub struct UnknownAcmeChallenge(String);
