//! Writing of files.

use core::sync::atomic::{AtomicUsize, Ordering};
use std::fs::{self, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::path::Path;

use pyo3::PyResult;

use crate::errors::of_file;

/// Who can read a file.
#[derive(Clone, Copy, Eq, PartialEq)]
pub(super) enum Access {
    Owner,
    All,
}

/// Writes a new file, or replaces one if `overwrite` is set. The old file stays unchanged until the new one is
/// complete, and if writing fails. The file and its name are on the disk when this returns.
pub(super) fn write_file(
    path: &Path,
    contents: &[u8],
    access: Access,
    overwrite: bool,
) -> PyResult<()> {
    let write = || match overwrite {
        // Not into the old file, as others may be allowed to read it.
        true => replace(path, contents, access),
        false => create(path, contents, access).and_then(|()| sync_folder_of(path)),
    };
    write().map_err(|error| of_file(&error, path))
}

fn replace(path: &Path, contents: &[u8], access: Access) -> io::Result<()> {
    // The temporary file is in the same folder, as files can't be renamed from one file system to another.
    static COUNT: AtomicUsize = AtomicUsize::new(0);
    loop {
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let temporary = path.with_file_name(format!(".pqtls-{}-{count}", std::process::id()));
        match create(&temporary, contents, access) {
            Err(error) if error.kind() == ErrorKind::AlreadyExists => continue,
            Err(error) => return Err(error),
            Ok(()) => {}
        }
        fs::rename(&temporary, path).inspect_err(|_| remove(&temporary))?;
        return sync_folder_of(path);
    }
}

/// Writes a new file, and leaves none if that fails.
fn create(path: &Path, contents: &[u8], access: Access) -> io::Result<()> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    if access == Access::Owner {
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    }
    let mut file = options.open(path)?;
    let written = file.write_all(contents).and_then(|()| file.sync_all());
    drop(file);
    written.inspect_err(|_| remove(path))
}

/// Without this, a loss of power could take back the name of a file that was reported as written.
#[cfg(unix)]
fn sync_folder_of(path: &Path) -> io::Result<()> {
    let folder = match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    match fs::File::open(folder).and_then(|folder| folder.sync_all()) {
        // A folder into which one may write and not look, or a file system that knows no such request.
        Err(error)
            if matches!(
                error.kind(),
                ErrorKind::PermissionDenied | ErrorKind::InvalidInput | ErrorKind::Unsupported
            ) =>
        {
            Ok(())
        }
        done => done,
    }
}

/// On other systems a folder can't be opened as a file, and the file system takes care of the names.
#[cfg(not(unix))]
fn sync_folder_of(_: &Path) -> io::Result<()> {
    Ok(())
}

/// Removes an incomplete file. The error that is reported is the one that kept it from being written.
fn remove(path: &Path) {
    let _ = fs::remove_file(path);
}
