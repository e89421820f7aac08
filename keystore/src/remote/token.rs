//! The token that a client shows.

use core::fmt;
use std::io;
use std::path::Path;

use zeroize::Zeroizing;

use crate::private_file;

/// More than tokens have.
const MAX_TOKEN_LEN: usize = 4096;

/// A token that says who asks. It is wiped when it is dropped, and never printed.
#[derive(Clone)]
pub struct RemoteToken(Zeroizing<String>);

impl RemoteToken {
    /// The token in a file, which nobody but its owner may read. One end of line after it is no part of it.
    ///
    /// # Errors
    ///
    /// If the file can't be read, if others may read it, or if what it has is no token.
    pub fn read(path: &Path) -> io::Result<Self> {
        let token = private_file::read_line(path, "a token", MAX_TOKEN_LEN)?;
        match token.bytes().all(|byte| byte.is_ascii_graphic()) {
            true => Ok(Self(token)),
            false => Err(io::Error::other(
                "a token is one line of ASCII, without spaces",
            )),
        }
    }

    /// The token in a credential of systemd (`LoadCredential=`, `LoadCredentialEncrypted=`): a file in the folder that
    /// `$CREDENTIALS_DIRECTORY` names.
    ///
    /// # Errors
    ///
    /// As [`read`](Self::read), and if the variable isn't set or the name isn't one of a file.
    pub fn credential(name: &str) -> io::Result<Self> {
        let file = private_file::credential(std::env::var_os("CREDENTIALS_DIRECTORY"), name);
        Self::read(&file.map_err(io::Error::other)?)
    }

    /// The token, for [`RemoteStore::new`](super::RemoteStore::new).
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for RemoteToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("RemoteToken")
    }
}
