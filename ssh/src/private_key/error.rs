use rustls_pq::composite::CompositeKeyError;

use crate::encoding::{ArmorError, TextError, WireError};
use crate::keys::KeyError;

/// Why a private key could not be read, made or written.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum PrivateKeyError {
    /// The text is no armor.
    #[error("{0}")]
    Armor(ArmorError),
    /// The bytes end too early or too late.
    #[error("{0}")]
    Wire(WireError),
    /// The bytes don't begin with `openssh-key-v1`.
    #[error("the file is no private key of version 1 of OpenSSH's format")]
    NotAKeyFile,
    /// The file is encrypted otherwise.
    #[error(
        "the file is encrypted by \"{cipher}\" and \"{kdf}\"; aes256-ctr and bcrypt are read: write it again \
         by `ssh-keygen -p -Z aes256-ctr`"
    )]
    Encryption {
        /// The cipher's name, of strangers.
        cipher: String,
        /// The name of the key derivation function, of strangers.
        kdf: String,
    },
    /// What the file says of its encryption makes no sense.
    #[error("malformed private key: {0}")]
    Malformed(&'static str),
    /// There are several keys in the file, or none.
    #[error("there are {0} keys in the file; there may be one")]
    KeyCount(u32),
    /// Trying a passphrase would take too long. Nothing was computed.
    #[error(
        "the file asks for {rounds} rounds of bcrypt, and {limit} are accepted: accept more if you trust the \
         file and have the time"
    )]
    TooManyRounds {
        /// What the file asks for.
        rounds: u32,
        /// What is accepted.
        limit: u32,
    },
    /// A passphrase has to be something, and bcrypt has to have a round.
    #[error("a passphrase has at least one byte, and at least one round")]
    EmptyPassphrase,
    /// The file is encrypted, and there was no passphrase.
    #[error("the private key is protected by a passphrase: give that")]
    PassphraseNeeded,
    /// The passphrase is another one, or the file was changed.
    #[error("the passphrase is wrong, or the file is damaged")]
    WrongPassphrase,
    /// The public key in the file is not that of the private key.
    #[error("the public key in the file belongs to another private key: the file was changed")]
    PublicKeyMismatch,
    /// What the file has of the public key can't be used, nor a comment.
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
