//! The trait for keys that a CA's folder can store as a text, such as PEM, and its implementation for pq-keys's `SigningKey`.

use core::error::Error;

use pq_x509::keys::{KeyError, Signer, SigningKey};
use zeroize::Zeroizing;

/// A CA's key that is stored as a text in a file of the CA's folder.
///
/// [`SigningKey`] implements this trait, as PEM. Implement it for keys of other algorithms, or for references to keys in a key
/// store or a hardware module: their text says which key it is, and has no PEM in it.
/// [`authority_with`](super::Folder::authority_with) opens these.
pub trait StoredKey: Signer + Sized {
    /// Why a key can't be read or written.
    type Error: Into<Box<dyn Error + Send + Sync>>;

    /// Reads a key.
    ///
    /// # Errors
    ///
    /// If the text is not such a key.
    fn from_pem(text: &[u8]) -> Result<Self, Self::Error>;

    /// Reads another key that is kept as this one is, such as one under the same passphrase. Implement it for keys whose
    /// [text](Self::to_pem) is encrypted.
    ///
    /// # Errors
    ///
    /// If the text is not such a key.
    fn read_like(&self, text: &[u8]) -> Result<Self, Self::Error> {
        Self::from_pem(text)
    }

    /// The text that [`from_pem`](Self::from_pem) reads.
    ///
    /// # Errors
    ///
    /// If the key can't be written.
    fn to_pem(&self) -> Result<Zeroizing<String>, Self::Error>;
}

impl StoredKey for SigningKey {
    type Error = KeyError;

    fn from_pem(text: &[u8]) -> Result<Self, Self::Error> {
        Self::from_pkcs8_pem(text)
    }

    fn to_pem(&self) -> Result<Zeroizing<String>, Self::Error> {
        self.to_pkcs8_pem()
    }
}
