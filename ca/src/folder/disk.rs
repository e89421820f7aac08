//! What makes files and folders stay after a loss of power.

use std::fs::{self, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::path::Path;

/// Who may read a file.
#[derive(Clone, Copy)]
pub(super) enum Access {
    /// Its owner alone.
    Private,
    Public,
}

#[cfg(unix)]
impl Access {
    fn restrict(self, options: &mut OpenOptions) {
        use std::os::unix::fs::OpenOptionsExt;

        options.mode(match self {
            Self::Private => 0o600,
            Self::Public => 0o644,
        });
    }
}

/// On other systems the permissions of the folder decide who may read the file.
#[cfg(not(unix))]
impl Access {
    fn restrict(self, _: &mut OpenOptions) {}
}

/// Writes a new file. Its content is on the disk when this returns; its name is, once its folder is synced.
pub(super) fn write_new(path: &Path, content: &[u8], access: Access) -> io::Result<()> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    access.restrict(&mut options);
    let mut file = options.open(path)?;
    file.write_all(content)?;
    file.sync_all()
}

/// Gives a draft its name, which is on the disk when this returns: otherwise a loss of power could take back what was
/// reported as done.
pub(super) fn put_in_place(draft: &Path, path: &Path) -> io::Result<()> {
    fs::rename(draft, path)?;
    #[cfg(test)]
    steps::note("rename", path);
    match path.parent() {
        Some(above) if !above.as_os_str().is_empty() => sync_folder(above),
        _ => sync_folder(Path::new(".")),
    }
}

/// The names in a folder are on the disk when this returns.
#[cfg(unix)]
pub(super) fn sync_folder(path: &Path) -> io::Result<()> {
    #[cfg(test)]
    steps::note("sync", path);
    match fs::File::open(path).and_then(|folder| folder.sync_all()) {
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

    pub(super) fn note(what: &'static str, path: &Path) {
        DONE.with_borrow_mut(|done| done.push((what, path.into())));
    }

    /// The steps since the last call.
    pub(in crate::folder) fn take() -> Vec<(&'static str, PathBuf)> {
        DONE.take()
    }
}
