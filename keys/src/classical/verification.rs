//! `ClassicalVerification`: how signatures of one algorithm are verified, by bytes.

use core::fmt;

use pki_types::{AlgorithmIdentifier, InvalidSignature};

/// How signatures of one algorithm are verified, where keys and signatures are bytes: in certificates, for example.
///
/// pq-x509 has them as the algorithms that webpki takes.
pub struct ClassicalVerification {
    pub(super) name: &'static str,
    pub(super) key: AlgorithmIdentifier,
    pub(super) signature: AlgorithmIdentifier,
    pub(super) verify: Verify,
}

pub(super) type Verify =
    fn(public_key: &[u8], message: &[u8], signature: &[u8]) -> Result<(), InvalidSignature>;

impl ClassicalVerification {
    /// The AlgorithmIdentifier of keys.
    pub fn key_identifier(&self) -> AlgorithmIdentifier {
        self.key
    }

    /// The AlgorithmIdentifier of signatures.
    pub fn signature_identifier(&self) -> AlgorithmIdentifier {
        self.signature
    }

    /// Verifies a signature. `public_key` is the bits of a SubjectPublicKeyInfo.
    ///
    /// # Errors
    ///
    /// [`InvalidSignature`] for a wrong signature, and for bits that are no key.
    pub fn verify(
        &self,
        public_key: &[u8],
        message: &[u8],
        signature: &[u8],
    ) -> Result<(), InvalidSignature> {
        (self.verify)(public_key, message, signature)
    }
}

impl fmt::Debug for ClassicalVerification {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct(self.name)
            .field("key", &self.key)
            .field("signature", &self.signature)
            .finish_non_exhaustive()
    }
}
