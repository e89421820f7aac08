use core::fmt;

use super::message::Message;
use super::parallel::ProgressHook;
use super::params::ParameterSet;
use super::signature::Signature;
use super::signing_key::SigningKey;
use super::verifying_key::VerifyingKey;
use crate::Error;
use crate::arch::try_in_place;
use crate::dimension::Array;

/// A signing key that counts its signatures and makes at most
/// [`MAX_SIGNATURES`](ParameterSet::MAX_SIGNATURES).
///
/// The caller has to store the count: [`signatures`](Self::signatures) returns it, and
/// [`new`](Self::new) takes it again. Before each signature, store the count plus one, or before
/// each hundred signatures the count plus a hundred, in a place that survives a crash of the
/// program and its machine. A crash then wastes the signatures that were not made, but never lets
/// the key make more than were counted. The limit applies to the key, not to each copy: if you copy
/// a key, or restore it from a backup, divide the remaining signatures among the copies.
///
/// ```
/// use pq_core::Error;
/// use pq_core::slh_dsa::{LimitedSigningKey, ParameterSet, SigningKey, SlhDsaSha2_128_24};
///
/// // A key that was made before, and how many signatures it has made.
/// let key = SigningKey::<SlhDsaSha2_128_24>::from_bytes(&[7; 64])?;
/// let stored = 1 << 24;
///
/// let mut key = LimitedSigningKey::new(&key, stored);
/// assert_eq!(key.remaining(), 0);
/// let signed = key.sign(b"message", b"context", &[7; 16]);
/// assert!(matches!(signed, Err(Error::SignatureLimit)));
/// # Ok::<(), Error>(())
/// ```
pub struct LimitedSigningKey<'k, P: ParameterSet> {
    key: &'k SigningKey<P>,
    signatures: u64,
}

impl<'k, P: ParameterSet> LimitedSigningKey<'k, P> {
    /// The key, which has already made `signatures` signatures.
    pub fn new(key: &'k SigningKey<P>, signatures: u64) -> Self {
        Self { key, signatures }
    }

    /// How many signatures the key has made, including failed attempts.
    pub fn signatures(&self) -> u64 {
        self.signatures
    }

    /// How many more signatures the key may make.
    pub fn remaining(&self) -> u64 {
        P::MAX_SIGNATURES.saturating_sub(self.signatures)
    }

    /// The verifying key of the pair.
    pub fn verifying_key(&self) -> &'k VerifyingKey<P> {
        self.key.verifying_key()
    }

    /// [`SigningKey::sign`], counted.
    ///
    /// # Errors
    ///
    /// [`Error::SignatureLimit`] if none [remains](Self::remaining); those of [`SigningKey::sign`].
    pub fn sign(
        &mut self,
        message: &[u8],
        context: &[u8],
        randomness: &Array<P::N, u8>,
    ) -> Result<Signature<P>, Error> {
        let message = Message::Pure(message);
        try_in_place(Signature::zero, |signature| {
            let bytes = signature.as_mut_bytes();
            self.sign_into(message, context, Some(randomness), &|_| (), bytes)
        })
    }

    /// [`SigningKey::sign_into`], counted even if it fails.
    ///
    /// # Errors
    ///
    /// [`Error::SignatureLimit`], with `signature` unchanged, if none [remains](Self::remaining);
    /// those of [`SigningKey::sign_into`].
    pub fn sign_into(
        &mut self,
        message: Message<'_>,
        context: &[u8],
        randomness: Option<&Array<P::N, u8>>,
        progress: ProgressHook<'_>,
        signature: &mut [u8],
    ) -> Result<(), Error> {
        if self.remaining() == 0 {
            return Err(Error::SignatureLimit);
        }
        self.signatures += 1;
        self.key
            .sign_into(message, context, randomness, progress, signature)
    }
}

/// Shows the public part and the count.
impl<P: ParameterSet> fmt::Debug for LimitedSigningKey<'_, P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LimitedSigningKey")
            .field("key", &self.key)
            .field("signatures", &self.signatures)
            .finish()
    }
}
