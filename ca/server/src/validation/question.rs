//! What is to be validated.

use core::fmt;
use core::net::IpAddr;

use base64ct::{Base64UrlUnpadded, Encoding};
use sha2::{Digest, Sha256};

/// A challenge that a client says it meets.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Question {
    /// How it is asked.
    pub kind: Kind,
    /// Whom the certificate is to be for: a DNS name without `*.`, or an address.
    pub identifier: Identifier,
    /// The challenge's token.
    pub token: String,
    /// The token, a dot, and the thumbprint of the account's key (RFC 8555, section 8.1).
    pub key_authorization: String,
    /// On whose behalf: the account, for its share of the places.
    pub account: String,
}

impl Question {
    /// The digest of the key authorization.
    pub(super) fn digest(&self) -> [u8; 32] {
        Sha256::digest(&self.key_authorization).into()
    }

    /// The digest as it stands in DNS.
    pub(super) fn dns_text(&self) -> String {
        Base64UrlUnpadded::encode_string(&self.digest())
    }
}

/// Whom a certificate is for.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Identifier {
    /// A DNS name, in ASCII.
    Dns(String),
    /// An IP address (RFC 8738).
    Ip(IpAddr),
}

impl fmt::Display for Identifier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Dns(name) => f.write_str(name),
            Self::Ip(address) => address.fmt(f),
        }
    }
}

/// How a challenge is asked.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Kind {
    /// By HTTP (RFC 8555, section 8.3).
    Http01,
    /// By DNS (RFC 8555, section 8.4).
    Dns01,
    /// By a handshake of TLS (RFC 8737).
    TlsAlpn01,
}

impl Kind {
    /// The name in ACME.
    pub fn name(self) -> &'static str {
        match self {
            Self::Http01 => "http-01",
            Self::Dns01 => "dns-01",
            Self::TlsAlpn01 => "tls-alpn-01",
        }
    }
}
