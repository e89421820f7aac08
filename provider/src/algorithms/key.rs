//! Recognizes the algorithm of a key in a certificate or a trust anchor, and says what follows from it: the scheme in
//! TLS 1.3, the curve, the strength, and the length of its longest signature.

use core::fmt;

use pq_keys::{Algorithm, SignatureAlgorithm};
use pq_x509::x509_cert::der::asn1::BitStringRef;
use pq_x509::x509_cert::der::{self, Decode, SliceReader};
use pq_x509::x509_cert::spki::{AlgorithmIdentifierRef, ObjectIdentifier, SubjectPublicKeyInfoRef};
use rustls::SignatureScheme;
use rustls::pki_types::TrustAnchor;

use super::{Group, Strength, oid, scheme_of};

/// The algorithm of the key in a certificate.
///
/// It is for reports on connections and identities; [`pq_x509::keys::KeyAlgorithm`] is for keys as such.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
#[non_exhaustive]
pub enum KeyAlgorithm {
    /// A post-quantum one.
    PostQuantum(SignatureAlgorithm),
    /// HashSLH-DSA with this SLH-DSA parameter set (RFC 9909), which is post-quantum as well. CAs may
    /// have such keys; TLS has no scheme for them.
    HashSlhDsa(SignatureAlgorithm),
    /// ECDSA on P-256.
    EcdsaP256,
    /// ECDSA on P-384.
    EcdsaP384,
    /// ECDSA on P-521.
    EcdsaP521,
    /// Ed25519 (RFC 8032).
    Ed25519,
    /// Ed448 (RFC 8032).
    Ed448,
    /// RSA, with any padding.
    Rsa {
        /// The length of the modulus, in bits.
        bits: usize,
    },
    /// Something else.
    Other(ObjectIdentifier),
}

impl KeyAlgorithm {
    /// Whether signatures by such a key withstand a quantum computer.
    pub fn is_post_quantum(self) -> bool {
        matches!(self, Self::PostQuantum(_) | Self::HashSlhDsa(_))
    }

    /// The scheme that such a key signs a TLS 1.3 handshake with, if there is just one: RSA keys can
    /// use several.
    pub(crate) fn only_scheme(self) -> Option<SignatureScheme> {
        match self {
            Self::PostQuantum(algorithm) => scheme_of(algorithm),
            Self::EcdsaP256 => Some(SignatureScheme::ECDSA_NISTP256_SHA256),
            Self::EcdsaP384 => Some(SignatureScheme::ECDSA_NISTP384_SHA384),
            Self::EcdsaP521 => Some(SignatureScheme::ECDSA_NISTP521_SHA512),
            Self::Ed25519 => Some(SignatureScheme::ED25519),
            Self::Ed448 => Some(SignatureScheme::ED448),
            Self::HashSlhDsa(_) | Self::Rsa { .. } | Self::Other(_) => None,
        }
    }

    /// The curve of an ECDSA key, as clients list it. In TLS 1.2, only those who list it can verify with such a key
    /// (RFC 8422, section 5.3); in TLS 1.3 the scheme says all.
    pub(crate) fn curve(self) -> Option<Group> {
        match self {
            Self::EcdsaP256 => Some(Group::SECP256R1),
            Self::EcdsaP384 => Some(Group::SECP384R1),
            Self::EcdsaP521 => Some(Group::SECP521R1),
            Self::PostQuantum(_)
            | Self::HashSlhDsa(_)
            | Self::Ed25519
            | Self::Ed448
            | Self::Rsa { .. }
            | Self::Other(_) => None,
        }
    }

    /// The length of the longest signature of such a key, in bytes.
    pub(crate) fn max_signature_len(self) -> usize {
        let len = pq_keys::KeyAlgorithm::from(self).max_signature_len();
        len.unwrap_or_default()
    }

    pub(crate) fn strength(self) -> Strength {
        match self {
            Self::PostQuantum(algorithm) | Self::HashSlhDsa(algorithm) => Strength::of(algorithm),
            Self::EcdsaP256 | Self::Ed25519 => Strength::Classical(128),
            Self::EcdsaP384 => Strength::Classical(192),
            Self::Ed448 => Strength::Classical(224),
            Self::EcdsaP521 => Strength::Classical(256),
            // SP 800-57 part 1, table 2.
            Self::Rsa { bits } => Strength::Classical(match bits {
                15_360.. => 256,
                7680.. => 192,
                3072.. => 128,
                2048.. => 112,
                _ => 80,
            }),
            Self::Other(_) => Strength::NONE,
        }
    }

    /// The algorithm of a trust anchor's key.
    pub(crate) fn of_trust_anchor(anchor: &TrustAnchor<'_>) -> der::Result<Self> {
        // It is a SubjectPublicKeyInfo without the header of its SEQUENCE.
        let mut fields = SliceReader::new(&anchor.subject_public_key_info)?;
        Ok(Self::of(&SubjectPublicKeyInfoRef {
            algorithm: AlgorithmIdentifierRef::decode(&mut fields)?,
            subject_public_key: BitStringRef::decode(&mut fields)?,
        }))
    }

    /// The algorithm of a public key, from the DER of its SubjectPublicKeyInfo.
    ///
    /// The key itself is not checked.
    ///
    /// # Errors
    ///
    /// If the DER is malformed.
    pub fn of_spki_der(der: &[u8]) -> der::Result<Self> {
        Ok(Self::of(&SubjectPublicKeyInfoRef::from_der(der)?))
    }

    pub(super) fn of(spki: &SubjectPublicKeyInfoRef<'_>) -> Self {
        match pq_keys::KeyAlgorithm::of(spki) {
            Ok(algorithm) => algorithm.into(),
            // an RSA key that is malformed
            Err(_) => Self::Other(spki.algorithm.oid),
        }
    }
}

/// Those for signatures in TLS; all others are [`Other`](KeyAlgorithm::Other).
impl From<pq_keys::KeyAlgorithm> for KeyAlgorithm {
    fn from(algorithm: pq_keys::KeyAlgorithm) -> Self {
        use pq_keys::KeyAlgorithm as Any;

        match algorithm {
            Any::PostQuantum(Algorithm::Signature(algorithm)) => Self::PostQuantum(algorithm),
            Any::HashSlhDsa(set) => Self::HashSlhDsa(set),
            Any::EcdsaP256 => Self::EcdsaP256,
            Any::EcdsaP384 => Self::EcdsaP384,
            Any::EcdsaP521 => Self::EcdsaP521,
            Any::Ed25519 => Self::Ed25519,
            Any::Ed448 => Self::Ed448,
            Any::Rsa { bits } => Self::Rsa { bits },
            other => Self::Other(other.oid()),
        }
    }
}

impl From<KeyAlgorithm> for pq_keys::KeyAlgorithm {
    fn from(algorithm: KeyAlgorithm) -> Self {
        match algorithm {
            KeyAlgorithm::PostQuantum(algorithm) => algorithm.into(),
            KeyAlgorithm::HashSlhDsa(set) => Self::HashSlhDsa(set),
            KeyAlgorithm::EcdsaP256 => Self::EcdsaP256,
            KeyAlgorithm::EcdsaP384 => Self::EcdsaP384,
            KeyAlgorithm::EcdsaP521 => Self::EcdsaP521,
            KeyAlgorithm::Ed25519 => Self::Ed25519,
            KeyAlgorithm::Ed448 => Self::Ed448,
            KeyAlgorithm::Rsa { bits } => Self::Rsa { bits },
            // It has a name if TLS only lacks a signature scheme for it.
            KeyAlgorithm::Other(oid) => Self::of_identifier(&AlgorithmIdentifierRef {
                oid,
                parameters: None,
            }),
        }
    }
}

impl fmt::Display for KeyAlgorithm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::PostQuantum(algorithm) => algorithm.fmt(f),
            Self::HashSlhDsa(algorithm) => write!(f, "Hash{algorithm}"),
            Self::EcdsaP256 => f.write_str("ECDSA P-256"),
            Self::EcdsaP384 => f.write_str("ECDSA P-384"),
            Self::EcdsaP521 => f.write_str("ECDSA P-521"),
            Self::Ed25519 => f.write_str("Ed25519"),
            Self::Ed448 => f.write_str("Ed448"),
            Self::Rsa { bits } => write!(f, "RSA-{bits}"),
            Self::Other(oid) => oid::fmt_unnamed(*oid, f),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_feature_for_slh_dsa_is_named_if_it_is_missing() {
        let named = |oid| KeyAlgorithm::Other(oid).to_string();
        for (arc, is_slh_dsa) in [
            (19, false),
            (20, true),
            (31, true),
            (34, false),
            (46, true),
            (47, false),
        ] {
            let oid = format!("2.16.840.1.101.3.4.3.{arc}");
            let name = named(ObjectIdentifier::new(&oid).unwrap());
            let says = name.contains("without rustls-pq's feature slh-dsa");
            assert_eq!(says, is_slh_dsa && !cfg!(feature = "slh-dsa"), "{name}");
            assert!(name.contains(&oid));
        }
    }
}
