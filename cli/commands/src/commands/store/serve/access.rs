//! The file of tokens, which is read again when it changes.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use pq_keystore::door::AccessList;

use crate::failure::{Failure, StoreFailure};

/// As much as is read of a file, which is more than one may have.
const MAX_READ: u64 = 2 * 1024 * 1024;

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
    let mut text = String::new();
    let file = File::open(path).map_err(|problem| StoreFailure::TokensUnread {
        file: path.display().to_string(),
        problem,
    })?;
    file.take(MAX_READ)
        .read_to_string(&mut text)
        .map_err(|error| StoreFailure::tokens(path, &error))?;
    Ok(text)
}

fn list(path: &Path, text: &str) -> Result<AccessList, Failure> {
    Ok(AccessList::from_toml(text).map_err(|error| StoreFailure::tokens(path, &error))?)
}
