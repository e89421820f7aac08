//! Why a private key, or a file with one, is refused or can't be made.

use pq_keys::composite::CompositeKeyError;

use crate::encoding::{ArmorError, TextError, WireError};
use crate::keys::KeyError;

/// Why a private key could not be read, made or written.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum PrivateKeyError {
    /// The text is not valid armor.
    #[error("{0}")]
    Armor(ArmorError),
    /// The bytes end too early or too late.
    #[error("{0}")]
    Wire(WireError),
    /// The bytes don't begin with `openssh-key-v1`.
    #[error("the file is not a private key in version 1 of OpenSSH's format")]
    NotAKeyFile,
    /// The file is encrypted in a way that is not supported.
    #[error(
        "the file is encrypted with \"{cipher}\" and \"{kdf}\"; only AES in counter mode or GCM and ChaCha20-Poly1305, with \
         bcrypt, are supported: encrypt it again with `ssh-keygen -p -Z aes256-ctr`"
    )]
    Encryption {
        /// The cipher's name as the file has it, shortened and escaped.
        cipher: String,
        /// The key derivation function's name as the file has it, shortened and escaped.
        kdf: String,
    },
    /// The file's encryption parameters or its layout are wrong.
    #[error("malformed private key: {0}")]
    Malformed(&'static str),
    /// There are several keys in the file, or none.
    #[error("there are {0} keys in the file; there must be exactly one")]
    KeyCount(u32),
    /// Trying a passphrase would take too long. Nothing was computed.
    #[error(
        "the file asks for {rounds} rounds of bcrypt, but at most {limit} are accepted: accept more if you \
         trust the file and have the time"
    )]
    TooManyRounds {
        /// The number of rounds in the file.
        rounds: u32,
        /// The accepted number of rounds.
        limit: u32,
    },
    /// The passphrase is empty, or the number of rounds is zero.
    #[error("a passphrase needs at least one byte, and bcrypt at least one round")]
    EmptyPassphrase,
    /// The file is encrypted, and there was no passphrase.
    #[error("the private key is protected by a passphrase: provide the passphrase")]
    PassphraseNeeded,
    /// The passphrase is wrong, or the file was changed.
    #[error("the passphrase is wrong, or the file is damaged")]
    WrongPassphrase,
    /// The public key in the file does not belong to the private key.
    #[error("the public key in the file belongs to another private key: the file was changed")]
    PublicKeyMismatch,
    /// The public key or the comment can't be used.
    #[error("{0}")]
    PublicKey(KeyError),
    /// The private key itself is invalid, or can't be used.
    #[error("{0}")]
    Key(CompositeKeyError),
    /// The operating system gave no randomness.
    #[error("the operating system gave no randomness")]
    Randomness,
}

impl From<ArmorError> for PrivateKeyError {
    fn from(error: ArmorError) -> Self {
        Self::Armor(error)
    }
}

impl From<WireError> for PrivateKeyError {
    fn from(error: WireError) -> Self {
        Self::Wire(error)
    }
}

impl From<KeyError> for PrivateKeyError {
    fn from(error: KeyError) -> Self {
        Self::PublicKey(error)
    }
}

impl From<TextError> for PrivateKeyError {
    fn from(error: TextError) -> Self {
        Self::PublicKey(error.into())
    }
}

impl From<CompositeKeyError> for PrivateKeyError {
    fn from(error: CompositeKeyError) -> Self {
        match error {
            CompositeKeyError::Randomness => Self::Randomness,
            error => Self::Key(error),
        }
    }
}
