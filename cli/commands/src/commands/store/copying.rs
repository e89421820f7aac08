//! A store's file that appears complete under its name, or not at all.

use std::fs;
use std::io;
use std::path::Path;

use pq_keys::files::{folder_of, sync_folder};
use pq_keystore::StoreError;
use pq_keystore::storage::{Copied, RedbStorage, Storage, copy};

use crate::failure::{Failure, StoreFailure};
use crate::files::{self, Destination, OutputError, TemporaryFolder};

/// Copies a storage into a new file, which gets its name once `check` allows it.
pub(super) fn copy_to(
    from: &dyn Storage,
    path: &Path,
    check: impl FnOnce(RedbStorage) -> Result<(), Failure>,
) -> Result<Copied, Failure> {
    files::check(&Destination::File(path.into()), false)?;
    let cant = |error: io::Error| OutputError::Write {
        file: path.display().to_string(),
        error,
    };
    let folder = TemporaryFolder::new(folder_of(path), ".pqtls-copy-").map_err(cant)?;
    let draft = folder.path().join("store");
    let storage = RedbStorage::create(&draft).map_err(StoreError::Storage)?;
    let copied = copy(from, &storage).map_err(StoreFailure::Copy)?;
    check(storage)?;
    // A second name doesn't replace what another process may have made meanwhile.
    fs::hard_link(&draft, path).map_err(|error| match error.kind() {
        io::ErrorKind::AlreadyExists => OutputError::Exists(path.display().to_string()),
        _ => cant(error),
    })?;
    sync_folder(folder_of(path)).map_err(cant)?;
    Ok(copied)
}
