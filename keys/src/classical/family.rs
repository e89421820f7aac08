//! Tells keys apart by their AlgorithmIdentifier, and reads and writes SubjectPublicKeyInfos. A family is coarser than
//! an algorithm: RSA of all lengths is one family.

use const_oid::db::rfc5912::{ID_EC_PUBLIC_KEY, RSA_ENCRYPTION, SECP_256_R_1, SECP_384_R_1};
use const_oid::db::rfc8410::{ID_ED_25519, ID_X_25519};
use der::asn1::BitStringRef;
use der::{self, Decode, Encode};
use pki_types::{AlgorithmIdentifier, alg_id};
use spki::{AlgorithmIdentifierRef, ObjectIdentifier, SubjectPublicKeyInfoRef};

use super::algorithm::ClassicalAlgorithm;
use super::error::ClassicalKeyError;
use crate::encoding::identifier_in;

/// The kind of a key, as far as its AlgorithmIdentifier tells.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Family {
    P256,
    P384,
    Ed25519,
    /// Its keys agree on secrets, and don't sign.
    X25519,
    /// Of any length.
    Rsa,
}

impl Family {
    const ALL: [Self; 5] = [
        Self::P256,
        Self::P384,
        Self::Ed25519,
        Self::X25519,
        Self::Rsa,
    ];

    /// The family with exactly this identifier.
    pub(super) fn of(identifier: &AlgorithmIdentifierRef<'_>) -> Result<Self, ClassicalKeyError> {
        let mut all = Self::ALL.into_iter();
        let exact =
            all.find(|family| identifier_in(&family.identifier()).as_ref() == Ok(identifier));
        exact.ok_or_else(|| match (identifier.oid, identifier.parameters_oid()) {
            (ID_EC_PUBLIC_KEY, Ok(curve)) => ClassicalKeyError::UnsupportedAlgorithm(curve),
            (ID_EC_PUBLIC_KEY | ID_ED_25519 | ID_X_25519 | RSA_ENCRYPTION, _) => {
                ClassicalKeyError::Parameters(identifier.oid)
            }
            (other, _) => ClassicalKeyError::UnsupportedAlgorithm(other),
        })
    }

    /// The family of a SubjectPublicKeyInfo, and the bits of its key.
    pub(super) fn of_spki(der: &[u8]) -> Result<(Self, &[u8]), ClassicalKeyError> {
        let spki = SubjectPublicKeyInfoRef::from_der(der)?;
        let family = Self::of(&spki.algorithm)?;
        match spki.subject_public_key.as_bytes() {
            Some(bits) => Ok((family, bits)),
            None => Err(ClassicalKeyError::Malformed {
                algorithm: family.name(),
                reason: "its bits are no whole number of bytes".into(),
            }),
        }
    }

    /// The family of keys on this curve.
    pub(super) fn on_curve(curve: ObjectIdentifier) -> Result<Self, ClassicalKeyError> {
        match curve {
            SECP_256_R_1 => Ok(Self::P256),
            SECP_384_R_1 => Ok(Self::P384),
            other => Err(ClassicalKeyError::UnsupportedAlgorithm(other)),
        }
    }

    pub(super) fn identifier(self) -> AlgorithmIdentifier {
        match self {
            Self::P256 => alg_id::ECDSA_P256,
            Self::P384 => alg_id::ECDSA_P384,
            Self::Ed25519 => alg_id::ED25519,
            Self::X25519 => X25519,
            Self::Rsa => alg_id::RSA_ENCRYPTION,
        }
    }

    /// The DER of a SubjectPublicKeyInfo with these bits.
    pub(super) fn spki(self, bits: &[u8]) -> der::Result<Vec<u8>> {
        let identifier = self.identifier();
        let spki = SubjectPublicKeyInfoRef {
            algorithm: identifier_in(&identifier)?,
            subject_public_key: BitStringRef::from_bytes(bits)?,
        };
        spki.to_der()
    }

    /// For messages.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::P256 => "ECDSA-P256",
            Self::P384 => "ECDSA-P384",
            Self::Ed25519 => "Ed25519",
            Self::X25519 => "X25519",
            Self::Rsa => "RSA",
        }
    }
}

/// id-X25519 (RFC 8410, section 3).
const X25519: AlgorithmIdentifier = AlgorithmIdentifier::from_slice(&[6, 3, 0x2b, 0x65, 0x6e]);

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
            // All but those of RFC 8410 have parameters.
            let bare = AlgorithmIdentifierRef {
                parameters: None,
                ..identifier
            };
            let expected = match family {
                Family::Ed25519 | Family::X25519 => Ok(family),
                _ => Err(ClassicalKeyError::Parameters(identifier.oid)),
            };
            assert_eq!(Family::of(&bare), expected);
        }
    }
}
