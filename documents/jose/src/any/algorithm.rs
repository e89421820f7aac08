//! The names of signature algorithms in JOSE.

use core::fmt;

use pq_keys::spki::ObjectIdentifier;

use crate::akp::Algorithm;

/// A signature algorithm of JOSE.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
#[non_exhaustive]
pub enum AnyJwsAlgorithm {
    /// ML-DSA-44 (RFC 9964).
    MlDsa44,
    /// ML-DSA-65.
    MlDsa65,
    /// ML-DSA-87.
    MlDsa87,
    /// ECDSA on P-256 with SHA-256 (RFC 7518, section 3.4).
    Es256,
    /// ECDSA on P-384 with SHA-384.
    Es384,
    /// Ed25519 (RFC 8037, section 3.1). The name in RFC 9864, `Ed25519`, is read, too.
    EdDsa,
    /// RSA by PKCS#1 v1.5 with SHA-256 (RFC 7518, section 3.3).
    Rs256,
}

impl AnyJwsAlgorithm {
    /// All algorithms.
    pub const ALL: &'static [Self] = &[
        Self::MlDsa44,
        Self::MlDsa65,
        Self::MlDsa87,
        Self::Es256,
        Self::Es384,
        Self::EdDsa,
        Self::Rs256,
    ];

    /// The name, as a header has it.
    pub fn name(self) -> &'static str {
        match self {
            Self::MlDsa44 => "ML-DSA-44",
            Self::MlDsa65 => "ML-DSA-65",
            Self::MlDsa87 => "ML-DSA-87",
            Self::Es256 => "ES256",
            Self::Es384 => "ES384",
            Self::EdDsa => "EdDSA",
            Self::Rs256 => "RS256",
        }
    }

    /// The algorithm with this name.
    pub fn of_name(name: &str) -> Option<Self> {
        let mut all = Self::ALL.iter().copied();
        match name {
            "Ed25519" => Some(Self::EdDsa),
            name => all.find(|one| one.name() == name),
        }
    }

    /// The algorithm of signatures with this identifier in certificates.
    pub(super) fn of_signatures(oid: ObjectIdentifier) -> Option<Self> {
        match oid {
            ECDSA_SHA256 => Some(Self::Es256),
            ECDSA_SHA384 => Some(Self::Es384),
            ED25519 => Some(Self::EdDsa),
            RSA_SHA256 => Some(Self::Rs256),
            other => match pq_keys::Algorithm::from_oid(other)? {
                pq_keys::Algorithm::Signature(algorithm) => {
                    Algorithm::try_from(algorithm).ok().map(Self::from)
                }
                _ => None,
            },
        }
    }
}

const ECDSA_SHA256: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.10045.4.3.2");
const ECDSA_SHA384: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.10045.4.3.3");
const ED25519: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.3.101.112");
const RSA_SHA256: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.113549.1.1.11");

impl From<Algorithm> for AnyJwsAlgorithm {
    fn from(algorithm: Algorithm) -> Self {
        match algorithm {
            Algorithm::MlDsa44 => Self::MlDsa44,
            Algorithm::MlDsa65 => Self::MlDsa65,
            Algorithm::MlDsa87 => Self::MlDsa87,
        }
    }
}

impl fmt::Display for AnyJwsAlgorithm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}
