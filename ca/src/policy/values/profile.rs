//! Profiles: what certificates are for.

use core::fmt;
use core::str::FromStr;

use crate::policy::file::read_from_strings;

/// What a certificate is for: its extended key usage (RFC 5280 section 4.2.1.12).
///
/// The key usage follows from the key: keyEncipherment for ML-KEM, digitalSignature for any other.
///
/// `rustls_pq::Profile` is something else: which algorithms TLS accepts.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
#[non_exhaustive]
pub enum Profile {
    /// `server`: serverAuth.
    Server,
    /// `client`: clientAuth.
    Client,
    /// `server+client`: serverAuth and clientAuth.
    ServerAndClient,
    /// `any`: no extended key usage, so the certificate is not limited to a purpose.
    Any,
    /// `ocsp-responder`: OCSPSigning and id-pkix-ocsp-nocheck (RFC 6960 section 4.2.2.2), for OCSP responders
    /// that answer in place of the CA. Clients don't check whether such a certificate was revoked.
    OcspResponder,
}

impl Profile {
    /// Every profile.
    pub const ALL: [Self; 5] = [
        Self::Server,
        Self::Client,
        Self::ServerAndClient,
        Self::Any,
        Self::OcspResponder,
    ];

    /// The name in the policy file.
    pub fn name(self) -> &'static str {
        match self {
            Self::Server => "server",
            Self::Client => "client",
            Self::ServerAndClient => "server+client",
            Self::Any => "any",
            Self::OcspResponder => "ocsp-responder",
        }
    }

    /// Whether the certificate gets serverAuth.
    pub(crate) fn is_for_servers(self) -> bool {
        matches!(self, Self::Server | Self::ServerAndClient)
    }

    /// Whether the certificate gets clientAuth.
    pub(crate) fn is_for_clients(self) -> bool {
        matches!(self, Self::Client | Self::ServerAndClient)
    }
}

impl fmt::Display for Profile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Profile {
    type Err = UnknownProfile;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        Self::ALL
            .into_iter()
            .find(|profile| profile.name() == name)
            .ok_or_else(|| UnknownProfile(name.into()))
    }
}

read_from_strings!(Profile);

/// The text is not the name of a profile.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error(
    "{0:?} is not a profile; write \"server\", \"client\", \"server+client\", \"any\" or \
     \"ocsp-responder\""
)]
pub struct UnknownProfile(String);
