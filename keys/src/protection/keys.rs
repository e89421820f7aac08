//! The keys of this crate under a passphrase.

use super::algorithms::Protection;
use super::encrypted_key::EncryptedPrivateKey;
use super::error::ProtectionError;
use crate::keys::{DecapsulationKey, PrivateKey, SigningKey};

/// Reading and writing keys under passphrases, the same for each type of private key.
macro_rules! encrypted_pkcs8_methods {
    ($($key:ident from $narrow:path),+) => {$(
        impl $key {
            /// Reads a PKCS#8 private key under a passphrase from DER, within the default
            /// [limits](super::CostLimits) on the cost.
            ///
            /// [`EncryptedPrivateKey`] says which changes of the file are detected.
            ///
            /// # Errors
            ///
            /// Those of [`EncryptedPrivateKey::from_der`] and [`EncryptedPrivateKey::decrypt_key`].
            pub fn from_encrypted_pkcs8_der(
                der: &[u8],
                passphrase: &[u8],
            ) -> Result<Self, ProtectionError> {
                let key = EncryptedPrivateKey::from_der(der)?.decrypt_key(passphrase)?;
                Ok($narrow(key)?)
            }

            /// Reads a key from the first `ENCRYPTED PRIVATE KEY` block of a PEM text, as
            /// [`from_encrypted_pkcs8_der`](Self::from_encrypted_pkcs8_der) does. Other blocks may
            /// stand around it.
            ///
            /// # Errors
            ///
            /// Those of [`EncryptedPrivateKey::from_pem`] and [`EncryptedPrivateKey::decrypt_key`].
            pub fn from_encrypted_pkcs8_pem(
                text: &(impl AsRef<[u8]> + ?Sized),
                passphrase: &[u8],
            ) -> Result<Self, ProtectionError> {
                let key = EncryptedPrivateKey::from_pem(text)?.decrypt_key(passphrase)?;
                Ok($narrow(key)?)
            }

            /// Writes the key under a passphrase, in the form that its algorithm
            /// [prefers](crate::Algorithm::preferred_form). For another one, give what
            /// [`to_pkcs8_der_as`](Self::to_pkcs8_der_as) returns to [`EncryptedPrivateKey::encrypt`].
            ///
            /// # Errors
            ///
            /// [`ProtectionError::Key`] if the key was read from its expanded form, and those of
            /// [`EncryptedPrivateKey::encrypt`].
            pub fn to_encrypted_pkcs8_der(
                &self,
                passphrase: &[u8],
                protection: &Protection,
            ) -> Result<Vec<u8>, ProtectionError> {
                Ok(self.encrypt(passphrase, protection)?.as_der().to_vec())
            }

            /// Writes the key as PEM, as [`to_encrypted_pkcs8_der`](Self::to_encrypted_pkcs8_der) does.
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
                let pkcs8 = self.to_pkcs8_der()?;
                EncryptedPrivateKey::encrypt(&pkcs8, passphrase, protection)
            }
        }
    )+};
}

encrypted_pkcs8_methods!(
    SigningKey from SigningKey::try_from,
    DecapsulationKey from DecapsulationKey::try_from,
    PrivateKey from Ok::<_, crate::keys::KeyError>
);
