//! The thumbprint of a key. `jwk` and `cose` decide what is hashed for it.

use core::fmt;

use pq_keys::signing::PreHash;

use crate::encoding::base64url;

/// The SHA-256 thumbprint of a key.
///
/// RFC 7638 defines the thumbprint of a [`Jwk`](crate::jwk::Jwk), and RFC 9679 that of a
/// [`CoseKey`](crate::cose::CoseKey). The two differ. `Display` writes base64url, as in key identifiers of JOSE.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub struct Thumbprint([u8; 32]);

impl Thumbprint {
    pub(crate) fn of(canonical: &[u8]) -> Self {
        let mut hasher = PreHash::Sha256.hasher();
        hasher.update(canonical);
        let mut hash = [0; 32];
        hash.copy_from_slice(hasher.finish().as_bytes());
        Self(hash)
    }

    /// A thumbprint that was computed before.
    pub fn from_bytes(hash: [u8; 32]) -> Self {
        Self(hash)
    }

    /// The hash.
    pub fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

impl fmt::Display for Thumbprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&base64url::encode(&self.0))
    }
}
