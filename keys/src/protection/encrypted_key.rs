//! `EncryptedPrivateKey`: the whole document, read from and written to DER and PEM, encrypted and decrypted, with the
//! checks of the key inside.

use core::fmt;

use der::asn1::OctetStringRef;
use der::referenced::OwnedToRef;
use der::{Decode, Encode};
use zeroize::Zeroizing;

use super::algorithms::Protection;
use super::asn1::EncryptedPrivateKeyInfo;
use super::cost::{Budget, CostLimits};
use super::error::ProtectionError;
use super::integrity;
use super::pbes2::Pbes2;
use crate::encoding::pem;
use crate::keys::{KeyError, PrivateKey, check_pkcs8};

/// A private key of any algorithm under a passphrase: EncryptedPrivateKeyInfo (RFC 5958 section 3) with
/// PBES2 (RFC 8018).
///
/// The plaintext is PKCS#8, of a key of this crate or of another. The keys of this crate have
/// methods that put them under a passphrase and read them again, such as
/// [`SigningKey::to_encrypted_pkcs8_pem`](crate::SigningKey::to_encrypted_pkcs8_pem).
///
/// ```
/// # use pq_keys::protection::{EncryptedPrivateKey, Protection};
/// # use pq_keys::{SignatureAlgorithm, SigningKey};
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let key = SigningKey::generate(SignatureAlgorithm::MlDsa44)?;
/// # use pq_keys::protection::{KeyDerivation, Prf};
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
/// # Which changes are detected
///
/// Any of a file that was written here. [AES-GCM](super::Cipher::Aes256Gcm) authenticates. AES-CBC does not, so there
/// the key is encrypted with a digest of itself, which reading compares: the attribute messageDigest (RFC 5652 section
/// 11.2) of PKCS#8, with the SHA-512 of the PKCS#8 without it. Other programs pass over it. The end of the salt says that it
/// is there, and so can't be changed without changing the key of the cipher.
///
/// A file of another program under AES-CBC has no such digest. If it was changed, it decrypts to something else, which is
/// refused only if checks of the key fail. Such checks exist for
///
/// * ML-DSA and ML-KEM with seed and expanded key, because the seed must expand to the other, as OpenSSL writes them;
/// * X-Wing and composite keys with the public key beside them (PKCS#8 of version 2), which their types compare;
/// * ECDSA and RSA, if the reader checks that the private part belongs to the public one, as `any::read_private_key` does.
///   The private exponent of RSA is not checked, because nothing uses it;
/// * SLH-DSA, which [`key_of`](Self::key_of) checks. Only a change of SK.prf, which has no public part,
///   can go undetected (with the sets of 192 and 256 bits): signatures are as valid and safe with it.
///
/// There is no check for a seed alone, such as Ed25519's: a changed byte can give
/// another key. Its owner notices by the public key. An expanded key alone is bound to its public key but for K of ML-DSA
/// and z of ML-KEM, without which signatures and shared secrets are the same.
///
/// # Passphrases
///
/// A passphrase is bytes, by convention UTF-8. The crates of scrypt and PBKDF2 do not wipe their working
/// memory, in which guesses of the passphrase could be tested; derived keys
/// and private keys are wiped.
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
    /// [`ProtectionError::NotPkcs8`] if `pkcs8` is no such key; [`ProtectionError::EmptyPassphrase`];
    /// [`ProtectionError::Parameters`] for an impossible cost; those of [`CostLimits`] for a cost above the
    /// default limits, which nobody would read by default; [`ProtectionError::Randomness`].
    pub fn encrypt(
        pkcs8: &[u8],
        passphrase: &[u8],
        protection: &Protection,
    ) -> Result<Self, ProtectionError> {
        let mut budget = Budget::new(CostLimits::default());
        check_pkcs8(pkcs8).map_err(ProtectionError::NotPkcs8)?;
        match protection.cipher().is_authenticated() {
            true => Self::encrypt_from(pkcs8, passphrase, protection, &mut budget),
            false => {
                let pkcs8 = integrity::with_digest(pkcs8)?;
                Self::encrypt_as(&pkcs8, passphrase, protection, true, &mut budget)
            }
        }
    }

    /// Encrypts for a file whose integrity is kept otherwise, with a budget that other keys share.
    #[doc(hidden)]
    pub fn encrypt_from(
        pkcs8: &[u8],
        passphrase: &[u8],
        protection: &Protection,
        budget: &mut Budget,
    ) -> Result<Self, ProtectionError> {
        Self::encrypt_as(pkcs8, passphrase, protection, false, budget)
    }

    fn encrypt_as(
        pkcs8: &[u8],
        passphrase: &[u8],
        protection: &Protection,
        is_digested: bool,
        budget: &mut Budget,
    ) -> Result<Self, ProtectionError> {
        check_pkcs8(pkcs8).map_err(ProtectionError::NotPkcs8)?;
        if passphrase.is_empty() {
            return Err(ProtectionError::EmptyPassphrase);
        }
        let pbes2 = Pbes2::fresh(protection, is_digested)?;
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
    /// A [`ProtectionError`] that says which parameter is unknown or impossible.
    /// The cost is checked when a passphrase is tried.
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
    pub fn from_pem(text: &(impl AsRef<[u8]> + ?Sized)) -> Result<Self, ProtectionError> {
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

    /// Decrypts the key to PKCS#8, within the default limits on the cost.
    ///
    /// # Errors
    ///
    /// Those of [`decrypt_within`](Self::decrypt_within).
    pub fn decrypt(&self, passphrase: &[u8]) -> Result<Zeroizing<Vec<u8>>, ProtectionError> {
        self.decrypt_within(passphrase, &CostLimits::default())
    }

    /// Decrypts the key to PKCS#8, within these limits on the cost.
    ///
    /// # Errors
    ///
    /// [`ProtectionError::TooManyIterations`], [`ProtectionError::TooMuchMemory`] and
    /// [`ProtectionError::TooMuchWork`] before anything is computed, and
    /// [`ProtectionError::WrongPassphraseOrChanged`]: the two cannot be told apart, and an attacker who
    /// has many changed files tried must not learn more.
    pub fn decrypt_within(
        &self,
        passphrase: &[u8],
        limits: &CostLimits,
    ) -> Result<Zeroizing<Vec<u8>>, ProtectionError> {
        self.decrypt_from(passphrase, &mut Budget::new(*limits))
    }

    /// Decrypts from a file whose integrity is kept otherwise, with a budget that other keys share.
    #[doc(hidden)]
    pub fn decrypt_from(
        &self,
        passphrase: &[u8],
        budget: &mut Budget,
    ) -> Result<Zeroizing<Vec<u8>>, ProtectionError> {
        let pkcs8 = self.pbes2.decrypt(passphrase, &self.ciphertext, budget)?;
        let unchanged = match check_pkcs8(&pkcs8) {
            Ok(()) => integrity::checked(pkcs8, self.pbes2.is_digested()),
            Err(_) => None,
        };
        unchanged.ok_or(ProtectionError::WrongPassphraseOrChanged)
    }

    /// Reads a key of this crate from the PKCS#8 that [`decrypt`](Self::decrypt) returned.
    ///
    /// With AES-CBC, this is what detects changes of files that have no digest. So it [checks](crate::SigningKey::check) a key of SLH-DSA,
    /// which takes as long as making it.
    ///
    /// # Errors
    ///
    /// [`ProtectionError::WrongPassphraseOrChanged`] if the file is not authenticated and the key is
    /// invalid; else [`ProtectionError::Key`].
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

    /// Does [`decrypt`](Self::decrypt) and [`key_of`](Self::key_of).
    ///
    /// # Errors
    ///
    /// Those of the two.
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
