//! The trait of places where private keys stay.

use pq_keys::any::{AnyAlgorithm, AnyPrivateKey, AnyPublicKey};
use zeroize::Zeroizing;

use super::error::TokenError;
use super::object::{ObjectId, TokenSerial};
use crate::policy::Input;

/// What a token signs, and by which key.
#[derive(Clone, Copy, Debug)]
pub struct TokenInput<'a> {
    /// Which key pair.
    pub object: &'a ObjectId,
    /// Its algorithm.
    pub algorithm: AnyAlgorithm,
    /// What is signed.
    pub input: Input<'a>,
}

/// A place that makes private keys, keeps them, and uses them for others.
///
/// All methods block, perhaps as long as the device likes: nobody can end a call of a module that hangs. So who serves others
/// calls them where blocking is allowed, and bounds the wait. They may be called by several threads.
///
/// What a token answers isn't believed: the store verifies each signature under the public key of the version before it gives
/// it out, and takes public keys and shared secrets only of the right form. A key is tried out when it was made or
/// imported, and when the store is checked. A shared secret can't be checked: whoever encapsulated it notices.
pub trait Token: Send + Sync {
    /// Makes a key pair that signs or decapsulates, whose private key can't be taken out, and returns its public key. The
    /// label is for people who look at the token. No object has this identifier before.
    ///
    /// # Errors
    ///
    /// [`TokenError::Unsupported`] if the token has no such keys, and others. There may be an object afterwards.
    fn generate(
        &self,
        algorithm: AnyAlgorithm,
        object: &ObjectId,
        label: &str,
    ) -> Result<AnyPublicKey, TokenError>;

    /// Puts a private key into the token, which gives it out no more than those that it made, and its public key beside it. No
    /// object has this identifier before.
    ///
    /// # Errors
    ///
    /// [`TokenError::Unsupported`] if the token takes no such keys, as tokens do that don't implement this, and others. There
    /// may be an object afterwards.
    fn import(
        &self,
        key: &AnyPrivateKey,
        object: &ObjectId,
        label: &str,
    ) -> Result<(), TokenError> {
        let _ = (object, label);
        Err(TokenError::Unsupported {
            what: format!("import keys of {}", key.algorithm()),
        })
    }

    /// Signs. The signature is as in certificates: DER of two integers for ECDSA (RFC 3279, section 2.2.3).
    ///
    /// # Errors
    ///
    /// [`TokenError::NoObject`], [`TokenError::Unsupported`] for an input that the token can't sign, and others.
    fn sign(&self, request: &TokenInput<'_>) -> Result<Vec<u8>, TokenError>;

    /// Decapsulates a secret of ML-KEM. The ciphertext has the algorithm's length.
    ///
    /// # Errors
    ///
    /// [`TokenError::NoObject`], [`TokenError::Unsupported`], and others.
    fn decapsulate(
        &self,
        object: &ObjectId,
        ciphertext: &[u8],
    ) -> Result<Zeroizing<[u8; 32]>, TokenError>;

    /// Removes a key pair, or what is left of it.
    ///
    /// # Errors
    ///
    /// [`TokenError::NoObject`] if the token has nothing of it, which may be another one than the token where it was made, and
    /// others if it may still be there.
    fn destroy(&self, object: &ObjectId) -> Result<(), TokenError>;

    /// The key pairs that the store with this number made, in any order, also those of which one half is left.
    ///
    /// # Errors
    ///
    /// If the token can't say so.
    fn objects(&self, store: [u8; 16]) -> Result<Vec<ObjectId>, TokenError>;

    /// How many private keys the token has under this identifier, as it says now: one, unless somebody changed what is in it.
    ///
    /// # Errors
    ///
    /// If the token can't say so.
    fn private_keys(&self, object: &ObjectId) -> Result<usize, TokenError>;

    /// The serial number of the token that is there now, if it has one. A store notes it beside each key that was made in it, and
    /// tells by it which of two tokens of one name a key is in. By default there is none.
    ///
    /// # Errors
    ///
    /// If the token can't say so.
    fn serial(&self) -> Result<Option<TokenSerial>, TokenError> {
        Ok(None)
    }

    /// What it is, in a few words for messages, without the PIN.
    fn description(&self) -> String;
}
