//! What makes files stay after a loss of power.

use std::fs::File;
use std::io::{self, ErrorKind};
use std::path::Path;

/// The names in a folder are on the disk when this returns: otherwise a loss of power could take back a file that was
/// reported as written.
#[cfg(unix)]
pub(super) fn sync_folder(path: &Path) -> io::Result<()> {
    #[cfg(test)]
    steps::note("sync", path);
    match File::open(path).and_then(|folder| folder.sync_all()) {
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
pub(super) fn sync_folder(_: &Path) -> io::Result<()> {
    Ok(())
}

/// What this thread did, for tests: nothing but a loss of power would show that a sync is missing.
#[cfg(test)]
pub(super) mod steps {
    use core::cell::RefCell;
    use std::path::{Path, PathBuf};

    thread_local! {
        static DONE: RefCell<Vec<(&'static str, PathBuf)>> = const { RefCell::new(Vec::new()) };
    }

    pub(in crate::files) fn note(what: &'static str, path: &Path) {
        DONE.with_borrow_mut(|done| done.push((what, path.into())));
    }

    /// The steps since the last call.
    pub(in crate::files) fn take() -> Vec<(&'static str, PathBuf)> {
        DONE.take()
    }
}
