//! Files that are created completely or not at all.

use std::fs;
use std::io::{self, Write};
use std::path::Path;

use crate::ledger::error::LedgerError;

/// For `map_err`: an error that says what failed, and with which file.
pub(super) fn io_error(doing: &'static str, path: &Path) -> impl FnOnce(io::Error) -> LedgerError {
    move |cause| LedgerError::Io {
        doing,
        path: path.into(),
        cause,
    }
}

/// Writes a new file. It is on the disk when this returns. Before that, there is no file at `path`.
pub(super) fn create_whole(path: &Path, contents: &[u8]) -> Result<(), LedgerError> {
    let draft = path.with_extension("new");
    fs::File::create(&draft)
        .and_then(|mut file| {
            file.write_all(contents)?;
            file.sync_all()
        })
        .map_err(io_error("write", &draft))?;
    put_in_place(&draft, path)
}

/// Renames a draft that is on the disk to its final name.
pub(super) fn put_in_place(draft: &Path, path: &Path) -> Result<(), LedgerError> {
    fs::rename(draft, path).map_err(io_error("create", path))?;
    path.parent().map_or(Ok(()), sync_folder)
}

/// Syncs a folder: the names of its files are on the disk then.
#[cfg(unix)]
pub(super) fn sync_folder(path: &Path) -> Result<(), LedgerError> {
    fs::File::open(path)
        .and_then(|folder| folder.sync_all())
        .map_err(io_error("sync", path))
}

/// On other systems a folder can't be opened as a file, and the file system takes care of the names.
#[cfg(not(unix))]
pub(super) fn sync_folder(_: &Path) -> Result<(), LedgerError> {
    Ok(())
}
