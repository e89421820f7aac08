//! What signer and verifier agree on (context and pre-hash), whether signing is hedged, and messages that are hashed in
//! pieces or elsewhere.

use alloc::boxed::Box;

use pq_core::ml_dsa::{Digest, MuHasher, PreHash, PreHasher};
use zeroize::Zeroizing;

use super::backend::Randomness;
use super::error::KeyError;
use super::random;

/// What signer and verifier must agree on beside the key, for ML-DSA and SLH-DSA.
///
/// The default is what certificates and TLS use: an empty context and no pre-hash.
///
/// ```
/// use pq_keys::signing::{PreHash, SignatureOptions, SigningVariant};
/// use pq_keys::{SignatureAlgorithm, SigningKey};
///
/// let key = SigningKey::generate(SignatureAlgorithm::MlDsa65)?;
/// let options = SignatureOptions::new().context(b"backups").pre_hash(PreHash::Sha512);
/// let signature = key.sign_with(b"message", &options, SigningVariant::Hedged)?;
///
/// let key = key.verifying_key();
/// key.verify_with(b"message", &signature, &options)?;
/// assert!(key.verify_with(b"message", &signature, &SignatureOptions::new()).is_err());
/// # Ok::<_, pq_keys::KeyError>(())
/// ```
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct SignatureOptions<'a> {
    pub(super) context: &'a [u8],
    pub(super) pre_hash: Option<PreHash>,
}

impl<'a> SignatureOptions<'a> {
    /// An empty context and no pre-hash.
    pub const fn new() -> Self {
        Self {
            context: &[],
            pre_hash: None,
        }
    }

    /// Sets the context, which keeps signatures for different purposes apart: at most 255 bytes.
    pub const fn context(self, context: &'a [u8]) -> Self {
        Self { context, ..self }
    }

    /// Signs a hash of the message, by HashML-DSA or HashSLH-DSA (FIPS 204, section 5.4; FIPS 205,
    /// section 10.2.2). The standards recommend using a key only with a pre-hash, or only without.
    pub const fn pre_hash(self, hash: PreHash) -> Self {
        Self {
            pre_hash: Some(hash),
            ..self
        }
    }
}

/// The two variants of signing (FIPS 204, section 3.4; FIPS 205, section 9.2). Verifiers can't tell
/// them apart.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum SigningVariant {
    /// With the operating system's randomness, against side channels and faults.
    #[default]
    Hedged,
    /// The same signature each time: for tests, and where there is no randomness. An attacker who measures
    /// or disturbs the computation can have it repeated.
    Deterministic,
}

impl SigningVariant {
    /// Signs with the randomness of the variant, if any.
    pub(super) fn sign(
        self,
        sign: impl FnOnce(Randomness<'_>) -> Result<Vec<u8>, KeyError>,
    ) -> Result<Vec<u8>, KeyError> {
        match self {
            Self::Hedged => {
                let mut randomness = Zeroizing::new([0; 32]);
                random::fill(&mut *randomness)?;
                sign(Some(&randomness))
            }
            Self::Deterministic => sign(None),
        }
    }
}

/// Hashes a message that comes in pieces, to sign it or to verify its signature.
///
/// The message can be larger than the memory. [`SigningKey::hasher`](crate::SigningKey::hasher) and
/// [`VerifyingKey::hasher`](crate::VerifyingKey::hasher) make a hasher.
///
/// Signatures are the same as those of the message in one piece.
///
/// ```
/// use pq_keys::signing::{SignatureOptions, SigningVariant};
/// use pq_keys::{SignatureAlgorithm, SigningKey};
///
/// let key = SigningKey::generate(SignatureAlgorithm::MlDsa65)?;
/// let mut hasher = key.hasher(&SignatureOptions::new())?;
/// for piece in ["mess", "age"] {
///     hasher.update(piece.as_bytes());
/// }
/// let message = hasher.finish();
/// let signature = key.sign_hashed(&message, SigningVariant::Hedged)?;
/// key.verifying_key().verify_hashed(&message, &signature)?;
/// key.verifying_key().verify(b"message", &signature)?;
/// # Ok::<_, pq_keys::KeyError>(())
/// ```
#[derive(Debug)]
pub struct MessageHasher(pub(super) Hashing);

#[derive(Debug)]
pub(super) enum Hashing {
    Mu(MuHasher),
    PreHash {
        hasher: PreHasher,
        context: Box<[u8]>,
    },
}

impl MessageHasher {
    /// Takes the next bytes of the message. Large pieces are faster.
    pub fn update(&mut self, message: &[u8]) {
        match &mut self.0 {
            Hashing::Mu(hasher) => hasher.update(message),
            Hashing::PreHash { hasher, .. } => hasher.update(message),
        }
    }

    /// Ends the message.
    pub fn finish(self) -> HashedMessage {
        HashedMessage(match self.0 {
            Hashing::Mu(hasher) => Hashed::Mu(hasher.finish()),
            Hashing::PreHash { hasher, context } => Hashed::PreHash {
                digest: hasher.finish(),
                context,
            },
        })
    }
}

/// A hashed message with its [`SignatureOptions`]: µ for ML-DSA, or for a pre-hash the digest with the
/// context.
///
/// It is short and not secret. So a large message need not go to where the signing key is: send its µ
/// ([`mu`](Self::mu)), and make it a `HashedMessage` there with [`from_mu`](Self::from_mu).
///
/// Other formats hash a message in their own ways, and so have types of this name: `pq_keys::composite` and `pq_ssh`.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct HashedMessage(pub(super) Hashed);

#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) enum Hashed {
    Mu([u8; 64]),
    PreHash { digest: Digest, context: Box<[u8]> },
}

impl HashedMessage {
    /// The message with this µ (external µ, FIPS 204, section 6.2), which depends on the key and
    /// includes the context.
    ///
    /// Nothing checks that µ belongs to the key that signs it. If it does not, nobody can verify the
    /// signature.
    pub fn from_mu(mu: [u8; 64]) -> Self {
        Self(Hashed::Mu(mu))
    }

    /// The message with this digest and a context of at most 255 bytes, for HashML-DSA or HashSLH-DSA.
    pub fn from_digest(digest: Digest, context: &[u8]) -> Self {
        let context = context.into();
        Self(Hashed::PreHash { digest, context })
    }

    /// µ, unless the message was hashed by a [pre-hash](SignatureOptions::pre_hash).
    pub fn mu(&self) -> Option<&[u8; 64]> {
        match &self.0 {
            Hashed::Mu(mu) => Some(mu),
            Hashed::PreHash { .. } => None,
        }
    }
}
