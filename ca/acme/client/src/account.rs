//! The key of an account: in a file of its own, made when it is needed first.

use core::fmt;
use core::sync::atomic::{AtomicBool, Ordering};
use std::path::{Path, PathBuf};

use pq_acme::problem::Problem;
use pq_keys::Signer;
use pq_keys::any::{AnyAlgorithm, AnyKeyError, AnyPrivateKey, AnySigningKey};
use pq_keys::files::{Access, FileError, read_private, write_new, write_over};
use tokio::task::{JoinError, spawn_blocking};
use zeroize::Zeroizing;

/// An account's key, and the file that it is in.
pub struct Account {
    key: Box<dyn Signer>,
    file: PathBuf,
    /// What is to be written, if the key is new.
    new: Option<Zeroizing<String>>,
    is_written: AtomicBool,
}

/// The kinds of keys, by their names here and in JOSE, the best first: all CAs that don't know ML-DSA know the second.
const KINDS: [(&str, &str); 7] = [
    ("ML-DSA-65", "ML-DSA-65"),
    ("ECDSA-P256", "ES256"),
    ("ECDSA-P384", "ES384"),
    ("Ed25519", "EdDSA"),
    ("ML-DSA-87", "ML-DSA-87"),
    ("ML-DSA-44", "ML-DSA-44"),
    ("RSA-2048", "RS256"),
];

/// The most bytes of a file with a private key.
const MAX_KEY: usize = 64 << 10;

/// Why there is no key for an account.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AccountError {
    /// The file can't be read.
    #[error("the account's key in {} can't be read: {error}", .file.display())]
    Read {
        /// The file.
        file: PathBuf,
        /// What the operating system says.
        error: std::io::Error,
    },
    /// The file has no key that signs.
    #[error("{} has no private key that signs in PEM: {error}", .file.display())]
    Key {
        /// The file.
        file: PathBuf,
        /// What is wrong with it.
        error: AnyKeyError,
    },
    /// No key can be made.
    #[error("no key can be made for the account: {0}")]
    Making(AnyKeyError),
    /// A new key can't be written.
    #[error("the account's key: {0}")]
    Write(FileError),
    /// Writing it ended before it was done.
    #[error("writing the account's key was broken off: {0}")]
    BrokenOff(JoinError),
    /// The server takes other keys only.
    #[error(
        "the server takes keys of {0} for accounts, none of which this program makes; use another server"
    )]
    NoKind(String),
}

impl Account {
    /// The key of a file in PEM, which nobody else may read, or a new one of ML-DSA-65 for it.
    ///
    /// # Errors
    ///
    /// [`AccountError`] if what is there can't be read, or no key can be made.
    pub fn open(file: &Path) -> Result<Self, AccountError> {
        if !file.exists() {
            return Self::new(file);
        }
        let text = read_private(file, MAX_KEY).map_err(|error| AccountError::Read {
            file: file.into(),
            error,
        })?;
        let key = AnySigningKey::from_pem(&*text).map_err(|error| AccountError::Key {
            file: file.into(),
            error,
        })?;
        Ok(Self::of(key, file))
    }

    /// A new key of ML-DSA-65, which is written to this file before a server hears of it.
    ///
    /// # Errors
    ///
    /// [`AccountError::Making`] if there is no randomness.
    pub fn new(file: &Path) -> Result<Self, AccountError> {
        Self::make(file.into(), KINDS[0].0, false)
    }

    /// A key that is in this file already, and has had an account, as far as anybody knows.
    pub fn of(key: impl Signer + 'static, file: &Path) -> Self {
        Self {
            key: Box::new(key),
            file: file.into(),
            new: None,
            is_written: AtomicBool::new(true),
        }
    }

    fn make(file: PathBuf, kind: &str, is_written: bool) -> Result<Self, AccountError> {
        let algorithm = AnyAlgorithm::named(kind);
        let algorithm = algorithm.ok_or_else(|| AccountError::NoKind(kind.into()))?;
        let key = AnyPrivateKey::generate(algorithm).map_err(AccountError::Making)?;
        Ok(Self {
            new: Some(key.to_pkcs8_pem().map_err(AccountError::Making)?),
            key: Box::new(AnySigningKey::try_from(key).map_err(AccountError::Making)?),
            file,
            is_written: AtomicBool::new(is_written),
        })
    }

    /// Writes a new key to its file, before the server hears of it: an account whose key is lost is of no use.
    pub(crate) async fn write(&self) -> Result<(), AccountError> {
        if self.is_written.load(Ordering::Acquire) {
            return Ok(());
        }
        self.write_by(write_new).await
    }

    async fn write_by(
        &self,
        write: impl Fn(&Path, &[u8], Access) -> Result<(), FileError> + Send + 'static,
    ) -> Result<(), AccountError> {
        if let Some(pem) = self.new.clone() {
            let file = self.file.clone();
            let written = spawn_blocking(move || write(&file, pem.as_bytes(), Access::Private));
            let written = written.await.map_err(AccountError::BrokenOff)?;
            written.map_err(AccountError::Write)?;
        }
        self.is_written.store(true, Ordering::Release);
        Ok(())
    }

    /// The key.
    pub fn key(&self) -> &dyn Signer {
        &*self.key
    }

    /// Its file.
    pub fn file(&self) -> &Path {
        &self.file
    }

    /// Whether the key was there before.
    pub fn is_old(&self) -> bool {
        self.new.is_none()
    }

    /// From now on the server knows it.
    pub(crate) fn is_known(&mut self) {
        self.new = None;
    }

    /// Takes a key of another kind, of those that the server takes, in place of the first, which has no account. Returns the
    /// kind.
    pub(crate) async fn change_kind(
        &mut self,
        problem: &Problem,
        tried: &[String],
    ) -> Result<&'static str, AccountError> {
        let taken = &problem.algorithms;
        let is_taken = |name: &str| match taken.is_empty() {
            // It doesn't say; all know this one.
            true => name == "ES256",
            false => taken.iter().any(|one| one == name),
        };
        let mut kinds = KINDS.iter();
        let kind = kinds.find(|(_, name)| is_taken(name) && !tried.iter().any(|one| one == name));
        let Some((kind, _)) = kind else {
            let told: Vec<&str> = taken.iter().map(AsRef::as_ref).collect();
            return Err(AccountError::NoKind(match told.is_empty() {
                true => problem.to_string(),
                false => told.join(", "),
            }));
        };
        let other = Self::make(
            self.file.clone(),
            kind,
            self.is_written.load(Ordering::Acquire),
        )?;
        if other.is_written.load(Ordering::Acquire) {
            // The first one has no account.
            other.write_by(write_over).await?;
        }
        *self = other;
        Ok(kind)
    }
}

impl fmt::Debug for Account {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Account")
            .field("file", &self.file)
            .finish_non_exhaustive()
    }
}
