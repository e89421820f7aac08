//! The names of the key agreement algorithms, and which `Family` of keys belongs to each.

use core::fmt;

use super::family::Family;

/// A classical key agreement algorithm. None of them withstands a quantum computer.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
#[non_exhaustive]
pub enum AgreementAlgorithm {
    /// ECDH on P-256 (SP 800-56A).
    EcdhP256,
    /// ECDH on P-384 (SP 800-56A).
    EcdhP384,
    /// X25519 (RFC 7748).
    X25519,
}

impl AgreementAlgorithm {
    /// Every algorithm.
    pub const ALL: &'static [Self] = &[Self::EcdhP256, Self::EcdhP384, Self::X25519];

    /// The name, such as `ECDH-P256`.
    pub fn name(self) -> &'static str {
        match self {
            Self::EcdhP256 => "ECDH-P256",
            Self::EcdhP384 => "ECDH-P384",
            Self::X25519 => "X25519",
        }
    }

    /// How many bytes a raw private key has.
    pub fn raw_private_key_len(self) -> usize {
        match self {
            Self::EcdhP256 | Self::X25519 => 32,
            Self::EcdhP384 => 48,
        }
    }

    /// The algorithm of keys of this family, if they agree on secrets.
    pub(super) fn of(family: Family) -> Option<Self> {
        match family {
            Family::P256 => Some(Self::EcdhP256),
            Family::P384 => Some(Self::EcdhP384),
            Family::X25519 => Some(Self::X25519),
            Family::Ed25519 | Family::Rsa => None,
        }
    }

    pub(super) fn family(self) -> Family {
        match self {
            Self::EcdhP256 => Family::P256,
            Self::EcdhP384 => Family::P384,
            Self::X25519 => Family::X25519,
        }
    }
}

impl fmt::Display for AgreementAlgorithm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}
