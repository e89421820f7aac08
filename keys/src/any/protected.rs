//! Private keys of every algorithm written under a passphrase.

use alloc::string::String;
use alloc::vec::Vec;

use super::private_key::AnyPrivateKey;
use super::signing_key::AnySigningKey;
use crate::protection::{EncryptedPrivateKey, Protection, ProtectionError};

impl AnyPrivateKey {
    /// Puts the key under a passphrase: EncryptedPrivateKeyInfo (RFC 5958, section 3) as DER, which
    /// [`read_private_key`](super::read_private_key) reads.
    ///
    /// The key has the [form](Self::preferred_form) that it has in the clear. [`EncryptedPrivateKey`] says how changes of
    /// the file are noticed.
    ///
    /// # Errors
    ///
    /// Those of [`EncryptedPrivateKey::encrypt`].
    pub fn to_encrypted_pkcs8_der(
        &self,
        passphrase: &[u8],
        protection: &Protection,
    ) -> Result<Vec<u8>, ProtectionError> {
        Ok(self.encrypt(passphrase, protection)?.as_der().to_vec())
    }

    /// The same as PEM.
    ///
    /// # Errors
    ///
    /// Those of [`to_encrypted_pkcs8_der`](Self::to_encrypted_pkcs8_der).
    pub fn to_encrypted_pkcs8_pem(
        &self,
        passphrase: &[u8],
        protection: &Protection,
    ) -> Result<String, ProtectionError> {
        Ok(self.encrypt(passphrase, protection)?.to_pem())
    }

    fn encrypt(
        &self,
        passphrase: &[u8],
        protection: &Protection,
    ) -> Result<EncryptedPrivateKey, ProtectionError> {
        EncryptedPrivateKey::encrypt(&self.pkcs8_der()?, passphrase, protection)
    }
}

impl AnySigningKey {
    /// Puts the key under a passphrase, as [`AnyPrivateKey::to_encrypted_pkcs8_der`] does.
    ///
    /// # Errors
    ///
    /// Those of [`EncryptedPrivateKey::encrypt`].
    pub fn to_encrypted_pkcs8_der(
        &self,
        passphrase: &[u8],
        protection: &Protection,
    ) -> Result<Vec<u8>, ProtectionError> {
        AnyPrivateKey::from(self.clone()).to_encrypted_pkcs8_der(passphrase, protection)
    }

    /// The same as PEM.
    ///
    /// # Errors
    ///
    /// Those of [`EncryptedPrivateKey::encrypt`].
    pub fn to_encrypted_pkcs8_pem(
        &self,
        passphrase: &[u8],
        protection: &Protection,
    ) -> Result<String, ProtectionError> {
        AnyPrivateKey::from(self.clone()).to_encrypted_pkcs8_pem(passphrase, protection)
    }
}
