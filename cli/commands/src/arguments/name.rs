//! The subject of a certificate or request, as the command line names it: a common name alone, or a full distinguished
//! name.

use core::str::FromStr;

use pq_x509::certificate::Name;

/// How a subject is named.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) enum Subject {
    CommonName(String),
    Full(Name),
}

impl FromStr for Subject {
    type Err = String;

    /// Reads a full name, `CN=Example Root,O=Example`, or a text without `=` as a common name.
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
