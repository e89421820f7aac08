//! Public keys of several algorithms, read and written as JSON Web Keys.

use core::fmt;

use pq_keys::classical::{ClassicalAlgorithm, ClassicalKeyError, ClassicalPublicKey};
use pq_keys::der::asn1::{AnyRef, UintRef};
use pq_keys::der::{self, Decode, Encode};
use pq_keys::identifiers::{check_classical, read_spki};
use pq_keys::pki_types::SubjectPublicKeyInfoDer;
use pq_keys::{SubjectKey, VerifyingKey};
use serde::Deserialize;
use serde::de::IgnoredAny;

use super::algorithm::AnyJwsAlgorithm;
use super::ecdsa;
use super::error::AnyJwsError;
use crate::akp::{Algorithm, PublicKey, Thumbprint};
use crate::encoding::json::{self, Object, Plain, present};
use crate::encoding::{base64url, shown};

/// A public key that verifies signatures of one algorithm.
#[derive(Clone)]
pub struct AnyJwk {
    algorithm: AnyJwsAlgorithm,
    key: Key,
}

#[derive(Clone)]
enum Key {
    MlDsa(VerifyingKey),
    Classical(ClassicalPublicKey),
}

impl AnyJwk {
    /// The public key of something with a key, such as a private key.
    ///
    /// # Errors
    ///
    /// If its algorithm is none of [`AnyJwsAlgorithm`], or the key is weak.
    pub fn of(key: &(impl SubjectKey + ?Sized)) -> Result<Self, AnyJwsError> {
        Self::from_spki_der(&key.spki())
    }

    /// Reads the DER of a SubjectPublicKeyInfo.
    ///
    /// # Errors
    ///
    /// If its algorithm is none of [`AnyJwsAlgorithm`], or the key is malformed or weak.
    pub fn from_spki_der(der: &[u8]) -> Result<Self, AnyJwsError> {
        match ClassicalPublicKey::from_spki_der(der) {
            Ok(key) => Self::of_classical(key),
            Err(ClassicalKeyError::UnsupportedAlgorithm(_)) => Ok(Self::of_akp(&PublicKey::new(
                VerifyingKey::from_spki_der(der)?,
            )?)),
            Err(error) => Err(error.into()),
        }
    }

    /// Reads a public key of at most 16 KiB. A private key is refused. Other members than those of the key are ignored.
    ///
    /// # Errors
    ///
    /// [`AnyJwsError::Algorithm`] if it is of no known type, and others that say what is wrong with it.
    pub fn from_json(text: &[u8]) -> Result<Self, AnyJwsError> {
        let Object(members) = json::read(text, LIMIT).map_err(AnyJwsError::key)?;
        Self::from_members(&members)
    }

    fn from_members(members: &Members<'_>) -> Result<Self, AnyJwsError> {
        if members.private.is_some() || members.d.is_some() {
            let member = if members.d.is_some() { "d" } else { "priv" };
            let problem =
                "is the private part of the key, which nobody else may see: replace the key";
            return Err(AnyJwsError::Member { member, problem });
        }
        let kind = (members.kty.as_str(), members.crv.as_deref());
        let read = match kind {
            ("AKP", _) => {
                let name = members.alg.as_deref().ok_or_else(|| missing("alg"))?;
                let algorithm =
                    Algorithm::of_name(name).ok_or_else(|| AnyJwsError::Algorithm(quoted(name)))?;
                let bytes = decode("pub", members.public)?;
                Self::of_akp(&PublicKey::from_bytes(algorithm, &bytes)?)
            }
            ("EC", Some("P-256")) => members.point(ClassicalAlgorithm::EcdsaP256, 32)?,
            ("EC", Some("P-384")) => members.point(ClassicalAlgorithm::EcdsaP384, 48)?,
            ("OKP", Some("Ed25519")) => {
                let x = decode("x", members.x)?;
                let algorithm = ClassicalAlgorithm::Ed25519;
                Self::of_classical(ClassicalPublicKey::from_bytes(algorithm, &x)?)?
            }
            ("RSA", _) => members.rsa()?,
            ("EC" | "OKP", None) => return Err(missing("crv")),
            ("EC" | "OKP", Some(curve)) => return Err(AnyJwsError::Algorithm(quoted(curve))),
            (other, _) => return Err(AnyJwsError::Algorithm(quoted(other))),
        };
        let named = members.alg.as_deref().map(AnyJwsAlgorithm::of_name);
        match named.is_none_or(|named| named == Some(read.algorithm)) {
            true => Ok(read),
            false => {
                let problem = "of the JSON Web Key names another algorithm than that of its key";
                Err(AnyJwsError::Member {
                    member: "alg",
                    problem,
                })
            }
        }
    }

    fn of_akp(key: &PublicKey) -> Self {
        Self {
            algorithm: key.algorithm().into(),
            key: Key::MlDsa(key.key().clone()),
        }
    }

    fn of_classical(key: ClassicalPublicKey) -> Result<Self, AnyJwsError> {
        // Under a weak key, everybody can sign.
        check_classical(&read_spki(key.to_spki_der())?)?;
        let algorithm = match key.algorithm() {
            ClassicalAlgorithm::EcdsaP256 => AnyJwsAlgorithm::Es256,
            ClassicalAlgorithm::EcdsaP384 => AnyJwsAlgorithm::Es384,
            ClassicalAlgorithm::Ed25519 => AnyJwsAlgorithm::EdDsa,
            ClassicalAlgorithm::Rsa2048
            | ClassicalAlgorithm::Rsa3072
            | ClassicalAlgorithm::Rsa4096 => AnyJwsAlgorithm::Rs256,
            other => return Err(AnyJwsError::Algorithm(other.to_string())),
        };
        Ok(Self {
            algorithm,
            key: Key::Classical(key),
        })
    }

    /// The key as one line of JSON: the members of its thumbprint (RFC 7638, section 3.2), in their order.
    pub fn to_json(&self) -> String {
        let key = match &self.key {
            Key::MlDsa(key) => {
                let public = base64url::encode(key.as_bytes());
                let name = self.algorithm;
                return format!(r#"{{"alg":"{name}","kty":"AKP","pub":"{public}"}}"#);
            }
            Key::Classical(key) => key.as_bytes(),
        };
        let point = |curve: &str| {
            // after the octet that says it is not compressed
            let coordinates = key.get(1..).unwrap_or_default();
            let (x, y) = coordinates.split_at(coordinates.len() / 2);
            let [x, y] = [x, y].map(base64url::encode);
            format!(r#"{{"crv":"{curve}","kty":"EC","x":"{x}","y":"{y}"}}"#)
        };
        match self.algorithm {
            AnyJwsAlgorithm::Es256 => point("P-256"),
            AnyJwsAlgorithm::Es384 => point("P-384"),
            AnyJwsAlgorithm::Rs256 => {
                let numbers = rsa_numbers(key).unwrap_or_default();
                let [n, e] = numbers.map(base64url::encode);
                format!(r#"{{"e":"{e}","kty":"RSA","n":"{n}"}}"#)
            }
            _ => {
                let x = base64url::encode(key);
                format!(r#"{{"crv":"Ed25519","kty":"OKP","x":"{x}"}}"#)
            }
        }
    }

    /// The SHA-256 of the members that make the key (RFC 7638).
    pub fn thumbprint(&self) -> Thumbprint {
        Thumbprint::of(self.to_json().as_bytes())
    }

    /// The algorithm of its signatures.
    pub fn algorithm(&self) -> AnyJwsAlgorithm {
        self.algorithm
    }

    /// The DER of the SubjectPublicKeyInfo.
    pub fn to_spki_der(&self) -> &[u8] {
        match &self.key {
            Key::MlDsa(key) => key.to_spki_der(),
            Key::Classical(key) => key.to_spki_der(),
        }
    }

    /// Verifies a signature in the form of JOSE.
    ///
    /// # Errors
    ///
    /// [`AnyJwsError::Invalid`] if it is not a signature of this message by this key.
    pub fn verify(&self, message: &[u8], signature: &[u8]) -> Result<(), AnyJwsError> {
        let is_valid = match (&self.key, number_len(self.algorithm)) {
            (Key::MlDsa(key), _) => key.verify(message, signature).is_ok(),
            (Key::Classical(key), None) => key.verify(message, signature).is_ok(),
            (Key::Classical(key), Some(len)) => ecdsa::to_der(signature, len)
                .is_some_and(|signature| key.verify(message, &signature).is_ok()),
        };
        match is_valid {
            true => Ok(()),
            false => Err(AnyJwsError::Invalid),
        }
    }
}

/// How many bytes each number of a signature has, for ECDSA.
pub(super) fn number_len(algorithm: AnyJwsAlgorithm) -> Option<usize> {
    match algorithm {
        AnyJwsAlgorithm::Es256 => Some(32),
        AnyJwsAlgorithm::Es384 => Some(48),
        _ => None,
    }
}

impl SubjectKey for AnyJwk {
    fn spki(&self) -> SubjectPublicKeyInfoDer<'_> {
        self.to_spki_der().into()
    }
}

impl PartialEq for AnyJwk {
    fn eq(&self, other: &Self) -> bool {
        self.to_spki_der() == other.to_spki_der()
    }
}

impl Eq for AnyJwk {}

impl fmt::Debug for AnyJwk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AnyJwk")
            .field("algorithm", &self.algorithm)
            .finish_non_exhaustive()
    }
}

/// No key here is as long: one of ML-DSA-87 has 3,456 characters.
const LIMIT: usize = 16 * 1024;

#[derive(Deserialize)]
struct Members<'a> {
    kty: String,
    #[serde(default, deserialize_with = "present")]
    alg: Option<String>,
    #[serde(default, deserialize_with = "present")]
    crv: Option<String>,
    #[serde(borrow, default, deserialize_with = "present", rename = "pub")]
    public: Option<Plain<'a>>,
    #[serde(default, deserialize_with = "present", rename = "priv")]
    private: Option<IgnoredAny>,
    #[serde(default, deserialize_with = "present")]
    d: Option<IgnoredAny>,
    #[serde(borrow, default, deserialize_with = "present")]
    x: Option<Plain<'a>>,
    #[serde(borrow, default, deserialize_with = "present")]
    y: Option<Plain<'a>>,
    #[serde(borrow, default, deserialize_with = "present")]
    n: Option<Plain<'a>>,
    #[serde(borrow, default, deserialize_with = "present")]
    e: Option<Plain<'a>>,
}

impl Members<'_> {
    fn point(&self, algorithm: ClassicalAlgorithm, len: usize) -> Result<AnyJwk, AnyJwsError> {
        let mut point = vec![4];
        for (member, text) in [("x", self.x), ("y", self.y)] {
            let coordinate = decode(member, text)?;
            if coordinate.len() != len {
                let problem = "has another length than the coordinates of its curve";
                return Err(AnyJwsError::Member { member, problem });
            }
            point.extend_from_slice(&coordinate);
        }
        AnyJwk::of_classical(ClassicalPublicKey::from_bytes(algorithm, &point)?)
    }

    fn rsa(&self) -> Result<AnyJwk, AnyJwsError> {
        let [n, e] = [("n", self.n), ("e", self.e)].map(|(member, text)| {
            let number = decode(member, text)?;
            // RFC 7518 section 2: the fewest octets
            match number.first() {
                None | Some(0) => {
                    let problem = "is no number in as few octets as it needs (RFC 7518 section 2)";
                    Err(AnyJwsError::Member { member, problem })
                }
                Some(_) => Ok(number),
            }
        });
        let (n, e) = (n?, e?);
        let malformed = |error: der::Error| AnyJwsError::from(ClassicalKeyError::from(error));
        let numbers = [&n, &e].map(|number| UintRef::new(number));
        let [n_der, e_der] = numbers;
        let key = [n_der.map_err(malformed)?, e_der.map_err(malformed)?].to_der();
        let key = key.map_err(malformed)?;
        let algorithm = match n.len() {
            256 => ClassicalAlgorithm::Rsa2048,
            384 => ClassicalAlgorithm::Rsa3072,
            512 => ClassicalAlgorithm::Rsa4096,
            _ => {
                let problem = "has another length than 2048, 3072 or 4096 bits";
                return Err(AnyJwsError::Member {
                    member: "n",
                    problem,
                });
            }
        };
        AnyJwk::of_classical(ClassicalPublicKey::from_bytes(algorithm, &key)?)
    }
}

/// The modulus and the exponent of an RSAPublicKey.
fn rsa_numbers(key: &[u8]) -> der::Result<[&[u8]; 2]> {
    AnyRef::from_der(key)?.sequence(|reader: &mut der::SliceReader<'_>| {
        let modulus = UintRef::decode(reader)?;
        let exponent = UintRef::decode(reader)?;
        Ok([modulus.as_bytes(), exponent.as_bytes()])
    })
}

fn decode(member: &'static str, text: Option<Plain<'_>>) -> Result<Vec<u8>, AnyJwsError> {
    let text = text.ok_or_else(|| missing(member))?.0;
    let decoded = base64url::decode(text);
    decoded.map_err(|error| AnyJwsError::Base64 { member, error })
}

fn missing(member: &'static str) -> AnyJwsError {
    let problem = "of the JSON Web Key is missing";
    AnyJwsError::Member { member, problem }
}

fn quoted(name: &str) -> String {
    format!("\"{}\"", shown(name))
}
