//! What modules of PKCS#11 answer, read as keys and signatures: in the forms that PKCS#11 gives them, which are not those of
//! certificates. Nothing of it is believed, whatever bytes it is.

use pq_keys::any::{AnyAlgorithm, AnyPublicKey};
use pq_keys::classical::{ClassicalAlgorithm, ClassicalPublicKey};
use pq_keys::der::Encode;
use pq_keys::der::asn1::UintRef;
use pq_keys::{Algorithm, PublicKey};
use zeroize::Zeroizing;

/// The most bytes of any attribute that is read.
pub const MAX_ATTRIBUTE_LEN: usize = 16 * 1024;

/// The attributes of a public key. Which of them are needed depends on the algorithm.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct PublicAttributes {
    /// `CKA_VALUE`: the raw key of ML-DSA, SLH-DSA or ML-KEM.
    pub value: Option<Vec<u8>>,
    /// `CKA_EC_POINT`: the point as an OCTET STRING, or alone, as some modules have it.
    pub point: Option<Vec<u8>>,
    /// `CKA_MODULUS`: the modulus of RSA, big-endian.
    pub modulus: Option<Vec<u8>>,
    /// `CKA_PUBLIC_EXPONENT`: the exponent of RSA, big-endian.
    pub exponent: Option<Vec<u8>>,
}

/// An answer that no module may give.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum InvalidAnswer {
    /// An attribute is missing.
    #[error("its key has no {0}")]
    Missing(&'static str),
    /// An attribute or a signature has a wrong length.
    #[error("its {what} has {len} bytes")]
    Length {
        /// What.
        what: &'static str,
        /// Its length.
        len: usize,
    },
    /// The public key is none of its algorithm.
    #[error("its public key is none of {algorithm}: {reason}")]
    PublicKey {
        /// The algorithm.
        algorithm: AnyAlgorithm,
        /// Why.
        reason: String,
    },
    /// An attribute isn't what it was asked to be.
    #[error("its key is not as it was asked for: {0}")]
    Attribute(&'static str),
    /// The signature isn't valid under the version's public key.
    #[error("its signature is not valid under the key")]
    Signature,
    /// There is another number of such keys than one.
    #[error("it has {0} keys of one identifier")]
    Several(usize),
    /// It is none of the values that are known.
    #[error("{0}")]
    Value(String),
}

/// The public key with these attributes.
///
/// # Errors
///
/// An [`InvalidAnswer`] if they are none of a valid key of this algorithm.
pub fn public_key(
    algorithm: AnyAlgorithm,
    attributes: &PublicAttributes,
) -> Result<AnyPublicKey, InvalidAnswer> {
    let wrong = |reason: String| InvalidAnswer::PublicKey { algorithm, reason };
    match algorithm {
        AnyAlgorithm::PostQuantum(post_quantum) => {
            let value = needed(&attributes.value, "CKA_VALUE")?;
            PublicKey::from_bytes(post_quantum, value)
                .map(AnyPublicKey::PostQuantum)
                .map_err(|error| wrong(error.to_string()))
        }
        AnyAlgorithm::Classical(classical) => {
            let raw = match classical {
                ClassicalAlgorithm::EcdsaP256 => point(attributes, 65)?.to_vec(),
                ClassicalAlgorithm::EcdsaP384 => point(attributes, 97)?.to_vec(),
                ClassicalAlgorithm::Ed25519 => point(attributes, 32)?.to_vec(),
                _ => two_numbers(
                    needed(&attributes.modulus, "CKA_MODULUS")?,
                    needed(&attributes.exponent, "CKA_PUBLIC_EXPONENT")?,
                )?,
            };
            ClassicalPublicKey::from_bytes(classical, &raw)
                .map(AnyPublicKey::Classical)
                .map_err(|error| wrong(error.to_string()))
        }
        _ => Err(wrong("PKCS#11 has no such keys".into())),
    }
}

/// A signature by a key of this algorithm, as in certificates.
///
/// # Errors
///
/// [`InvalidAnswer::Length`]. Whether it is valid, the public key says.
pub fn signature(algorithm: AnyAlgorithm, answer: Vec<u8>) -> Result<Vec<u8>, InvalidAnswer> {
    let length = |len: usize| match answer.len() == len {
        true => Ok(()),
        false => Err(InvalidAnswer::Length {
            what: "signature",
            len: answer.len(),
        }),
    };
    match algorithm {
        AnyAlgorithm::PostQuantum(Algorithm::Signature(set)) => length(set.signature_len())?,
        AnyAlgorithm::Classical(ClassicalAlgorithm::EcdsaP256) => {
            length(64)?;
            return two_numbers(&answer[..32], &answer[32..]);
        }
        AnyAlgorithm::Classical(ClassicalAlgorithm::EcdsaP384) => {
            length(96)?;
            return two_numbers(&answer[..48], &answer[48..]);
        }
        AnyAlgorithm::Classical(classical) => length(classical.max_signature_len())?,
        _ => {
            let reason = format!("it signed by a key of {algorithm}");
            return Err(InvalidAnswer::Value(reason));
        }
    }
    Ok(answer)
}

/// A shared secret of ML-KEM.
///
/// # Errors
///
/// [`InvalidAnswer::Length`].
pub fn secret(answer: &[u8]) -> Result<Zeroizing<[u8; 32]>, InvalidAnswer> {
    let mut secret = Zeroizing::new([0; 32]);
    if answer.len() != secret.len() {
        return Err(InvalidAnswer::Length {
            what: "shared secret",
            len: answer.len(),
        });
    }
    secret.copy_from_slice(answer);
    Ok(secret)
}

fn needed<'a>(
    attribute: &'a Option<Vec<u8>>,
    name: &'static str,
) -> Result<&'a [u8], InvalidAnswer> {
    let value = attribute.as_deref().ok_or(InvalidAnswer::Missing(name))?;
    match value.len() {
        0 | MAX_ATTRIBUTE_LEN.. => Err(InvalidAnswer::Length {
            what: name,
            len: value.len(),
        }),
        _ => Ok(value),
    }
}

/// A point of this length, which an OCTET STRING may be around. Its length tells the two apart.
fn point(attributes: &PublicAttributes, len: usize) -> Result<&[u8], InvalidAnswer> {
    const NAME: &str = "CKA_EC_POINT";
    let value = needed(&attributes.point, NAME)?;
    match value {
        [0x04, inner_len, inner @ ..] if inner.len() == len && usize::from(*inner_len) == len => {
            Ok(inner)
        }
        _ if value.len() == len => Ok(value),
        _ => Err(InvalidAnswer::Length {
            what: NAME,
            len: value.len(),
        }),
    }
}

/// The DER of a sequence of two numbers that aren't negative: RSAPublicKey (RFC 8017, appendix A.1.1), and Ecdsa-Sig-Value
/// (RFC 3279, section 2.2.3).
fn two_numbers(first: &[u8], second: &[u8]) -> Result<Vec<u8>, InvalidAnswer> {
    let encode = || vec![UintRef::new(first)?, UintRef::new(second)?].to_der();
    encode().map_err(|error| InvalidAnswer::Value(error.to_string()))
}
