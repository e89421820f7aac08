use core::convert::Infallible;
use core::fmt;
use core::net::IpAddr;
use core::str::FromStr;

use pq_x509::Name;

/// What a certificate can be for: a DNS name or an address.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) enum AlternativeName {
    /// Not checked yet.
    Dns(String),
    Ip(IpAddr),
}

impl FromStr for AlternativeName {
    type Err = Infallible;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Ok(match text.parse() {
            Ok(address) => Self::Ip(address),
            Err(_) => Self::Dns(text.into()),
        })
    }
}

impl fmt::Display for AlternativeName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Dns(name) => name.fmt(f),
            Self::Ip(address) => address.fmt(f),
        }
    }
}

/// How a subject is named.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) enum Subject {
    CommonName(String),
    Full(Name),
}

impl FromStr for Subject {
    type Err = String;

    /// Reads a full name, `CN=Example Root,O=Example`, or what has no `=` as a common name.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if !text.contains('=') {
            return Ok(Self::CommonName(text.into()));
        }
        let name = text.parse().map(Self::Full);
        name.map_err(|error| {
            format!("{error}; write a common name, or a full one such as CN=Example,O=Organisation")
        })
    }
}
