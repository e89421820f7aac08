use pq_x509::x509_cert::spki::{AlgorithmIdentifierRef, ObjectIdentifier};
use rustls::pki_types::{AlgorithmIdentifier, alg_id};

use super::algorithm::ClassicalAlgorithm;
use super::error::ClassicalKeyError;
use crate::algorithms::{identifier_in, oid};

/// What an AlgorithmIdentifier tells of a key.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Family {
    P256,
    P384,
    Ed25519,
    /// Of any length.
    Rsa,
}

impl Family {
    const ALL: [Self; 4] = [Self::P256, Self::P384, Self::Ed25519, Self::Rsa];

    /// That with exactly this identifier.
    pub(super) fn of(identifier: &AlgorithmIdentifierRef<'_>) -> Result<Self, ClassicalKeyError> {
        let mut all = Self::ALL.into_iter();
        let exact =
            all.find(|family| identifier_in(&family.identifier()).as_ref() == Ok(identifier));
        exact.ok_or_else(|| match (identifier.oid, identifier.parameters_oid()) {
            (oid::EC_PUBLIC_KEY, Ok(curve)) => ClassicalKeyError::UnsupportedAlgorithm(curve),
            (oid::EC_PUBLIC_KEY | oid::ED25519 | oid::RSA, _) => {
                ClassicalKeyError::Parameters(identifier.oid)
            }
            (other, _) => ClassicalKeyError::UnsupportedAlgorithm(other),
        })
    }

    /// The curve of this name.
    pub(super) fn on_curve(curve: ObjectIdentifier) -> Result<Self, ClassicalKeyError> {
        match curve {
            oid::P256 => Ok(Self::P256),
            oid::P384 => Ok(Self::P384),
            other => Err(ClassicalKeyError::UnsupportedAlgorithm(other)),
        }
    }

    pub(super) fn identifier(self) -> AlgorithmIdentifier {
        match self {
            Self::P256 => alg_id::ECDSA_P256,
            Self::P384 => alg_id::ECDSA_P384,
            Self::Ed25519 => alg_id::ED25519,
            Self::Rsa => alg_id::RSA_ENCRYPTION,
        }
    }

    /// For messages.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::P256 => "ECDSA-P256",
            Self::P384 => "ECDSA-P384",
            Self::Ed25519 => "Ed25519",
            Self::Rsa => "RSA",
        }
    }
}

impl From<ClassicalAlgorithm> for Family {
    fn from(algorithm: ClassicalAlgorithm) -> Self {
        match algorithm {
            ClassicalAlgorithm::EcdsaP256 => Self::P256,
            ClassicalAlgorithm::EcdsaP384 => Self::P384,
            ClassicalAlgorithm::Ed25519 => Self::Ed25519,
            ClassicalAlgorithm::Rsa2048
            | ClassicalAlgorithm::Rsa3072
            | ClassicalAlgorithm::Rsa4096 => Self::Rsa,
        }
    }
}

/// RSA with a modulus of this length.
pub(super) fn rsa_of_length(bits: usize) -> Result<ClassicalAlgorithm, ClassicalKeyError> {
    match bits {
        2048 => Ok(ClassicalAlgorithm::Rsa2048),
        3072 => Ok(ClassicalAlgorithm::Rsa3072),
        4096 => Ok(ClassicalAlgorithm::Rsa4096),
        other => Err(ClassicalKeyError::UnsupportedRsaLength(other)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn families_are_told_by_their_identifiers() {
        for family in Family::ALL {
            let identifier = family.identifier();
            let identifier = identifier_in(&identifier).unwrap();
            assert_eq!(Family::of(&identifier), Ok(family));
            // All but Ed25519 have parameters.
            let bare = AlgorithmIdentifierRef {
                parameters: None,
                ..identifier
            };
            let expected = match family {
                Family::Ed25519 => Ok(family),
                _ => Err(ClassicalKeyError::Parameters(identifier.oid)),
            };
            assert_eq!(Family::of(&bare), expected);
        }
    }
}
