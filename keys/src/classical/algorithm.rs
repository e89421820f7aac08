//! The names of the classical signature algorithms and of the schemes for RSA, and the AlgorithmIdentifier that each
//! has in certificates.

use core::fmt;
use core::str::FromStr;

use pki_types::{AlgorithmIdentifier, alg_id};

use crate::keys::KeyAlgorithm;

/// A classical signature algorithm. None of them withstands a quantum computer.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
#[non_exhaustive]
pub enum ClassicalAlgorithm {
    /// ECDSA on P-256 (FIPS 186-5), with SHA-256.
    EcdsaP256,
    /// ECDSA on P-384 (FIPS 186-5), with SHA-384.
    EcdsaP384,
    /// Ed25519 (RFC 8032).
    Ed25519,
    /// RSA with a modulus of 2048 bits. All RSA keys here sign with PKCS#1 v1.5 (RFC 8017, section
    /// 8.2) and SHA-256 by default, which all verifiers of certificates accept.
    Rsa2048,
    /// RSA with a modulus of 3072 bits.
    Rsa3072,
    /// RSA with a modulus of 4096 bits.
    Rsa4096,
}

impl ClassicalAlgorithm {
    /// Every algorithm.
    pub const ALL: &'static [Self] = &[
        Self::EcdsaP256,
        Self::EcdsaP384,
        Self::Ed25519,
        Self::Rsa2048,
        Self::Rsa3072,
        Self::Rsa4096,
    ];

    /// The name, such as `ECDSA-P256`.
    pub fn name(self) -> &'static str {
        match self {
            Self::EcdsaP256 => "ECDSA-P256",
            Self::EcdsaP384 => "ECDSA-P384",
            Self::Ed25519 => "Ed25519",
            Self::Rsa2048 => "RSA-2048",
            Self::Rsa3072 => "RSA-3072",
            Self::Rsa4096 => "RSA-4096",
        }
    }

    /// The length of a raw private key, in bytes: an ECDSA scalar or an Ed25519 seed. `None` for RSA.
    pub fn raw_private_key_len(self) -> Option<usize> {
        match self {
            Self::EcdsaP256 | Self::Ed25519 => Some(32),
            Self::EcdsaP384 => Some(48),
            Self::Rsa2048 | Self::Rsa3072 | Self::Rsa4096 => None,
        }
    }

    /// The length of the longest signature, in bytes.
    pub fn max_signature_len(self) -> usize {
        match self {
            Self::EcdsaP256 => 72,
            Self::EcdsaP384 => 104,
            Self::Ed25519 => 64,
            Self::Rsa2048 => 256,
            Self::Rsa3072 => 384,
            Self::Rsa4096 => 512,
        }
    }

    /// The signature algorithm in certificates that such a key signs. `rsa` is the scheme for RSA.
    pub(super) fn signature_identifier(self, rsa: RsaScheme) -> AlgorithmIdentifier {
        match self {
            Self::EcdsaP256 => alg_id::ECDSA_SHA256,
            Self::EcdsaP384 => alg_id::ECDSA_SHA384,
            Self::Ed25519 => alg_id::ED25519,
            Self::Rsa2048 | Self::Rsa3072 | Self::Rsa4096 => rsa.identifier(),
        }
    }
}

impl From<ClassicalAlgorithm> for KeyAlgorithm {
    fn from(algorithm: ClassicalAlgorithm) -> Self {
        match algorithm {
            ClassicalAlgorithm::EcdsaP256 => Self::EcdsaP256,
            ClassicalAlgorithm::EcdsaP384 => Self::EcdsaP384,
            ClassicalAlgorithm::Ed25519 => Self::Ed25519,
            ClassicalAlgorithm::Rsa2048 => Self::Rsa { bits: 2048 },
            ClassicalAlgorithm::Rsa3072 => Self::Rsa { bits: 3072 },
            ClassicalAlgorithm::Rsa4096 => Self::Rsa { bits: 4096 },
        }
    }
}

impl TryFrom<KeyAlgorithm> for ClassicalAlgorithm {
    type Error = UnknownClassicalAlgorithm;

    fn try_from(algorithm: KeyAlgorithm) -> Result<Self, Self::Error> {
        let mut all = Self::ALL.iter().copied();
        all.find(|one| KeyAlgorithm::from(*one) == algorithm)
            .ok_or_else(|| UnknownClassicalAlgorithm(algorithm.to_string()))
    }
}

/// How RSA signs: padding and hash function (RFC 8017, section 8).
///
/// Other algorithms have no such choice.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
#[non_exhaustive]
pub enum RsaScheme {
    /// PKCS#1 v1.5 with SHA-256, the most frequent one in certificates.
    #[default]
    Pkcs1Sha256,
    /// PKCS#1 v1.5 with SHA-384.
    Pkcs1Sha384,
    /// PKCS#1 v1.5 with SHA-512.
    Pkcs1Sha512,
    /// PSS with SHA-256, also for the mask, and 32 bytes of salt.
    PssSha256,
    /// PSS with SHA-384, also for the mask, and 48 bytes of salt.
    PssSha384,
    /// PSS with SHA-512, also for the mask, and 64 bytes of salt.
    PssSha512,
}

impl RsaScheme {
    fn identifier(self) -> AlgorithmIdentifier {
        match self {
            Self::Pkcs1Sha256 => alg_id::RSA_PKCS1_SHA256,
            Self::Pkcs1Sha384 => alg_id::RSA_PKCS1_SHA384,
            Self::Pkcs1Sha512 => alg_id::RSA_PKCS1_SHA512,
            Self::PssSha256 => alg_id::RSA_PSS_SHA256,
            Self::PssSha384 => alg_id::RSA_PSS_SHA384,
            Self::PssSha512 => alg_id::RSA_PSS_SHA512,
        }
    }
}

impl fmt::Display for ClassicalAlgorithm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for ClassicalAlgorithm {
    type Err = UnknownClassicalAlgorithm;

    /// Reads a [`name`](Self::name), in upper or lower case.
    fn from_str(name: &str) -> Result<Self, Self::Err> {
        Self::ALL
            .iter()
            .copied()
            .find(|algorithm| algorithm.name().eq_ignore_ascii_case(name))
            .ok_or_else(|| UnknownClassicalAlgorithm(name.into()))
    }
}

/// No classical algorithm has this name.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error("{_0:?} is no classical algorithm known here; known: {}", names())]
pub struct UnknownClassicalAlgorithm(String);

fn names() -> String {
    let names: Vec<_> = ClassicalAlgorithm::ALL.iter().map(|a| a.name()).collect();
    names.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_in_either_case_and_general_algorithms_are_the_same() {
        for algorithm in ClassicalAlgorithm::ALL {
            let name = algorithm.name();
            for written in [name.into(), name.to_lowercase(), name.to_uppercase()] {
                assert_eq!(written.parse(), Ok(*algorithm));
            }
            let general = KeyAlgorithm::from(*algorithm);
            assert_eq!(general.to_string(), name);
            assert_eq!(general.try_into(), Ok(*algorithm));
            let len = algorithm.max_signature_len();
            assert_eq!(general.max_signature_len(), Some(len));
        }
        let unknown = "DSA".parse::<ClassicalAlgorithm>().unwrap_err();
        assert_eq!(
            unknown.to_string(),
            "\"DSA\" is no classical algorithm known here; known: ECDSA-P256, ECDSA-P384, Ed25519, \
             RSA-2048, RSA-3072, RSA-4096"
        );
    }
}
