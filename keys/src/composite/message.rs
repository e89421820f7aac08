//! The message representative M′, which both halves sign: of a message in one piece, or in many.

use core::fmt;

use pq_core::ml_dsa::PreHasher;

use super::algorithm::CompositeAlgorithm;
use super::error::CompositeKeyError;

/// Hashes a message in pieces, for signing or verifying.
///
/// For instance a file that is larger than the memory:
///
/// ```
/// use pq_keys::composite::{CompositeAlgorithm, CompositeKey, MessageHasher};
///
/// let algorithm = CompositeAlgorithm::MlDsa44Ed25519Sha512;
/// let key = CompositeKey::generate(algorithm)?;
/// let mut hasher = MessageHasher::new(algorithm, b"backups")?;
/// for piece in ["mess", "age"] {
///     hasher.update(piece.as_bytes());
/// }
/// let message = hasher.finish();
/// let signature = key.sign_hashed(&message)?;
/// key.public_key().verify_hashed(&message, &signature)?;
/// key.public_key().verify_with_context(b"message", &signature, b"backups")?;
/// # Ok::<_, pq_keys::composite::CompositeKeyError>(())
/// ```
pub struct MessageHasher {
    algorithm: CompositeAlgorithm,
    hasher: PreHasher,
    /// M′ without the digest.
    start: Vec<u8>,
}

impl MessageHasher {
    /// Begins a message, with a context of at most 255 bytes.
    ///
    /// # Errors
    ///
    /// [`CompositeKeyError::ContextTooLong`].
    pub fn new(algorithm: CompositeAlgorithm, context: &[u8]) -> Result<Self, CompositeKeyError> {
        let len = u8::try_from(context.len())
            .map_err(|_| CompositeKeyError::ContextTooLong(context.len()))?;
        Ok(Self {
            algorithm,
            hasher: algorithm.pre_hash().hasher(),
            start: [PREFIX, algorithm.label().as_bytes(), &[len], context].concat(),
        })
    }

    /// Takes the next bytes of the message. Long pieces are faster than short ones.
    pub fn update(&mut self, message: &[u8]) {
        self.hasher.update(message);
    }

    /// Ends the message.
    pub fn finish(self) -> HashedMessage {
        let mut representative = self.start;
        representative.extend_from_slice(self.hasher.finish().as_bytes());
        HashedMessage {
            algorithm: self.algorithm,
            representative,
        }
    }
}

impl fmt::Debug for MessageHasher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MessageHasher")
            .field("algorithm", &self.algorithm)
            .finish_non_exhaustive()
    }
}

/// A hashed message, which both halves of a key sign.
///
/// It is M′ of the draft: the combination, the context and the hash of the message. It is not secret.
///
/// [`signing::HashedMessage`](crate::signing::HashedMessage) is for keys of ML-DSA and SLH-DSA alone.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct HashedMessage {
    algorithm: CompositeAlgorithm,
    representative: Vec<u8>,
}

impl HashedMessage {
    /// Hashes a whole message.
    pub(super) fn of(
        algorithm: CompositeAlgorithm,
        message: &[u8],
        context: &[u8],
    ) -> Result<Self, CompositeKeyError> {
        let mut hasher = MessageHasher::new(algorithm, context)?;
        hasher.update(message);
        Ok(hasher.finish())
    }

    /// The combination that it was hashed for.
    pub fn algorithm(&self) -> CompositeAlgorithm {
        self.algorithm
    }

    /// M′ ← Prefix ‖ Label ‖ len(ctx) ‖ ctx ‖ PH(M), for keys of this algorithm.
    pub(super) fn for_key_of(&self, key: CompositeAlgorithm) -> Result<&[u8], CompositeKeyError> {
        match self.algorithm == key {
            true => Ok(&self.representative),
            false => Err(CompositeKeyError::OtherAlgorithm {
                hashed_for: self.algorithm,
                key,
            }),
        }
    }
}

const PREFIX: &[u8] = b"CompositeAlgorithmSignatures2025";
