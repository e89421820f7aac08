//! Public keys of X-Wing, raw and in SubjectPublicKeyInfo, and encapsulation to them.

use core::fmt;

use crate::encoding::pem;
use crate::keys::{SubjectKey, random};
use pkcs8::SubjectPublicKeyInfoRef;
use pkcs8::der::asn1::BitStringRef;
use pkcs8::der::{Decode, Encode};
use pki_types::SubjectPublicKeyInfoDer;
use pq_core::ml_kem::{EncapsulationKey, MlKem768, ParameterSet};
use pq_core::wiping_stack;
use zeroize::Zeroizing;

use super::error::XWingError;
use super::mechanism::{CIPHERTEXT_LEN, POINT_LEN, agree, combine, point_of};
use super::{IDENTIFIER, SECRET_LEN, check_identifier};

/// A public key of X-Wing, to which others encapsulate.
#[derive(Clone)]
pub struct XWingPublicKey {
    ml_kem: EncapsulationKey<MlKem768>,
    x25519: [u8; POINT_LEN],
    spki: Vec<u8>,
}

impl XWingPublicKey {
    /// Length of a raw key, in bytes.
    pub const LEN: usize = MlKem768::ENCAPSULATION_KEY_LEN + POINT_LEN;

    /// Reads the raw key: the ML-KEM-768 key, with the checks of FIPS 203, section 7.2, followed by the X25519
    /// key.
    ///
    /// # Errors
    ///
    /// [`XWingError::Length`] and [`XWingError::MlKem`].
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, XWingError> {
        let length = || XWingError::length("a public key", Self::LEN, bytes);
        let (ml_kem, x25519) = bytes
            .split_at_checked(MlKem768::ENCAPSULATION_KEY_LEN)
            .ok_or_else(length)?;
        let x25519 = x25519.try_into().map_err(|_| length())?;
        let ml_kem = EncapsulationKey::from_bytes(ml_kem).map_err(XWingError::MlKem)?;
        let spki = SubjectPublicKeyInfoRef {
            algorithm: IDENTIFIER,
            subject_public_key: BitStringRef::from_bytes(bytes)?,
        };
        Ok(Self {
            ml_kem,
            x25519,
            spki: spki.to_der()?,
        })
    }

    /// Reads the DER of a SubjectPublicKeyInfo. Nothing may follow it.
    ///
    /// # Errors
    ///
    /// An [`XWingError`] that says what is wrong with it.
    pub fn from_spki_der(der: &[u8]) -> Result<Self, XWingError> {
        let spki = SubjectPublicKeyInfoRef::from_der(der)?;
        check_identifier(&spki.algorithm)?;
        let bytes = spki.subject_public_key.as_bytes();
        Self::from_bytes(bytes.ok_or(XWingError::PartialByte)?)
    }

    /// Reads the first `PUBLIC KEY` block of a PEM text.
    ///
    /// # Errors
    ///
    /// [`XWingError::Pem`] if there is none, and the errors of [`from_spki_der`](Self::from_spki_der).
    pub fn from_spki_pem(text: &(impl AsRef<[u8]> + ?Sized)) -> Result<Self, XWingError> {
        Self::from_spki_der(&pem::decode_first(text, PEM_LABEL)?)
    }

    /// The raw key.
    pub fn as_bytes(&self) -> &[u8] {
        &self.spki[self.spki.len() - Self::LEN..]
    }

    /// The DER of the SubjectPublicKeyInfo.
    pub fn to_spki_der(&self) -> &[u8] {
        &self.spki
    }

    /// The SubjectPublicKeyInfo as PEM.
    pub fn to_spki_pem(&self) -> String {
        pem::encode(PEM_LABEL, &self.spki)
    }

    /// Makes a shared secret, writes it to `secret`, which the caller wipes, and returns the ciphertext that
    /// carries it to the key's owner.
    ///
    /// # Errors
    ///
    /// [`XWingError::Randomness`] if there is none, and [`XWingError::LowOrder`] for a key that was not made
    /// as the draft says; then nothing is written.
    pub fn encapsulate_into(&self, secret: &mut [u8; SECRET_LEN]) -> Result<Vec<u8>, XWingError> {
        wiping_stack(|| {
            let mut m = Zeroizing::new([0; 32]);
            let mut scalar = Zeroizing::new([0; POINT_LEN]);
            random::fill(&mut *m).map_err(XWingError::Randomness)?;
            random::fill(&mut *scalar).map_err(XWingError::Randomness)?;
            self.encapsulate_with(&m, &scalar, secret)
        })
    }

    /// EncapsulateDerand
    pub(super) fn encapsulate_with(
        &self,
        m: &[u8; 32],
        scalar: &[u8; POINT_LEN],
        secret: &mut [u8; SECRET_LEN],
    ) -> Result<Vec<u8>, XWingError> {
        let agreed = agree(scalar, &self.x25519)?;
        let x25519 = point_of(scalar);
        let mut ciphertext = vec![0; CIPHERTEXT_LEN];
        let (to_ml_kem, to_x25519) = ciphertext.split_at_mut(MlKem768::CIPHERTEXT_LEN);
        let mut ml_kem = Zeroizing::new([0; SECRET_LEN]);
        self.ml_kem
            .encapsulate_into(m, to_ml_kem, &mut ml_kem)
            .map_err(XWingError::MlKem)?;
        to_x25519.copy_from_slice(&x25519);
        combine(&ml_kem, &agreed, &x25519, &self.x25519, secret);
        Ok(ciphertext)
    }

    pub(super) fn x25519(&self) -> &[u8; POINT_LEN] {
        &self.x25519
    }
}

impl SubjectKey for XWingPublicKey {
    fn spki(&self) -> SubjectPublicKeyInfoDer<'_> {
        self.spki.as_slice().into()
    }
}

impl PartialEq for XWingPublicKey {
    fn eq(&self, other: &Self) -> bool {
        self.spki == other.spki
    }
}

impl Eq for XWingPublicKey {}

impl fmt::Debug for XWingPublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("XWingPublicKey")
    }
}

const PEM_LABEL: &str = "PUBLIC KEY";
