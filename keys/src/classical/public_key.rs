//! `ClassicalPublicKey`, read from and written to a SubjectPublicKeyInfo, and how it verifies a single signature.
//! Chains are verified by `verification_algorithms`.

use core::fmt;

use const_oid::db::rfc8410::ID_X_25519;
use pki_types::SubjectPublicKeyInfoDer;

use super::algorithm::{ClassicalAlgorithm, RsaScheme};
use super::error::ClassicalKeyError;
use super::family::{Family, rsa_of_length};
use super::graviola;
use crate::encoding::{pem, rsa_bits};
use crate::keys::SubjectKey;

/// A public key of ECDSA, Ed25519 or RSA.
///
/// A value of this type is always valid: for instance, a point is on its curve.
#[derive(Clone, Eq, PartialEq)]
pub struct ClassicalPublicKey {
    algorithm: ClassicalAlgorithm,
    spki: Vec<u8>,
    /// The length of the key alone, which is at the end of `spki`.
    raw_len: usize,
}

impl ClassicalPublicKey {
    /// Reads the DER of a SubjectPublicKeyInfo (RFC 5280, section 4.1.2.7). Nothing may follow it.
    ///
    /// # Errors
    ///
    /// A [`ClassicalKeyError`] that says what is wrong with the key.
    pub fn from_spki_der(der: &[u8]) -> Result<Self, ClassicalKeyError> {
        let (family, raw) = Family::of_spki(der)?;
        let algorithm = match family {
            Family::P256 => ClassicalAlgorithm::EcdsaP256,
            Family::P384 => ClassicalAlgorithm::EcdsaP384,
            Family::Ed25519 => ClassicalAlgorithm::Ed25519,
            Family::X25519 => return Err(ClassicalKeyError::UnsupportedAlgorithm(ID_X_25519)),
            Family::Rsa => rsa_of_length(rsa_bits(raw)?)?,
        };
        graviola::check_public_key(family, raw)?;
        Ok(Self {
            algorithm,
            raw_len: raw.len(),
            spki: der.to_vec(),
        })
    }

    /// Reads the first `PUBLIC KEY` block of a PEM text.
    ///
    /// # Errors
    ///
    /// [`ClassicalKeyError::Pem`] if there is none, and those of DER.
    pub fn from_spki_pem(text: &(impl AsRef<[u8]> + ?Sized)) -> Result<Self, ClassicalKeyError> {
        Self::from_spki_der(&pem::decode_first(text, PEM_LABEL)?)
    }

    /// Reads the key alone, as [`as_bytes`](Self::as_bytes) gives it.
    ///
    /// # Errors
    ///
    /// Those of [`from_spki_der`](Self::from_spki_der), and [`ClassicalKeyError::Malformed`] if an RSA
    /// key has another length than the algorithm says.
    pub fn from_bytes(
        algorithm: ClassicalAlgorithm,
        bytes: &[u8],
    ) -> Result<Self, ClassicalKeyError> {
        let family = Family::from(algorithm);
        let key = Self::from_spki_der(&family.spki(bytes)?)?;
        match key.algorithm == algorithm {
            true => Ok(key),
            false => Err(ClassicalKeyError::Malformed {
                algorithm: family.name(),
                reason: format!("it is a key of {}, not of {algorithm}", key.algorithm),
            }),
        }
    }

    /// The algorithm.
    pub fn algorithm(&self) -> ClassicalAlgorithm {
        self.algorithm
    }

    /// The DER of the SubjectPublicKeyInfo.
    pub fn to_spki_der(&self) -> &[u8] {
        &self.spki
    }

    /// The SubjectPublicKeyInfo as PEM.
    pub fn to_spki_pem(&self) -> String {
        pem::encode(PEM_LABEL, &self.spki)
    }

    /// The key alone: for ECDSA the uncompressed point, for Ed25519 32 bytes, for RSA the DER of
    /// RSAPublicKey (RFC 8017, appendix A.1.1).
    pub fn as_bytes(&self) -> &[u8] {
        &self.spki[self.spki.len() - self.raw_len..]
    }

    /// Verifies a signature that [`ClassicalKey::sign`](super::ClassicalKey::sign) makes.
    ///
    /// # Errors
    ///
    /// [`ClassicalKeyError::InvalidSignature`] if it is not a signature of this message by this key.
    pub fn verify(&self, message: &[u8], signature: &[u8]) -> Result<(), ClassicalKeyError> {
        self.verify_with(message, signature, RsaScheme::default())
    }

    /// Verifies a signature that [`ClassicalKey::sign_with`](super::ClassicalKey::sign_with) makes with
    /// this scheme.
    ///
    /// # Errors
    ///
    /// [`ClassicalKeyError::InvalidSignature`] if it is not a signature of this message by this key.
    pub fn verify_with(
        &self,
        message: &[u8],
        signature: &[u8],
        rsa: RsaScheme,
    ) -> Result<(), ClassicalKeyError> {
        let key = Family::from(self.algorithm).identifier();
        let identifier = self.algorithm.signature_identifier(rsa);
        let verified = graviola::verifications()?
            .iter()
            .find(|one| one.key == key && one.signature == identifier)
            .map(|one| one.verify(self.as_bytes(), message, signature));
        match verified {
            Some(Ok(())) => Ok(()),
            _ => Err(ClassicalKeyError::InvalidSignature(self.algorithm)),
        }
    }
}

impl SubjectKey for ClassicalPublicKey {
    fn spki(&self) -> SubjectPublicKeyInfoDer<'_> {
        self.spki.as_slice().into()
    }
}

impl fmt::Debug for ClassicalPublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ClassicalPublicKey")
            .field("algorithm", &self.algorithm)
            .finish_non_exhaustive()
    }
}

const PEM_LABEL: &str = "PUBLIC KEY";
