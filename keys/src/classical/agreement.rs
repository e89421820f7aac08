//! Both halves of an ECDH or X25519 key, which pq-cms uses through the traits of `keys` to decrypt and encrypt
//! documents.

use alloc::sync::Arc;
use core::fmt;

use pki_types::SubjectPublicKeyInfoDer;
use zeroize::Zeroizing;

use super::agreement_algorithm::AgreementAlgorithm;
use super::document::Document;
use super::error::ClassicalKeyError;
use super::family::Family;
use super::graviola;
use super::private_key::Agreeing;
use crate::encoding::pem;
use crate::keys::{Agreement, AgreementError, AgreementKey, AgreementPublicKey, SubjectKey};

/// A private key of ECDH or X25519, to which others encrypt documents.
///
/// pq-cms decrypts with it, through the trait [`AgreementKey`]. Clones share one key. Buffers that hold
/// a key are wiped, but graviola moves keys by value, which may leave copies on the stack.
///
/// ```
/// use pq_keys::classical::{AgreementAlgorithm, ClassicalAgreementKey};
/// use pq_keys::agreement::{AgreementKey, AgreementPublicKey};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let key = ClassicalAgreementKey::generate(AgreementAlgorithm::X25519)?;
/// let sender = key.public_key().agree_once()?;
/// assert_eq!(key.agree(&sender.public_key)?, sender.secret);
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct ClassicalAgreementKey {
    key: Arc<dyn Agreeing>,
    public_key: ClassicalAgreementPublicKey,
}

impl ClassicalAgreementKey {
    /// Makes a new key from the operating system's randomness.
    ///
    /// # Errors
    ///
    /// [`ClassicalKeyError::Randomness`] if there is no randomness. Like all functions that make or
    /// read a key: [`ClassicalKeyError::UnsupportedCpu`] and
    /// [`ClassicalKeyError::UnsupportedArchitecture`].
    pub fn generate(algorithm: AgreementAlgorithm) -> Result<Self, ClassicalKeyError> {
        Self::new(algorithm, graviola::generate_agreeing(algorithm)?)
    }

    /// Reads the DER of a private key: PKCS#8 of version 1 or 2 (RFC 5958, RFC 8410), or ECPrivateKey with
    /// the name of its curve (RFC 5915).
    ///
    /// # Errors
    ///
    /// [`ClassicalKeyError::NoAgreement`] for keys of Ed25519 and RSA, which only sign; otherwise a
    /// [`ClassicalKeyError`] that says what is wrong with the key.
    pub fn from_der(der: &[u8]) -> Result<Self, ClassicalKeyError> {
        let document = Document::read(der)?;
        let family = document.family;
        let algorithm = agreeing(family)?;
        let key = Self::new(algorithm, graviola::read_agreeing(family, document.key)?)?;
        match document.public_key {
            Some(public_key) if public_key != key.public_key.as_bytes() => {
                Err(ClassicalKeyError::PublicKeyMismatch(family.name()))
            }
            _ => Ok(key),
        }
    }

    /// Takes an ECDH scalar of 32 or 48 bytes, big-endian, or the 32 bytes of an X25519 private key (RFC 7748).
    ///
    /// # Errors
    ///
    /// [`ClassicalKeyError::AgreementRawLength`] for a wrong length, and [`ClassicalKeyError::Malformed`] for a scalar
    /// that is out of range.
    pub fn from_raw(algorithm: AgreementAlgorithm, key: &[u8]) -> Result<Self, ClassicalKeyError> {
        match algorithm.raw_private_key_len() {
            expected if expected != key.len() => Err(ClassicalKeyError::AgreementRawLength {
                algorithm: algorithm.name(),
                expected,
                found: key.len(),
            }),
            _ => Self::new(algorithm, graviola::agreeing_from_raw(algorithm, key)?),
        }
    }

    fn new(
        algorithm: AgreementAlgorithm,
        key: Box<dyn Agreeing>,
    ) -> Result<Self, ClassicalKeyError> {
        let spki = algorithm.family().spki(&key.public_key())?;
        Ok(Self {
            public_key: ClassicalAgreementPublicKey::from_spki_der(&spki)?,
            key: key.into(),
        })
    }

    /// The algorithm.
    pub fn algorithm(&self) -> AgreementAlgorithm {
        self.public_key.algorithm
    }

    /// The public half.
    pub fn public_key(&self) -> &ClassicalAgreementPublicKey {
        &self.public_key
    }

    /// The key in PKCS#8 of version 1, which all implementations read.
    pub fn to_pkcs8_der(&self) -> Zeroizing<Vec<u8>> {
        self.key.pkcs8()
    }

    /// The raw key, which [`from_raw`](Self::from_raw) takes.
    pub fn to_raw(&self) -> Zeroizing<Vec<u8>> {
        self.key.raw()
    }
}

fn agreeing(family: Family) -> Result<AgreementAlgorithm, ClassicalKeyError> {
    AgreementAlgorithm::of(family).ok_or_else(|| ClassicalKeyError::NoAgreement(family.name()))
}

impl SubjectKey for ClassicalAgreementKey {
    fn spki(&self) -> SubjectPublicKeyInfoDer<'_> {
        self.public_key.spki()
    }
}

impl AgreementKey for ClassicalAgreementKey {
    fn agree(&self, public_key: &[u8]) -> Result<Zeroizing<Vec<u8>>, AgreementError> {
        self.key.agree(public_key).map_err(AgreementError::new)
    }
}

impl fmt::Debug for ClassicalAgreementKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ClassicalAgreementKey")
            .field("algorithm", &self.algorithm())
            .finish_non_exhaustive()
    }
}

/// A public key of ECDH or X25519, to which documents are encrypted.
///
/// A value of this type is always valid: its point is on the curve.
#[derive(Clone, Eq, PartialEq)]
pub struct ClassicalAgreementPublicKey {
    algorithm: AgreementAlgorithm,
    spki: Vec<u8>,
    /// The length of the key alone, which is at the end of `spki`.
    raw_len: usize,
}

impl ClassicalAgreementPublicKey {
    /// Reads the DER of a SubjectPublicKeyInfo (RFC 5480, RFC 8410). Nothing may follow it.
    ///
    /// # Errors
    ///
    /// [`ClassicalKeyError::NoAgreement`] for keys of Ed25519 and RSA, which only sign; otherwise a
    /// [`ClassicalKeyError`] that says what is wrong with the key.
    pub fn from_spki_der(der: &[u8]) -> Result<Self, ClassicalKeyError> {
        let (family, raw) = Family::of_spki(der)?;
        let algorithm = agreeing(family)?;
        graviola::check_public_key(family, raw)?;
        Ok(Self {
            algorithm,
            raw_len: raw.len(),
            spki: der.to_vec(),
        })
    }

    /// Takes the key alone: for ECDH an uncompressed point, for X25519 32 bytes.
    ///
    /// # Errors
    ///
    /// [`ClassicalKeyError::Malformed`] for another length and for a point that is not on the curve.
    pub fn from_bytes(
        algorithm: AgreementAlgorithm,
        bytes: &[u8],
    ) -> Result<Self, ClassicalKeyError> {
        Self::from_spki_der(&algorithm.family().spki(bytes)?)
    }

    /// The algorithm.
    pub fn algorithm(&self) -> AgreementAlgorithm {
        self.algorithm
    }

    /// The DER of the SubjectPublicKeyInfo.
    pub fn to_spki_der(&self) -> &[u8] {
        &self.spki
    }

    /// The SubjectPublicKeyInfo as PEM.
    pub fn to_spki_pem(&self) -> String {
        pem::encode("PUBLIC KEY", &self.spki)
    }

    /// The key alone: for ECDH the uncompressed point, for X25519 32 bytes.
    pub fn as_bytes(&self) -> &[u8] {
        &self.spki[self.spki.len() - self.raw_len..]
    }
}

impl SubjectKey for ClassicalAgreementPublicKey {
    fn spki(&self) -> SubjectPublicKeyInfoDer<'_> {
        self.spki.as_slice().into()
    }
}

impl AgreementPublicKey for ClassicalAgreementPublicKey {
    fn agree_once(&self) -> Result<Agreement, AgreementError> {
        let key = graviola::generate_agreeing(self.algorithm).map_err(AgreementError::new)?;
        Ok(Agreement {
            public_key: key.public_key(),
            secret: key.agree(self.as_bytes()).map_err(AgreementError::new)?,
        })
    }
}

impl fmt::Debug for ClassicalAgreementPublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ClassicalAgreementPublicKey")
            .field("algorithm", &self.algorithm)
            .finish_non_exhaustive()
    }
}
