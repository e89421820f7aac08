//! Key algorithms: names in the policy file, and the algorithms of keys that are asked for.

use core::fmt;
use core::str::FromStr;

use pq_x509::x509_cert::der::asn1::{AnyRef, UintRef};
use pq_x509::x509_cert::der::oid::ObjectIdentifier;
use pq_x509::x509_cert::der::{self, Decode};
use pq_x509::x509_cert::spki::{AlgorithmIdentifierRef, SubjectPublicKeyInfoRef};
use pq_x509::{Algorithm, CompositeIdentifier, KeyError, SubjectKey};

use crate::policy::file::read_from_strings;

/// An algorithm of keys in certificates.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
#[non_exhaustive]
pub enum KeyAlgorithm {
    /// ML-DSA, SLH-DSA or ML-KEM.
    PostQuantum(Algorithm),
    /// Composite ML-DSA, by its draft's names.
    Composite(CompositeIdentifier),
    /// ECDSA on P-256 (RFC 5480).
    EcdsaP256,
    /// ECDSA on P-384 (RFC 5480).
    EcdsaP384,
    /// Ed25519 (RFC 8410).
    Ed25519,
    /// RSA, with any padding (RFC 8017).
    Rsa,
}

impl KeyAlgorithm {
    /// The name in the policy file: the name in pq-x509, the draft's name for composites, or `ECDSA-P256`,
    /// `ECDSA-P384`, `Ed25519` or `RSA`.
    pub fn name(self) -> &'static str {
        match self {
            Self::PostQuantum(algorithm) => algorithm.name(),
            Self::Composite(composite) => composite.name(),
            Self::EcdsaP256 => "ECDSA-P256",
            Self::EcdsaP384 => "ECDSA-P384",
            Self::Ed25519 => "Ed25519",
            Self::Rsa => "RSA",
        }
    }

    /// The algorithm of a key, or `None` if it is not one of these.
    ///
    /// # Errors
    ///
    /// [`KeyError::Der`] if the key's SubjectPublicKeyInfo is malformed.
    pub fn of(key: &(impl SubjectKey + ?Sized)) -> Result<Option<Self>, KeyError> {
        Ok(AskedKey::read(key)?.algorithm())
    }

    /// Every algorithm.
    pub fn all() -> impl Iterator<Item = Self> {
        let classical = [Self::EcdsaP256, Self::EcdsaP384, Self::Ed25519, Self::Rsa];
        let post_quantum = Algorithm::ALL.iter().copied().map(Self::PostQuantum);
        let composite = CompositeIdentifier::ALL
            .iter()
            .copied()
            .map(Self::Composite);
        post_quantum.chain(composite).chain(classical)
    }
}

impl fmt::Display for KeyAlgorithm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for KeyAlgorithm {
    type Err = UnknownKeyAlgorithm;

    /// Reads a name as [`name`](Self::name) writes it. Case makes no difference.
    fn from_str(name: &str) -> Result<Self, Self::Err> {
        Self::all()
            .find(|algorithm| algorithm.name().eq_ignore_ascii_case(name))
            .ok_or_else(|| UnknownKeyAlgorithm(name.into()))
    }
}

read_from_strings!(KeyAlgorithm);

/// The text is not the name of a key algorithm that policies know.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error("{_0:?} is not a key algorithm; write {}", instead_of(_0))]
pub struct UnknownKeyAlgorithm(String);

/// The name that differs only in punctuation or case, or all names.
fn instead_of(name: &str) -> String {
    let letters = |name: &str| -> String {
        let letters = name.chars().filter(char::is_ascii_alphanumeric);
        letters.map(|c| c.to_ascii_lowercase()).collect()
    };
    let near = KeyAlgorithm::all().find(|algorithm| letters(algorithm.name()) == letters(name));
    match near {
        Some(algorithm) => format!("\"{algorithm}\""),
        None if letters(name).starts_with("rsa") => {
            "\"RSA\", and the minimum number of bits as rsa-min-bits".into()
        }
        None => {
            let names: Vec<_> = KeyAlgorithm::all().map(KeyAlgorithm::name).collect();
            format!("one of {}", names.join(", "))
        }
    }
}

/// The properties of a key that a policy checks.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum AskedKey {
    Of(KeyAlgorithm),
    Rsa {
        bits: usize,
    },
    /// A curve or an algorithm that no policy names.
    Unknown(ObjectIdentifier),
}

impl AskedKey {
    /// Reads the SubjectPublicKeyInfo of a key. The key itself is checked when the certificate is issued.
    ///
    /// # Errors
    ///
    /// [`KeyError::Der`] if the SubjectPublicKeyInfo is malformed.
    pub(crate) fn read(key: &(impl SubjectKey + ?Sized)) -> Result<Self, KeyError> {
        let der = key.spki();
        let spki = SubjectPublicKeyInfoRef::from_der(&der)?;
        let oid = spki.algorithm.oid;
        if let Some(algorithm) = Algorithm::from_oid(oid) {
            return Ok(Self::Of(KeyAlgorithm::PostQuantum(algorithm)));
        }
        if let Some(composite) = CompositeIdentifier::from_oid(oid) {
            return Ok(Self::Of(KeyAlgorithm::Composite(composite)));
        }
        Ok(match oid {
            EC_PUBLIC_KEY => Self::on_curve(&spki.algorithm),
            ED25519 => Self::Of(KeyAlgorithm::Ed25519),
            RSA | RSA_PSS => Self::Rsa {
                bits: rsa_bits(spki.subject_public_key.raw_bytes())?,
            },
            _ => Self::Unknown(oid),
        })
    }

    /// The algorithm, or `None` if policies have no name for it.
    pub(crate) fn algorithm(self) -> Option<KeyAlgorithm> {
        match self {
            Self::Of(algorithm) => Some(algorithm),
            Self::Rsa { .. } => Some(KeyAlgorithm::Rsa),
            Self::Unknown(_) => None,
        }
    }

    fn on_curve(algorithm: &AlgorithmIdentifierRef<'_>) -> Self {
        match algorithm.parameters_oid() {
            Ok(P256) => Self::Of(KeyAlgorithm::EcdsaP256),
            Ok(P384) => Self::Of(KeyAlgorithm::EcdsaP384),
            Ok(curve) => Self::Unknown(curve),
            Err(_) => Self::Unknown(algorithm.oid),
        }
    }
}

/// The length of the modulus of an RSAPublicKey (RFC 8017, appendix A.1.1).
fn rsa_bits(key: &[u8]) -> der::Result<usize> {
    AnyRef::from_der(key)?.sequence(|reader| {
        let modulus = UintRef::decode(reader)?;
        UintRef::decode(reader)?;
        let bytes = modulus.as_bytes();
        let leading_zeros = bytes.first().map_or(0, |first| first.leading_zeros());
        Ok((bytes.len() * 8).saturating_sub(leading_zeros as usize))
    })
}

// RFC 5480, RFC 8410, RFC 8017.
const EC_PUBLIC_KEY: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.10045.2.1");
const P256: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.10045.3.1.7");
const P384: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.3.132.0.34");
const ED25519: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.3.101.112");
const RSA: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.113549.1.1.1");
const RSA_PSS: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.113549.1.1.10");

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_in_either_case() {
        for algorithm in KeyAlgorithm::all() {
            let name = algorithm.name();
            for written in [name.into(), name.to_lowercase(), name.to_uppercase()] {
                assert_eq!(written.parse(), Ok(algorithm));
            }
        }
    }

    #[test]
    fn what_is_nearly_a_name_is_told_which() {
        let error = |name: &str| name.parse::<KeyAlgorithm>().unwrap_err().to_string();
        for (name, near) in [
            ("MLDSA65", "ML-DSA-65"),
            ("ml_kem_768", "ML-KEM-768"),
            ("slh-dsa-sha2_128s", "SLH-DSA-SHA2-128s"),
            ("ECDSA P-256", "ECDSA-P256"),
            ("ed-25519", "Ed25519"),
            ("mldsa65_ed25519_sha512", "MLDSA65-Ed25519-SHA512"),
        ] {
            let expected = format!("{name:?} is not a key algorithm; write \"{near}\"");
            assert_eq!(error(name), expected);
        }
        assert_eq!(
            error("RSA-3072"),
            "\"RSA-3072\" is not a key algorithm; write \"RSA\", and the minimum number of bits as \
             rsa-min-bits"
        );
        let unknown = error("DSA");
        assert!(
            unknown.starts_with("\"DSA\" is not a key algorithm; write one of ML-DSA-44, ")
                && unknown.ends_with(", ECDSA-P256, ECDSA-P384, Ed25519, RSA"),
            "{unknown}"
        );
    }
}
