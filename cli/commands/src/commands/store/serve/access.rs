//! The file of tokens, which is read again when it changes.

use std::io;
use std::path::{Path, PathBuf};

use pq_keystore::door::AccessList;
use rustls_pq::watching::{ReadError, WholeFile};

use crate::failure::{Failure, StoreFailure};

/// More bytes than a file of tokens may have.
const MAX_LEN: u64 = 2 * 1024 * 1024;

/// A file of tokens as it was read.
pub(super) struct AccessFile {
    path: PathBuf,
    text: String,
    list: AccessList,
}

impl AccessFile {
    pub(super) fn read(path: &Path) -> Result<Self, Failure> {
        let text = text(path)?;
        let list = list(path, &text)?;
        Ok(Self {
            path: path.into(),
            text,
            list,
        })
    }

    pub(super) fn list(&self) -> &AccessList {
        &self.list
    }

    /// Reads it again, and says whether it is another one now.
    pub(super) async fn read_again(&mut self) -> Result<bool, Failure> {
        let path = self.path.clone();
        let read = tokio::task::spawn_blocking(move || text(&path)).await;
        let text = read.map_err(StoreFailure::serve)??;
        if text == self.text {
            return Ok(false);
        }
        self.list = list(&self.path, &text)?;
        self.text = text;
        Ok(true)
    }
}

fn text(path: &Path) -> Result<String, Failure> {
    // No pipe is waited for: who put it there would keep those in whose tokens are taken from the file.
    let file = WholeFile::read(path, MAX_LEN).map_err(|error| StoreFailure::TokensUnread {
        file: path.display().to_string(),
        problem: match error {
            ReadError::File(error) => error,
            error => io::Error::other(error),
        },
    })?;
    let text = core::str::from_utf8(&file.content);
    Ok(text
        .map_err(|error| StoreFailure::tokens(path, &error))?
        .into())
}

fn list(path: &Path, text: &str) -> Result<AccessList, Failure> {
    Ok(AccessList::from_toml(text).map_err(|error| StoreFailure::tokens(path, &error))?)
}
