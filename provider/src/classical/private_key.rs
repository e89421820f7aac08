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

/// A private key of one algorithm by which secrets are agreed on.
pub(super) trait Agreeing: Send + Sync {
    /// The bits of the public half's SubjectPublicKeyInfo.
    fn public_key(&self) -> Vec<u8>;

    /// The DER of the key in PKCS#8, version 1.
    fn pkcs8(&self) -> Zeroizing<Vec<u8>>;

    /// The secret in common with a public key, whose bits these are.
    fn agree(&self, public_key: &[u8]) -> Result<Zeroizing<Vec<u8>>, ClassicalKeyError>;
}
