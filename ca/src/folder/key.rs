use core::error::Error;

use pq_x509::{KeyError, Signer, SigningKey};
use zeroize::Zeroizing;

/// A key of a CA that its folder keeps as PEM in a file.
///
/// [`SigningKey`] is one. Implement this trait for keys of other algorithms, or for what names a key
/// in a hardware module.
pub trait StoredKey: Signer + Sized {
    /// Why a key can't be read or written.
    type Error: Into<Box<dyn Error + Send + Sync>>;

    /// Reads a key.
    ///
    /// # Errors
    ///
    /// What is wrong with the text.
    fn from_pem(text: &str) -> Result<Self, Self::Error>;

    /// What [`from_pem`](Self::from_pem) reads.
    ///
    /// # Errors
    ///
    /// Whatever keeps the key from being written.
    fn to_pem(&self) -> Result<Zeroizing<String>, Self::Error>;
}

impl StoredKey for SigningKey {
    type Error = KeyError;

    fn from_pem(text: &str) -> Result<Self, Self::Error> {
        Self::from_pkcs8_pem(text)
    }

    fn to_pem(&self) -> Result<Zeroizing<String>, Self::Error> {
        self.to_pkcs8_pem()
    }
}
