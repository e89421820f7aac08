//! The token by which a server knows who asks.

use core::fmt;
use std::path::Path;

use pq_keys::files::{credential_file, read_private_line};
use zeroize::Zeroizing;

/// A token of a server, which goes into `X-Vault-Token`. It is wiped when it is dropped, and never printed.
#[derive(Clone)]
pub struct RemoteToken(Zeroizing<String>);

/// Why a token can't be read.
#[derive(Debug, thiserror::Error)]
#[error("the token can't be read: {0}")]
pub struct TokenSourceError(String);

const NOT_ASCII: &str = "a token has letters, digits and signs of ASCII, and is one line";

impl RemoteToken {
    /// More than the longest token has, which is one of a batch.
    const MAX_LEN: usize = 4096;

    /// This token.
    ///
    /// # Errors
    ///
    /// If it is empty, longer than 4,096 bytes, or has characters that stand in no token.
    pub fn new(token: impl AsRef<[u8]>) -> Result<Self, TokenSourceError> {
        let checked = match core::str::from_utf8(token.as_ref()) {
            Ok(text) => Self::checked(Zeroizing::new(text.into())),
            Err(_) => Err(NOT_ASCII),
        };
        checked.map_err(|reason| TokenSourceError(reason.into()))
    }

    /// The token in a file, which nobody but its owner may read. One end of line after it is no part of it.
    ///
    /// # Errors
    ///
    /// If it can't be read, and as [`new`](Self::new).
    pub fn read(path: &Path) -> Result<Self, TokenSourceError> {
        let wrong =
            |reason: &dyn fmt::Display| TokenSourceError(format!("{}: {reason}", path.display()));
        let text =
            read_private_line(path, "a token", Self::MAX_LEN).map_err(|error| wrong(&error))?;
        Self::checked(text).map_err(|reason| wrong(&reason))
    }

    /// The token in a credential of systemd (`LoadCredential=`, `LoadCredentialEncrypted=`): a file in the folder that
    /// `$CREDENTIALS_DIRECTORY` names.
    ///
    /// # Errors
    ///
    /// As [`read`](Self::read), and if the variable isn't set or the name isn't one of a file.
    pub fn credential(name: &str) -> Result<Self, TokenSourceError> {
        let file = credential_file(std::env::var_os("CREDENTIALS_DIRECTORY"), name);
        Self::read(&file.map_err(|reason| TokenSourceError(reason.into()))?)
    }

    fn checked(text: Zeroizing<String>) -> Result<Self, &'static str> {
        match text.len() {
            1..=Self::MAX_LEN if text.bytes().all(|byte| byte.is_ascii_graphic()) => Ok(Self(text)),
            1..=Self::MAX_LEN => Err(NOT_ASCII),
            _ => Err("a token has 1 to 4096 bytes"),
        }
    }

    /// The token, for [`RemoteStore::new`](super::RemoteStore::new).
    pub fn as_str(&self) -> &str {
        &self.0
    }

    pub(super) fn text(&self) -> Zeroizing<String> {
        self.0.clone()
    }
}

impl fmt::Debug for RemoteToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("RemoteToken")
    }
}
