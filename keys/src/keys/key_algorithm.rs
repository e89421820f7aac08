//! The one list of the algorithms that a public key may be of, whether this crate has such keys or not. Lists for one use,
//! such as those of a policy or of TLS, are made of it.

use core::fmt;

use const_oid::ObjectIdentifier;
use const_oid::db::rfc5912::{
    ID_EC_PUBLIC_KEY, ID_RSASSA_PSS, RSA_ENCRYPTION, SECP_256_R_1, SECP_384_R_1, SECP_521_R_1,
};
use const_oid::db::rfc8410::{ID_ED_448, ID_ED_25519, ID_X_25519};
use spki::{AlgorithmIdentifierRef, SubjectPublicKeyInfoRef};

use super::algorithm::{Algorithm, SignatureAlgorithm};
use super::composite::CompositeIdentifier;
use super::identifier::pre_hash;
use crate::encoding::rsa_bits;

/// What algorithm the public key in a certificate or a request is of.
///
/// `rustls_pq::KeyAlgorithm` is what reports on connections and identities have, and `pq_ca::policy::KeyAlgorithm` is what a
/// policy can permit.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
#[non_exhaustive]
pub enum KeyAlgorithm {
    /// ML-DSA, SLH-DSA or ML-KEM.
    PostQuantum(Algorithm),
    /// HashSLH-DSA with this SLH-DSA parameter set (RFC 9909).
    HashSlhDsa(SignatureAlgorithm),
    /// Composite ML-DSA.
    Composite(CompositeIdentifier),
    /// ECDSA or ECDH on P-256 (RFC 5480).
    EcdsaP256,
    /// ECDSA or ECDH on P-384 (RFC 5480).
    EcdsaP384,
    /// ECDSA or ECDH on P-521 (RFC 5480).
    EcdsaP521,
    /// Ed25519 (RFC 8410).
    Ed25519,
    /// Ed448 (RFC 8410).
    Ed448,
    /// RSA, with any padding (RFC 8017).
    Rsa {
        /// The length of the modulus, in bits.
        bits: usize,
    },
    /// X-Wing, ML-KEM-768 and X25519 at once (draft-connolly-cfrg-xwing-kem). No standard has it in certificates.
    XWing,
    /// X25519 (RFC 8410), which agrees on secrets.
    X25519,
    /// An algorithm without a name here; for an elliptic curve, the curve.
    Other(ObjectIdentifier),
}

impl KeyAlgorithm {
    pub(crate) const X_WING: ObjectIdentifier =
        ObjectIdentifier::new_unwrap("1.3.6.1.4.1.62253.25722");
    pub(crate) const X_WING_NAME: &str = "X-Wing";

    /// The algorithm of a public key. The key itself is not checked, and parameters only where they are the curve.
    ///
    /// # Errors
    ///
    /// If an RSA key is malformed.
    pub fn of(spki: &SubjectPublicKeyInfoRef<'_>) -> der::Result<Self> {
        Ok(match spki.algorithm.oid {
            RSA_ENCRYPTION | ID_RSASSA_PSS => Self::Rsa {
                bits: rsa_bits(spki.subject_public_key.raw_bytes())?,
            },
            _ => Self::of_identifier(&spki.algorithm),
        })
    }

    /// The algorithm that an AlgorithmIdentifier names; RSA is [`Other`](Self::Other), as it does not tell the length.
    pub fn of_identifier(identifier: &AlgorithmIdentifierRef<'_>) -> Self {
        let oid = identifier.oid;
        if let Some(algorithm) = Algorithm::from_oid(oid) {
            return Self::PostQuantum(algorithm);
        }
        if let Some((set, _)) = pre_hash(oid) {
            return Self::HashSlhDsa(set);
        }
        if let Some(composite) = CompositeIdentifier::from_oid(oid) {
            return Self::Composite(composite);
        }
        match oid {
            ID_EC_PUBLIC_KEY => match identifier.parameters_oid() {
                Ok(SECP_256_R_1) => Self::EcdsaP256,
                Ok(SECP_384_R_1) => Self::EcdsaP384,
                Ok(SECP_521_R_1) => Self::EcdsaP521,
                Ok(curve) => Self::Other(curve),
                Err(_) => Self::Other(oid),
            },
            ID_ED_25519 => Self::Ed25519,
            ID_ED_448 => Self::Ed448,
            ID_X_25519 => Self::X25519,
            Self::X_WING => Self::XWing,
            _ => Self::Other(oid),
        }
    }

    /// The object identifier that tells such keys from others: of the algorithm, or of the curve.
    pub fn oid(self) -> ObjectIdentifier {
        match self {
            Self::PostQuantum(algorithm) => algorithm.oid(),
            Self::HashSlhDsa(set) => match &set.row().pre_hash {
                Some(row) => row.oid,
                None => set.oid(),
            },
            Self::Composite(composite) => composite.oid(),
            Self::EcdsaP256 => SECP_256_R_1,
            Self::EcdsaP384 => SECP_384_R_1,
            Self::EcdsaP521 => SECP_521_R_1,
            Self::Ed25519 => ID_ED_25519,
            Self::Ed448 => ID_ED_448,
            Self::Rsa { .. } => RSA_ENCRYPTION,
            Self::XWing => Self::X_WING,
            Self::X25519 => ID_X_25519,
            Self::Other(oid) => oid,
        }
    }

    /// Whether such keys withstand a quantum computer, as half of a composite or hybrid one does.
    pub fn is_post_quantum(self) -> bool {
        matches!(
            self,
            Self::PostQuantum(_) | Self::HashSlhDsa(_) | Self::Composite(_) | Self::XWing
        )
    }

    /// The length of the longest signature of such a key, in bytes; `None` if it makes none, or if that is not known
    /// here.
    pub fn max_signature_len(self) -> Option<usize> {
        Some(match self {
            Self::PostQuantum(Algorithm::Signature(algorithm)) | Self::HashSlhDsa(algorithm) => {
                algorithm.signature_len()
            }
            Self::PostQuantum(Algorithm::Kem(_))
            | Self::Composite(_)
            | Self::XWing
            | Self::X25519
            | Self::Other(_) => return None,
            Self::EcdsaP256 => 72,
            Self::EcdsaP384 => 104,
            Self::EcdsaP521 => 139,
            Self::Ed25519 => 64,
            Self::Ed448 => 114,
            Self::Rsa { bits } => bits.div_ceil(8),
        })
    }
}

impl fmt::Display for KeyAlgorithm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::PostQuantum(algorithm) => algorithm.fmt(f),
            Self::HashSlhDsa(set) => write!(f, "Hash{set}"),
            Self::Composite(composite) => composite.fmt(f),
            Self::EcdsaP256 => f.write_str("ECDSA-P256"),
            Self::EcdsaP384 => f.write_str("ECDSA-P384"),
            Self::EcdsaP521 => f.write_str("ECDSA-P521"),
            Self::Ed25519 => f.write_str("Ed25519"),
            Self::Ed448 => f.write_str("Ed448"),
            Self::Rsa { bits } => write!(f, "RSA-{bits}"),
            Self::XWing => f.write_str(Self::X_WING_NAME),
            Self::X25519 => f.write_str("X25519"),
            Self::Other(oid) => oid.fmt(f),
        }
    }
}

macro_rules! from_post_quantum {
    ($($algorithm:ty),+) => {$(
        impl From<$algorithm> for KeyAlgorithm {
            fn from(algorithm: $algorithm) -> Self {
                Self::PostQuantum(algorithm.into())
            }
        }
    )+};
}
from_post_quantum!(
    Algorithm,
    SignatureAlgorithm,
    super::algorithm::KemAlgorithm
);

#[cfg(test)]
mod tests {
    use der::asn1::{AnyRef, BitStringRef};

    use super::*;

    #[test]
    fn the_identifier_of_each_algorithm_is_read_as_it() {
        let post_quantum = Algorithm::ALL.iter().copied().map(KeyAlgorithm::from);
        let composite = CompositeIdentifier::ALL.iter().copied();
        let hashed = SignatureAlgorithm::SLH_DSA.iter().copied();
        let others = [KeyAlgorithm::Ed25519, KeyAlgorithm::Ed448];
        let named = composite.map(KeyAlgorithm::Composite).chain(others);
        let hashed = hashed.map(KeyAlgorithm::HashSlhDsa);
        for algorithm in post_quantum.chain(named).chain(hashed) {
            let identifier = AlgorithmIdentifierRef {
                oid: algorithm.oid(),
                parameters: None,
            };
            assert_eq!(KeyAlgorithm::of_identifier(&identifier), algorithm);
        }
    }

    #[test]
    fn a_curve_is_what_the_parameters_say() {
        let of = |curve: Option<ObjectIdentifier>| {
            let curve = curve.as_ref();
            KeyAlgorithm::of_identifier(&AlgorithmIdentifierRef {
                oid: ID_EC_PUBLIC_KEY,
                parameters: curve.map(AnyRef::from),
            })
        };
        for algorithm in [
            KeyAlgorithm::EcdsaP256,
            KeyAlgorithm::EcdsaP384,
            KeyAlgorithm::EcdsaP521,
            // secp256k1
            KeyAlgorithm::Other(ObjectIdentifier::new_unwrap("1.3.132.0.10")),
        ] {
            assert_eq!(of(Some(algorithm.oid())), algorithm);
        }
        assert_eq!(of(None), KeyAlgorithm::Other(ID_EC_PUBLIC_KEY));
    }

    #[test]
    fn rsa_has_the_length_of_its_modulus() {
        // 9 bits, and the exponent 3
        let key = [0x30, 7, 2, 2, 1, 1, 2, 1, 3];
        let of = |oid, key: &[u8]| {
            KeyAlgorithm::of(&SubjectPublicKeyInfoRef {
                algorithm: AlgorithmIdentifierRef {
                    oid,
                    parameters: None,
                },
                subject_public_key: BitStringRef::from_bytes(key).unwrap(),
            })
        };
        for oid in [RSA_ENCRYPTION, ID_RSASSA_PSS] {
            assert_eq!(of(oid, &key), Ok(KeyAlgorithm::Rsa { bits: 9 }));
            of(oid, &key[..5]).unwrap_err();
        }
    }
}
