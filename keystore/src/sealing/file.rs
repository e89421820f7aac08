//! KEKs that are 32 bytes in a file: of the operator, or a credential of systemd.

use std::ffi::OsString;
use std::io;
use std::path::Path;

use pq_keys::files::{credential_file, read_private};
use zeroize::Zeroizing;

use super::kek::{self, Kek, KekError, KekForm, MOST_READ, WrappedKey};
use super::{KEY_LEN, cipher};

/// A [`Kek`] in a file of 32 bytes, which nobody but its owner may read.
pub struct KeyFileKek(FileKek);

/// A [`Kek`] that is a credential of systemd (`LoadCredential=`, `LoadCredentialEncrypted=`): 32 bytes in a file of
/// `$CREDENTIALS_DIRECTORY`.
pub struct CredentialKek(FileKek);

struct FileKek {
    kind: &'static str,
    key: Zeroizing<[u8; KEY_LEN]>,
}

impl KeyFileKek {
    /// Reads the key.
    ///
    /// # Errors
    ///
    /// If it can't be read, if others may read it, or if it doesn't have 32 bytes.
    pub fn read(path: &Path) -> Result<Self, KekError> {
        FileKek::read("key-file", path).map(Self)
    }
}

impl CredentialKek {
    /// Reads the credential with this name, from the folder that `$CREDENTIALS_DIRECTORY` names.
    ///
    /// # Errors
    ///
    /// If the variable isn't set, if the name isn't one of a file, and as [`KeyFileKek::read`].
    pub fn read(name: &str) -> Result<Self, KekError> {
        Self::read_in(std::env::var_os("CREDENTIALS_DIRECTORY"), name)
    }

    fn read_in(folder: Option<OsString>, name: &str) -> Result<Self, KekError> {
        const KIND: &str = "credential";
        let refused = |reason: &str| KekError::NotAvailable {
            kind: KIND,
            error: io::Error::other(reason).into(),
        };
        let file = credential_file(folder, name).map_err(refused)?;
        FileKek::read(KIND, &file).map(Self)
    }
}

impl FileKek {
    fn read(kind: &'static str, path: &Path) -> Result<Self, KekError> {
        let unavailable = |error: io::Error| KekError::NotAvailable {
            kind,
            error: format!("{}: {error}", path.display()).into(),
        };
        let bytes = read_private(path, MOST_READ).map_err(unavailable)?;
        let mut key = Zeroizing::new([0; KEY_LEN]);
        if bytes.len() != KEY_LEN {
            return Err(KekError::Length {
                kind,
                file: path.into(),
                len: bytes.len(),
                form: KekForm::of(&bytes),
            });
        }
        key.copy_from_slice(&bytes);
        Ok(Self { kind, key })
    }

    fn wrap(&self, store_key: &[u8; KEY_LEN], bound: &[u8]) -> Result<WrappedKey, KekError> {
        // What is sealed under such a key from before is still opened, so that it can be put under another one.
        if self.key.iter().all(|byte| *byte == self.key[0]) {
            return Err(KekError::Guessable { kind: self.kind });
        }
        let ciphertext = cipher::seal(&self.key, bound, store_key);
        Ok(WrappedKey {
            parameters: Vec::new(),
            ciphertext: ciphertext.map_err(|error| KekError::NotAvailable {
                kind: self.kind,
                error: error.into(),
            })?,
        })
    }

    fn unwrap(
        &self,
        wrapped: &WrappedKey,
        bound: &[u8],
    ) -> Result<Zeroizing<[u8; KEY_LEN]>, KekError> {
        if !wrapped.parameters.is_empty() {
            return Err(KekError::Parameters {
                kind: self.kind,
                reason: "a key in a file has no parameters".into(),
            });
        }
        kek::open(self.kind, &self.key, bound, &wrapped.ciphertext)
    }
}

macro_rules! of_file {
    ($($kek:ident),+) => {$(
        impl Kek for $kek {
            fn kind(&self) -> &'static str {
                self.0.kind
            }

            fn wrap(&self, store_key: &[u8; KEY_LEN], bound: &[u8]) -> Result<WrappedKey, KekError> {
                self.0.wrap(store_key, bound)
            }

            fn unwrap(
                &self,
                wrapped: &WrappedKey,
                bound: &[u8],
            ) -> Result<Zeroizing<[u8; KEY_LEN]>, KekError> {
                self.0.unwrap(wrapped, bound)
            }
        }
    )+};
}

of_file!(KeyFileKek, CredentialKek);
