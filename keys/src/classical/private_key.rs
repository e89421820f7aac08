//! The traits behind which the implementation of private keys is: one for keys that sign, one for keys that agree on
//! secrets.

use zeroize::Zeroizing;

use super::algorithm::RsaScheme;
use super::error::ClassicalKeyError;

/// A private key of one algorithm.
pub(super) trait PrivateKey: Send + Sync {
    /// The DER of the public half's SubjectPublicKeyInfo.
    fn spki(&self) -> Vec<u8>;

    /// The DER of the key in PKCS#8, version 1.
    fn pkcs8(&self) -> Zeroizing<Vec<u8>>;

    /// The scalar or the seed; `None` for RSA.
    fn raw(&self) -> Option<Zeroizing<Vec<u8>>>;

    /// The contents of a certificate's signature field. Keys other than RSA ignore the scheme.
    fn sign(&self, message: &[u8], rsa: RsaScheme) -> Result<Vec<u8>, ClassicalKeyError>;
}

/// A private key of one key agreement algorithm.
pub(super) trait Agreeing: Send + Sync {
    /// The bits of the public half's SubjectPublicKeyInfo.
    fn public_key(&self) -> Vec<u8>;

    /// The DER of the key in PKCS#8, version 1.
    fn pkcs8(&self) -> Zeroizing<Vec<u8>>;

    /// The scalar, or the private key of X25519.
    fn raw(&self) -> Zeroizing<Vec<u8>>;

    /// The shared secret with a public key, given by its bits.
    fn agree(&self, public_key: &[u8]) -> Result<Zeroizing<Vec<u8>>, ClassicalKeyError>;
}
