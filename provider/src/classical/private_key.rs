use zeroize::Zeroizing;

use super::algorithm::RsaScheme;
use super::error::ClassicalKeyError;

/// A private key of one algorithm.
pub(super) trait PrivateKey: Send + Sync {
    /// The DER of the public half's SubjectPublicKeyInfo.
    fn spki(&self) -> Vec<u8>;

    /// The DER of the key in PKCS#8, version 1.
    fn pkcs8(&self) -> Zeroizing<Vec<u8>>;

    /// The scalar or the seed, if the key is no more than that.
    fn raw(&self) -> Option<Zeroizing<Vec<u8>>>;

    /// The contents of a certificate's signature field. What is not RSA passes over the scheme.
    fn sign(&self, message: &[u8], rsa: RsaScheme) -> Result<Vec<u8>, ClassicalKeyError>;
}
