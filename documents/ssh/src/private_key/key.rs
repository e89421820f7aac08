//! Private keys: they are generated here, and read and written as armored text. `file` has the format inside the armor.

use core::fmt;

use pq_core::wiping_stack;
use pq_keys::composite::CompositeKey;
use zeroize::Zeroizing;

use super::error::PrivateKeyError;
use super::file;
use super::passphrase::Passphrase;
use crate::encoding::{decode, encode};
use crate::keys::{ALGORITHM, KeyName, PublicKey};

/// A private key with its comment: the content of a file such as `~/.ssh/id_mldsa44_ed25519`.
///
/// ```
/// use pq_ssh::{Passphrase, PrivateKey};
///
/// let key = PrivateKey::generate()?;
/// let passphrase = Passphrase::new(b"correct horse battery staple");
/// let file = key.to_openssh(Some(&passphrase))?;
/// let read = PrivateKey::from_openssh(&file, Some(&passphrase))?;
/// assert_eq!(read.public_key(), key.public_key());
/// # Ok::<_, pq_ssh::PrivateKeyError>(())
/// ```
///
/// # What a file protects
///
/// Reading finds every change to the keys: both public keys in the file are compared with the private key. Changes
/// to the comment or to the line breaks go unnoticed, even in an encrypted file.
#[derive(Clone)]
pub struct PrivateKey {
    key: CompositeKey,
    public_key: PublicKey,
}

impl PrivateKey {
    /// Makes a key from the operating system's randomness, without a comment.
    ///
    /// # Errors
    ///
    /// [`PrivateKeyError::Randomness`] if there is no randomness; [`PrivateKeyError::Key`] if the classical half
    /// can't be computed on this machine.
    pub fn generate() -> Result<Self, PrivateKeyError> {
        wiping_stack(|| Self::new(CompositeKey::generate(ALGORITHM)?))
    }

    /// The key for SSH, without a comment, named [`KeyName::Standard`].
    ///
    /// # Errors
    ///
    /// [`PrivateKeyError::PublicKey`] if the key's algorithm is not
    /// [`MlDsa44Ed25519Sha512`](pq_keys::composite::CompositeAlgorithm::MlDsa44Ed25519Sha512).
    pub fn new(key: CompositeKey) -> Result<Self, PrivateKeyError> {
        let public_key = PublicKey::new(key.public_key().clone())?;
        Ok(Self { key, public_key })
    }

    /// Reads a file. Its first line is the `BEGIN` line, and its last line the `END` line. For an unencrypted
    /// file, the passphrase is ignored.
    ///
    /// # Errors
    ///
    /// A [`PrivateKeyError`] that says what is wrong with the file: [`PrivateKeyError::PassphraseNeeded`] if it
    /// is encrypted and there is no passphrase; [`PrivateKeyError::TooManyRounds`], before anything is
    /// computed, if it asks for too many rounds.
    pub fn from_openssh(
        text: &str,
        passphrase: Option<&Passphrase<'_>>,
    ) -> Result<Self, PrivateKeyError> {
        wiping_stack(|| {
            let (key, public_key) = file::read(&decode(text, LABEL)?, passphrase)?;
            Ok(Self { key, public_key })
        })
    }

    /// The text that [`from_openssh`](Self::from_openssh) reads, encrypted if there is a passphrase. Each call
    /// returns another text: check words and salt are random.
    ///
    /// # Errors
    ///
    /// [`PrivateKeyError::Randomness`] if there is no randomness, and [`PrivateKeyError::EmptyPassphrase`].
    pub fn to_openssh(
        &self,
        passphrase: Option<&Passphrase<'_>>,
    ) -> Result<Zeroizing<String>, PrivateKeyError> {
        wiping_stack(|| {
            let bytes = file::write(&self.key, &self.public_key, passphrase)?;
            Ok(encode(LABEL, &bytes))
        })
    }

    /// The public key, with name and comment.
    pub fn public_key(&self) -> &PublicKey {
        &self.public_key
    }

    /// The same key under this name.
    #[must_use]
    pub fn with_name(self, name: KeyName) -> Self {
        Self {
            public_key: self.public_key.with_name(name),
            ..self
        }
    }

    /// The same key with this comment.
    ///
    /// # Errors
    ///
    /// [`PrivateKeyError::PublicKey`] if the comment has a control character or more than 1024 bytes.
    pub fn with_comment(self, comment: &str) -> Result<Self, PrivateKeyError> {
        Ok(Self {
            public_key: self.public_key.with_comment(comment)?,
            ..self
        })
    }

    /// The key itself, for certificates and other documents. Don't use the same key for SSH and for these.
    pub fn key(&self) -> &CompositeKey {
        &self.key
    }
}

impl fmt::Debug for PrivateKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PrivateKey")
            .field("public_key", &self.public_key)
            .finish_non_exhaustive()
    }
}

const LABEL: &str = "OPENSSH PRIVATE KEY";
