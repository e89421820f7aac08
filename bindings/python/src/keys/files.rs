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
/// complete, and if writing fails.
pub(super) fn write_file(
    path: &Path,
    contents: &[u8],
    access: Access,
    overwrite: bool,
) -> PyResult<()> {
    let write = || match overwrite {
        // Not into the old file, as others may be allowed to read it.
        true => replace(path, contents, access),
        false => create(path, contents, access),
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
        return fs::rename(&temporary, path).inspect_err(|_| remove(&temporary));
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

/// Removes an incomplete file. The error that is reported is the one that kept it from being written.
fn remove(path: &Path) {
    let _ = fs::remove_file(path);
}
