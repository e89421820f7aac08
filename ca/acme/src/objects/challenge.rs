//! Challenges (RFC 8555, sections 7.1.5 and 8), as objects.

use alloc::borrow::Cow;
use core::fmt;
use core::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::time::Time;
use crate::problem::Problem;

/// Something that a client has to show to prove that it controls an identifier.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct Challenge<'a> {
    /// Its kind.
    #[serde(rename = "type")]
    pub kind: ChallengeKind,
    /// Where the client says that it is ready.
    pub url: String,
    /// Its state.
    pub status: ChallengeStatus,
    /// When it was met.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub validated: Option<Time>,
    /// Why it was not met.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<Cow<'a, Problem>>,
    /// The token, of which the client makes what it shows. Challenges of unknown kinds may have none.
    #[serde(default)]
    pub token: Cow<'a, str>,
}

/// The kind of a challenge.
#[derive(Clone, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
#[non_exhaustive]
pub enum ChallengeKind {
    /// A file on a server of HTTP (RFC 8555, section 8.3).
    Http01,
    /// A TXT record (RFC 8555, section 8.4).
    Dns01,
    /// A certificate on a server of TLS (RFC 8737).
    TlsAlpn01,
    /// Any other.
    Other(String),
}

impl ChallengeKind {
    /// Those that are known here.
    pub const ALL: &'static [Self] = &[Self::Http01, Self::Dns01, Self::TlsAlpn01];

    /// Its name.
    pub fn name(&self) -> &str {
        match self {
            Self::Http01 => "http-01",
            Self::Dns01 => "dns-01",
            Self::TlsAlpn01 => "tls-alpn-01",
            Self::Other(name) => name,
        }
    }

    /// The known kind with this name.
    pub fn of_name(name: &str) -> Option<Self> {
        Self::ALL.iter().find(|one| one.name() == name).cloned()
    }
}

impl fmt::Display for ChallengeKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for ChallengeKind {
    type Err = core::convert::Infallible;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        Ok(Self::of_name(name).unwrap_or_else(|| Self::Other(name.into())))
    }
}

impl Serialize for ChallengeKind {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

impl<'de> Deserialize<'de> for ChallengeKind {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let name = String::deserialize(deserializer)?;
        Ok(Self::of_name(&name).unwrap_or(Self::Other(name)))
    }
}

/// The state of a challenge (RFC 8555, section 7.1.6).
#[derive(Clone, Copy, Debug, Deserialize, Eq, Hash, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum ChallengeStatus {
    /// The client did not say yet that it is ready.
    Pending,
    /// The server is looking.
    Processing,
    /// It was met.
    Valid,
    /// It was not met.
    Invalid,
}
