//! With the parameter sets of SP 800-230 (draft) a key may sign only 2²⁴ times. This is the type that counts, so it is
//! the only one that signs with these sets.

use core::fmt;

use zeroize::ZeroizeOnDrop;

use super::message::Message;
use super::parallel::ProgressHook;
use super::params::ParameterSet;
use super::signature::Signature;
use super::signing_key::SigningKey;
use super::verifying_key::VerifyingKey;
use crate::Error;
use crate::arch::try_in_place;
use crate::dimension::Array;
use crate::place;

/// A signing key that counts its signatures and makes at most
/// [`MAX_SIGNATURES`](ParameterSet::MAX_SIGNATURES).
///
/// It is the only type that signs with sets that have such a limit: a [`SigningKey`] of theirs makes
/// and stores keys, but calls of its signing functions and of `clone` do not compile. The counter
/// owns the key, so no second counter and no other caller signs with it.
///
/// The caller has to store the count: [`signatures`](Self::signatures) returns it, and
/// [`new`](Self::new) takes it again. Before each signature, store the count plus one, or before
/// each hundred signatures the count plus a hundred, in a place that survives a crash of the
/// program and its machine. A crash then wastes the signatures that were not made, but never lets
/// the key make more than were counted. The limit applies to the key, not to each copy of its bytes:
/// if you read them twice, or restore them from a backup, divide the remaining signatures among the
/// copies.
///
/// ```
/// use pq_core::Error;
/// use pq_core::slh_dsa::{LimitedSigningKey, ParameterSet, SigningKey, SlhDsaSha2_128_24};
///
/// // A key that was made before, and how many signatures it has made.
/// let mut place = None;
/// let stored = 1 << 24;
/// let key = LimitedSigningKey::<SlhDsaSha2_128_24>::from_bytes_into(&[7; 64], stored, &mut place)?;
///
/// assert_eq!(key.remaining(), 0);
/// let signed = key.sign(b"message", b"context", &[7; 16]);
/// assert!(matches!(signed, Err(Error::SignatureLimit)));
/// # Ok::<(), Error>(())
/// ```
///
/// Nothing else signs with these sets:
///
/// ```compile_fail,E0080
/// use pq_core::slh_dsa::{SigningKey, SlhDsaSha2_128_24};
///
/// let key = SigningKey::<SlhDsaSha2_128_24>::from_bytes(&[7; 64]).unwrap();
/// let signed = key.sign(b"message", b"context", &[7; 16]);
/// ```
///
/// Nor is there a second key for a second counter:
///
/// ```compile_fail,E0080
/// use pq_core::slh_dsa::{SigningKey, SlhDsaSha2_128_24};
///
/// let key = SigningKey::<SlhDsaSha2_128_24>::from_bytes(&[7; 64]).unwrap();
/// let second = key.clone();
/// ```
pub struct LimitedSigningKey<P: ParameterSet> {
    key: SigningKey<P>,
    signatures: u64,
}

impl<P: ParameterSet> LimitedSigningKey<P> {
    /// The key, which has already made `signatures` signatures.
    ///
    /// Moving a key leaves its old bytes behind: [`from_bytes_into`](Self::from_bytes_into) moves
    /// none.
    pub fn new(key: SigningKey<P>, signatures: u64) -> Self {
        Self { key, signatures }
    }

    /// [`SigningKey::from_bytes_into`], of a key that has already made `signatures` signatures.
    ///
    /// # Errors
    ///
    /// [`Error::WrongLength`]; then `place` is empty.
    pub fn from_bytes_into<'p>(
        bytes: &[u8],
        signatures: u64,
        place: &'p mut Option<Self>,
    ) -> Result<&'p mut Self, Error> {
        let zero = || Self::new(SigningKey::zero(), signatures);
        place::try_insert(place, zero, |this| this.key.decode(bytes))?;
        Ok(place.as_mut().expect("it was put there"))
    }

    /// The key, for example to store it.
    pub fn key(&self) -> &SigningKey<P> {
        &self.key
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
    pub fn verifying_key(&self) -> &VerifyingKey<P> {
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
            .sign_counted_into(message, context, randomness, progress, signature)
    }
}

/// The key wipes itself.
impl<P: ParameterSet> ZeroizeOnDrop for LimitedSigningKey<P> {}

/// Shows the public part and the count.
impl<P: ParameterSet> fmt::Debug for LimitedSigningKey<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LimitedSigningKey")
            .field("key", &self.key)
            .field("signatures", &self.signatures)
            .finish()
    }
}
