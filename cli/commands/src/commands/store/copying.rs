//! A store's file that appears complete under its name, or not at all.

use std::env;
use std::fs;
use std::io;
use std::path::Path;

use pq_keys::files::{folder_of, sync_folder};
use pq_keystore::StoreError;
use pq_keystore::storage::{Copied, RedbStorage, Storage, copy};

use crate::failure::{Failure, StoreFailure};
use crate::files::{self, OutputError, TemporaryFolder};

/// How the names of folders begin in which copies are made.
const PREFIX: &str = ".pqtls-copy-";

/// Copies a storage into a new file, which gets its name once `check` allows it.
pub(super) fn copy_to(
    from: &dyn Storage,
    path: &Path,
    check: impl FnOnce(RedbStorage) -> Result<(), Failure>,
) -> Result<Copied, Failure> {
    files::check_new(path)?;
    let cant = |error: io::Error| OutputError::Write {
        file: path.display().to_string(),
        error,
    };
    let folder = TemporaryFolder::new(folder_of(path), PREFIX).map_err(cant)?;
    let draft = folder.path().join("store");
    let copied = checked_copy(from, &draft, check)?;
    // A second name doesn't replace what another process may have made meanwhile.
    fs::hard_link(&draft, path).map_err(|error| match error.kind() {
        io::ErrorKind::AlreadyExists => OutputError::Taken(path.display().to_string()),
        _ => cant(error),
    })?;
    sync_folder(folder_of(path)).map_err(cant)?;
    Ok(copied)
}

/// Checks a storage in a copy, which is gone afterwards: to check it may write to it.
pub(super) fn check_copy(
    from: &dyn Storage,
    check: impl FnOnce(RedbStorage) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let above = env::temp_dir();
    let folder = TemporaryFolder::new(&above, PREFIX).map_err(|error| OutputError::Write {
        file: above.display().to_string(),
        error,
    })?;
    checked_copy(from, &folder.path().join("store"), check).map(drop)
}

fn checked_copy(
    from: &dyn Storage,
    draft: &Path,
    check: impl FnOnce(RedbStorage) -> Result<(), Failure>,
) -> Result<Copied, Failure> {
    let storage = RedbStorage::create(draft).map_err(StoreError::Storage)?;
    let copied = copy(from, &storage).map_err(StoreFailure::Copy)?;
    check(storage)?;
    Ok(copied)
}
