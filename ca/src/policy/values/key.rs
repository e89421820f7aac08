//! Key algorithms: names in the policy file, and the algorithms of keys that are asked for.

use core::fmt;
use core::str::FromStr;

use pq_keys::der::Decode;
use pq_keys::identifiers::CompositeIdentifier;
use pq_keys::spki::SubjectPublicKeyInfoRef;
use pq_keys::{Algorithm, KeyError, SubjectKey};

use crate::policy::file::read_from_strings;

/// An algorithm of keys in certificates.
///
/// It is what a policy can permit; [`pq_x509::keys::KeyAlgorithm`] is the algorithm of any key, also of those that no policy
/// can.
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
        Ok(Self::among(asked_key(key)?))
    }

    /// The one of all algorithms of keys, or `None` if policies have no name for it.
    pub(crate) fn among(algorithm: pq_keys::KeyAlgorithm) -> Option<Self> {
        use pq_keys::KeyAlgorithm as Any;

        Some(match algorithm {
            Any::PostQuantum(algorithm) => Self::PostQuantum(algorithm),
            Any::Composite(composite) => Self::Composite(composite),
            Any::EcdsaP256 => Self::EcdsaP256,
            Any::EcdsaP384 => Self::EcdsaP384,
            Any::Ed25519 => Self::Ed25519,
            Any::Rsa { .. } => Self::Rsa,
            _ => return None,
        })
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

/// The algorithm of a key that is asked for. The key itself is checked when the certificate is issued.
///
/// # Errors
///
/// [`KeyError::Der`] if the SubjectPublicKeyInfo is malformed.
pub(crate) fn asked_key(
    key: &(impl SubjectKey + ?Sized),
) -> Result<pq_keys::KeyAlgorithm, KeyError> {
    let der = key.spki();
    let spki = SubjectPublicKeyInfoRef::from_der(&der)?;
    Ok(pq_keys::KeyAlgorithm::of(&spki)?)
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
