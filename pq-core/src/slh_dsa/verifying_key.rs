//! `VerifyingKey`, and the functions that verify (FIPS 205, section 10.3). What they compute is in `algorithms`.

use super::message::Message;
use super::params::ParameterSet;
use super::signature::Signature;
use crate::Error;
use crate::arch::choose;
use crate::dimension::{Array, Dimension, array};
use crate::hex::public_bytes;
use crate::prehash::PreHash;

/// A verifying key: any bytes of the right length.
#[derive(Clone)]
pub struct VerifyingKey<P: ParameterSet> {
    /// PK.seed ‖ PK.root
    bytes: Array<P::VerifyingKeyLen, u8>,
}

impl<P: ParameterSet> VerifyingKey<P> {
    /// Reads a verifying key of
    /// [`P::VERIFYING_KEY_LEN`](ParameterSet::VERIFYING_KEY_LEN) bytes.
    ///
    /// # Errors
    ///
    /// [`Error::WrongLength`].
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, Error> {
        array::<P::VerifyingKeyLen>(bytes).map(|bytes| Self { bytes })
    }

    /// The key as the standard encodes it (FIPS 205, figure 16).
    pub fn as_bytes(&self) -> &[u8] {
        self.bytes.as_ref()
    }

    /// Verifies `signature` of `message` with `context` (slh_verify, FIPS 205, algorithm 24).
    ///
    /// # Errors
    ///
    /// [`Error::InvalidSignature`]; [`Error::ContextTooLong`] if `context` has more than
    /// 255 bytes.
    pub fn verify(
        &self,
        message: &[u8],
        context: &[u8],
        signature: &Signature<P>,
    ) -> Result<(), Error> {
        self.verify_bytes(Message::Pure(message), context, signature.as_bytes())
    }

    /// Verifies a signature that was made by
    /// [`SigningKey::hash_sign`](super::SigningKey::hash_sign) (hash_slh_verify, FIPS 205,
    /// algorithm 25).
    ///
    /// # Errors
    ///
    /// [`Error::InvalidSignature`]; [`Error::ContextTooLong`] if `context` has more than
    /// 255 bytes.
    pub fn hash_verify(
        &self,
        hash: PreHash,
        message: &[u8],
        context: &[u8],
        signature: &Signature<P>,
    ) -> Result<(), Error> {
        let message = Message::Hashed(hash, message);
        self.verify_bytes(message, context, signature.as_bytes())
    }

    /// Verifies a signature of a digest that was computed elsewhere, as
    /// [`hash_verify`](Self::hash_verify) does after hashing.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidSignature`]; [`Error::ContextTooLong`] if `context` has more than 255 bytes;
    /// [`Error::WrongLength`] if `digest` does not have the [length](PreHash::digest_len) of
    /// digests of `hash`.
    pub fn verify_digest(
        &self,
        hash: PreHash,
        digest: &[u8],
        context: &[u8],
        signature: &Signature<P>,
    ) -> Result<(), Error> {
        let message = Message::Digest(hash, digest);
        self.verify_bytes(message, context, signature.as_bytes())
    }

    /// Verifies a signature in a slice; all other verifying functions call this one.
    ///
    /// # Errors
    ///
    /// [`Error::WrongLength`] if `signature` does not have
    /// [`P::SIGNATURE_LEN`](ParameterSet::SIGNATURE_LEN) bytes, or a [digest](Message::Digest) does
    /// not have the [length](PreHash::digest_len) of its hash function;
    /// [`Error::InvalidSignature`]; [`Error::ContextTooLong`] if `context` has more than 255 bytes.
    pub fn verify_bytes(
        &self,
        message: Message<'_>,
        context: &[u8],
        signature: &[u8],
    ) -> Result<(), Error> {
        Error::check_length(P::SIGNATURE_LEN, signature)?;
        let backend = choose();
        let valid = message.format(backend, context, |parts| {
            P::verify(backend, self, parts, signature)
        })?;
        if valid {
            Ok(())
        } else {
            Err(Error::InvalidSignature)
        }
    }

    /// PK.seed ‖ PK.root, of n bytes each.
    pub(super) fn from_parts(pk_seed: &[u8], pk_root: &[u8]) -> Self {
        let (seed, root) = (pk_seed.iter(), pk_root.iter());
        let mut bytes = seed.chain(root).copied();
        Self {
            bytes: P::VerifyingKeyLen::from_fn(|_| bytes.next().expect("2n bytes in two parts")),
        }
    }

    pub(super) fn pk_seed(&self) -> &[u8] {
        &self.as_bytes()[..P::N::N]
    }

    pub(super) fn pk_root(&self) -> &[u8] {
        &self.as_bytes()[P::N::N..]
    }
}

public_bytes!(VerifyingKey);
