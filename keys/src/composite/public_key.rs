//! `CompositePublicKey`, read from and written to a SubjectPublicKeyInfo, and how it verifies: both halves must accept
//! the signature.

use core::fmt;

use der::asn1::BitStringRef;
use der::{Decode, Encode};
use pki_types::SubjectPublicKeyInfoDer;
use spki::SubjectPublicKeyInfoRef;

use super::algorithm::CompositeAlgorithm;
use super::encoding;
use super::error::{CompositeKeyError, of_classical, of_ml_dsa};
use super::message::HashedMessage;
use crate::classical::ClassicalPublicKey;
use crate::encoding::pem;
use crate::keys::{SignatureOptions, SubjectKey, VerifyingKey};

/// A composite public key.
///
/// A value of this type is always valid in both halves.
#[derive(Clone)]
pub struct CompositePublicKey {
    algorithm: CompositeAlgorithm,
    ml_dsa: VerifyingKey,
    classical: ClassicalPublicKey,
    spki: Vec<u8>,
}

impl CompositePublicKey {
    /// Reads the DER of a SubjectPublicKeyInfo (RFC 5280, section 4.1.2.7). Nothing may follow it.
    ///
    /// # Errors
    ///
    /// A [`CompositeKeyError`] that says what is wrong with the key.
    pub fn from_spki_der(der: &[u8]) -> Result<Self, CompositeKeyError> {
        let spki = SubjectPublicKeyInfoRef::from_der(der)?;
        let algorithm = encoding::algorithm(&spki.algorithm)?;
        match spki.subject_public_key.as_bytes() {
            Some(bytes) => Self::from_bytes(algorithm, bytes),
            None => Err(CompositeKeyError::Malformed {
                algorithm,
                reason: "its bits are no whole number of bytes",
            }),
        }
    }

    /// Reads the first `PUBLIC KEY` block of a PEM text.
    ///
    /// # Errors
    ///
    /// [`CompositeKeyError::Pem`] if there is none, and those of DER.
    pub fn from_spki_pem(text: &(impl AsRef<[u8]> + ?Sized)) -> Result<Self, CompositeKeyError> {
        Self::from_spki_der(&pem::decode_first(text, PEM_LABEL)?)
    }

    /// Reads the key alone: the ML-DSA key, whose length is fixed, then the classical half.
    ///
    /// The classical half is the uncompressed point of ECDSA, the 32 bytes of Ed25519, or the DER of
    /// RSAPublicKey (section 4 of the draft).
    ///
    /// # Errors
    ///
    /// A [`CompositeKeyError`] that says what is wrong with the key.
    pub fn from_bytes(
        algorithm: CompositeAlgorithm,
        bytes: &[u8],
    ) -> Result<Self, CompositeKeyError> {
        let row = algorithm.row();
        let (ml_dsa, classical) = bytes.split_at_checked(row.ml_dsa.public_key_len()).ok_or(
            CompositeKeyError::Malformed {
                algorithm,
                reason: "it ends within its ML-DSA half",
            },
        )?;
        Self::of_halves(
            algorithm,
            VerifyingKey::from_bytes(row.ml_dsa, ml_dsa).map_err(of_ml_dsa(algorithm))?,
            ClassicalPublicKey::from_bytes(row.classical, classical)
                .map_err(of_classical(algorithm))?,
        )
    }

    pub(super) fn of_halves(
        algorithm: CompositeAlgorithm,
        ml_dsa: VerifyingKey,
        classical: ClassicalPublicKey,
    ) -> Result<Self, CompositeKeyError> {
        let bytes = [ml_dsa.as_bytes(), classical.as_bytes()].concat();
        let spki = SubjectPublicKeyInfoRef {
            algorithm: algorithm.identifier(),
            subject_public_key: BitStringRef::from_bytes(&bytes)?,
        };
        Ok(Self {
            algorithm,
            spki: spki.to_der()?,
            ml_dsa,
            classical,
        })
    }

    /// The algorithm.
    pub fn algorithm(&self) -> CompositeAlgorithm {
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

    /// The key alone, which [`from_bytes`](Self::from_bytes) reads.
    pub fn as_bytes(&self) -> &[u8] {
        let len = self.ml_dsa.as_bytes().len() + self.classical.as_bytes().len();
        &self.spki[self.spki.len() - len..]
    }

    /// Verifies a signature as for certificates, with an empty context.
    ///
    /// # Errors
    ///
    /// [`CompositeKeyError::InvalidSignature`] if either half is not a signature of this message by this
    /// key.
    pub fn verify(&self, message: &[u8], signature: &[u8]) -> Result<(), CompositeKeyError> {
        self.verify_with_context(message, signature, &[])
    }

    /// Verifies a signature with a context.
    ///
    /// # Errors
    ///
    /// As [`verify`](Self::verify), and [`CompositeKeyError::ContextTooLong`].
    pub fn verify_with_context(
        &self,
        message: &[u8],
        signature: &[u8],
        context: &[u8],
    ) -> Result<(), CompositeKeyError> {
        let message = HashedMessage::of(self.algorithm, message, context)?;
        self.verify_hashed(&message, signature)
    }

    /// Verifies a signature of a message that was hashed before.
    ///
    /// # Errors
    ///
    /// As [`verify`](Self::verify), and [`CompositeKeyError::OtherAlgorithm`] if it was hashed for
    /// another combination.
    pub fn verify_hashed(
        &self,
        message: &HashedMessage,
        signature: &[u8],
    ) -> Result<(), CompositeKeyError> {
        let message = message.for_key_of(self.algorithm)?;
        let invalid = CompositeKeyError::InvalidSignature(self.algorithm);
        let row = self.algorithm.row();
        // The length is public.
        let Some((ml_dsa, classical)) = signature.split_at_checked(row.ml_dsa.signature_len())
        else {
            return Err(invalid);
        };
        let label = self.algorithm.label();
        let options = SignatureOptions::new().context(label.as_bytes());
        let ml_dsa = self.ml_dsa.verify_with(message, ml_dsa, &options).is_ok();
        let classical = self
            .classical
            .verify_with(message, classical, row.rsa)
            .is_ok();
        // Not `&&`: no branch depends on which half failed. Both are computed by now.
        match ml_dsa & classical {
            true => Ok(()),
            false => Err(invalid),
        }
    }
}

impl SubjectKey for CompositePublicKey {
    fn spki(&self) -> SubjectPublicKeyInfoDer<'_> {
        self.spki.as_slice().into()
    }
}

impl PartialEq for CompositePublicKey {
    fn eq(&self, other: &Self) -> bool {
        self.spki == other.spki
    }
}

impl Eq for CompositePublicKey {}

impl fmt::Debug for CompositePublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("CompositePublicKey")
            .field(&self.algorithm)
            .finish()
    }
}

const PEM_LABEL: &str = "PUBLIC KEY";
