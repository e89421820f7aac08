use core::fmt;

use der::asn1::OctetStringRef;
use der::referenced::OwnedToRef;
use der::{Decode, Encode};
use zeroize::Zeroizing;

use super::algorithms::Protection;
use super::asn1::EncryptedPrivateKeyInfo;
use super::cost::{Budget, CostLimits};
use super::error::ProtectionError;
use super::pbes2::Pbes2;
use crate::encoding::pem;
use crate::keys::{KeyError, PrivateKey, check_pkcs8};

/// A private key of any algorithm under a passphrase: EncryptedPrivateKeyInfo (RFC 5958 section 3) with
/// PBES2 (RFC 8018).
///
/// What is encrypted is PKCS#8, be it of a key of this crate or of another. The keys of this crate have
/// methods that put them under a passphrase and read them again, such as
/// [`SigningKey::to_encrypted_pkcs8_pem`](crate::SigningKey::to_encrypted_pkcs8_pem).
///
/// ```
/// # use pq_x509::{EncryptedPrivateKey, Protection, SignatureAlgorithm, SigningKey};
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let key = SigningKey::generate(SignatureAlgorithm::MlDsa44)?;
/// # use pq_x509::{KeyDerivation, Prf};
/// # let cheap = KeyDerivation::Pbkdf2 { prf: Prf::HmacSha256, iterations: 1 };
/// let protection = Protection::default();
/// # let protection = protection.with_key_derivation(cheap);
/// let pem = key.to_encrypted_pkcs8_pem(b"correct horse", &protection)?;
///
/// let read = SigningKey::from_encrypted_pkcs8_pem(&pem, b"correct horse")?;
/// assert_eq!(read.verifying_key(), key.verifying_key());
/// # Ok(())
/// # }
/// ```
///
/// # What is noticed
///
/// With [AES-GCM](super::Cipher::Aes256Gcm) every change of the file is. AES-CBC authenticates nothing: a
/// changed file decrypts to something else, which is refused only if it is no sound key. That holds for
///
/// * ML-DSA and ML-KEM with seed and expanded key, where the one has to give the other. This is how
///   the methods of keys write them with AES-CBC, as OpenSSL does;
/// * ECDSA and RSA, as far as whoever reads them checks that the private part belongs to the public one;
/// * SLH-DSA, which [`key_of`](Self::key_of) checks. Only of SK.prf, which has no public part, another one
///   can go unnoticed (with the sets of 192 and 256 bits): signatures are as valid and safe with it.
///
/// It does not hold for a seed that stands alone, such as Ed25519's: there a changed byte can give
/// another key. Its owner notices by the public key.
///
/// # Passphrases
///
/// A passphrase is bytes, for which everybody takes UTF-8. Working memory of scrypt and of PBKDF2,
/// from which the passphrase could be guessed at the cost of the derivation, is not wiped by their
/// crates; derived keys and private keys are.
#[derive(Clone, Eq, PartialEq)]
pub struct EncryptedPrivateKey {
    pbes2: Pbes2,
    ciphertext: Vec<u8>,
    der: Vec<u8>,
}

const PEM_LABEL: &str = "ENCRYPTED PRIVATE KEY";

impl EncryptedPrivateKey {
    /// Puts the DER of a PKCS#8 private key of any algorithm under a passphrase.
    ///
    /// # Errors
    ///
    /// [`ProtectionError::NotPkcs8`] if it is none; [`ProtectionError::EmptyPassphrase`];
    /// [`ProtectionError::Parameters`] and the errors of [`CostLimits`] for costs that can't be, or that
    /// nobody would read by default; [`ProtectionError::Randomness`].
    pub fn encrypt(
        pkcs8: &[u8],
        passphrase: &[u8],
        protection: &Protection,
    ) -> Result<Self, ProtectionError> {
        let mut budget = Budget::new(CostLimits::default());
        Self::encrypt_from(pkcs8, passphrase, protection, &mut budget)
    }

    /// The same where the budget is of more than this key.
    pub(crate) fn encrypt_from(
        pkcs8: &[u8],
        passphrase: &[u8],
        protection: &Protection,
        budget: &mut Budget,
    ) -> Result<Self, ProtectionError> {
        check_pkcs8(pkcs8).map_err(ProtectionError::NotPkcs8)?;
        if passphrase.is_empty() {
            return Err(ProtectionError::EmptyPassphrase);
        }
        let pbes2 = Pbes2::fresh(protection)?;
        let ciphertext = pbes2.encrypt(passphrase, pkcs8, budget)?;
        let der = EncryptedPrivateKeyInfo {
            algorithm: pbes2.to_identifier()?.owned_to_ref(),
            encrypted: OctetStringRef::new(&ciphertext)?,
        }
        .to_der()?;
        Ok(Self {
            pbes2,
            ciphertext,
            der,
        })
    }

    /// Reads DER. Nothing may follow.
    ///
    /// # Errors
    ///
    /// Those of [`ProtectionError`] that say what in the parameters is not understood or not possible.
    /// What they cost is checked when a passphrase is tried.
    pub fn from_der(der: &[u8]) -> Result<Self, ProtectionError> {
        let info = EncryptedPrivateKeyInfo::from_der(der)?;
        Ok(Self {
            pbes2: Pbes2::read(&info.algorithm)?,
            ciphertext: info.encrypted.as_bytes().to_vec(),
            der: der.to_vec(),
        })
    }

    /// Reads the first `ENCRYPTED PRIVATE KEY` block of a PEM text. Other blocks may stand around it.
    ///
    /// # Errors
    ///
    /// [`ProtectionError::Pem`] if there is no such block, and those of [`from_der`](Self::from_der).
    pub fn from_pem(text: &str) -> Result<Self, ProtectionError> {
        Self::from_der(&pem::decode_first(text, PEM_LABEL)?)
    }

    /// As DER.
    pub fn as_der(&self) -> &[u8] {
        &self.der
    }

    /// As a PEM block.
    pub fn to_pem(&self) -> String {
        pem::encode(PEM_LABEL, &self.der)
    }

    /// How the key is protected, as far as the file says so.
    pub fn protection(&self) -> Protection {
        self.pbes2.protection()
    }

    /// The PKCS#8 of the key, for which its file may ask for no more than the default limits.
    ///
    /// # Errors
    ///
    /// Those of [`decrypt_within`](Self::decrypt_within).
    pub fn decrypt(&self, passphrase: &[u8]) -> Result<Zeroizing<Vec<u8>>, ProtectionError> {
        self.decrypt_within(passphrase, &CostLimits::default())
    }

    /// The PKCS#8 of the key.
    ///
    /// # Errors
    ///
    /// [`ProtectionError::TooManyIterations`], [`ProtectionError::TooMuchMemory`] and
    /// [`ProtectionError::TooMuchWork`] before anything is computed, and
    /// [`ProtectionError::WrongPassphraseOrChanged`]: there is no telling which it is, and whoever
    /// can have many changed files tried must not learn more.
    pub fn decrypt_within(
        &self,
        passphrase: &[u8],
        limits: &CostLimits,
    ) -> Result<Zeroizing<Vec<u8>>, ProtectionError> {
        self.decrypt_from(passphrase, &mut Budget::new(*limits))
    }

    /// The same where the budget is of more than this key.
    pub(crate) fn decrypt_from(
        &self,
        passphrase: &[u8],
        budget: &mut Budget,
    ) -> Result<Zeroizing<Vec<u8>>, ProtectionError> {
        let pkcs8 = self.pbes2.decrypt(passphrase, &self.ciphertext, budget)?;
        match check_pkcs8(&pkcs8) {
            Ok(()) => Ok(pkcs8),
            Err(_) => Err(ProtectionError::WrongPassphraseOrChanged),
        }
    }

    /// Reads a key of this crate from the PKCS#8 that [`decrypt`](Self::decrypt) gave. With AES-CBC that
    /// is where changes are noticed, so a key of SLH-DSA is [checked](crate::SigningKey::check) then,
    /// which takes as long as making it.
    ///
    /// # Errors
    ///
    /// [`ProtectionError::WrongPassphraseOrChanged`] if the file is not authenticated and the key is
    /// unsound; else [`ProtectionError::Key`].
    pub fn key_of(&self, pkcs8: &[u8]) -> Result<PrivateKey, ProtectionError> {
        let key = PrivateKey::from_pkcs8_der(pkcs8);
        if self.protection().cipher().is_authenticated() {
            return Ok(key?);
        }
        let checked = key.and_then(|key| {
            if let PrivateKey::Signing(key) = &key {
                key.check()?;
            }
            Ok(key)
        });
        checked.map_err(|error| match error {
            KeyError::Der(_)
            | KeyError::Syntax(_)
            | KeyError::Malformed { .. }
            | KeyError::SeedMismatch(_)
            | KeyError::UnknownForm { .. }
            | KeyError::PublicKeyMismatch(_) => ProtectionError::WrongPassphraseOrChanged,
            error => ProtectionError::Key(error),
        })
    }

    /// [`decrypt`](Self::decrypt) and [`key_of`](Self::key_of).
    ///
    /// # Errors
    ///
    /// Theirs.
    pub fn decrypt_key(&self, passphrase: &[u8]) -> Result<PrivateKey, ProtectionError> {
        self.key_of(&self.decrypt(passphrase)?)
    }
}

impl fmt::Debug for EncryptedPrivateKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EncryptedPrivateKey")
            .field("protection", &self.protection())
            .finish_non_exhaustive()
    }
}
