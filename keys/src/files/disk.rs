//! What makes names stay after a loss of power.

use std::fs;
use std::io;
use std::path::Path;

use super::access::{self, Access};
use super::error::FileError;

/// Gives a draft its name, be it a file or a folder, in place of what has it. The name is on the disk when this
/// returns: otherwise a loss of power could take back what was reported as done.
///
/// # Errors
///
/// [`FileError::Write`] if the draft still has its old name, [`FileError::Sync`] if it has the new one.
pub fn put_in_place(draft: &Path, path: &Path) -> Result<(), FileError> {
    rename_over(draft, path)?;
    sync_folder(folder_of(path)).map_err(FileError::sync(path))
}

/// The same without the wait for the disk: the name is on it when the [folder is synced](sync_folder).
///
/// # Errors
///
/// [`FileError::Write`], and the draft still has its old name.
pub fn rename_over(draft: &Path, path: &Path) -> Result<(), FileError> {
    rename(draft, path).map_err(FileError::write(path))
}

/// The folder that a file is in.
pub fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
}

pub(super) fn rename(draft: &Path, path: &Path) -> io::Result<()> {
    fs::rename(draft, path)?;
    steps::note("rename", path);
    Ok(())
}

/// Whether an open file is the one with this name.
#[cfg(unix)]
pub(super) fn is_at(file: &fs::File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;

    let (Ok(opened), Ok(named)) = (file.metadata(), path.symlink_metadata()) else {
        return false;
    };
    (opened.dev(), opened.ino()) == (named.dev(), named.ino())
}

/// Gives a draft a name that nothing has, in one step.
#[cfg(any(target_os = "linux", target_os = "android", target_vendor = "apple"))]
pub(super) fn rename_new(draft: &Path, path: &Path) -> io::Result<()> {
    use rustix::fs::{CWD, RenameFlags, renameat_with};

    #[cfg(test)]
    steps::lack(1)?;
    renameat_with(CWD, draft, CWD, path, RenameFlags::NOREPLACE)?;
    steps::note("rename", path);
    Ok(())
}

/// Other systems have no such step.
#[cfg(not(any(target_os = "linux", target_os = "android", target_vendor = "apple")))]
pub(super) fn rename_new(_: &Path, _: &Path) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

/// The same in two steps, between which the file has both names.
pub(super) fn link_new(draft: &Path, path: &Path) -> io::Result<()> {
    #[cfg(all(test, unix))]
    steps::lack(2)?;
    fs::hard_link(draft, path)?;
    steps::note("link", path);
    fs::remove_file(draft).inspect_err(|_| {
        // It is an error that there are two names. Users are told that one.
        let _ = fs::remove_file(path);
    })
}

/// The same for file systems without second names: an empty file keeps the place until it is replaced.
pub(super) fn keep_place(draft: &Path, path: &Path) -> io::Result<()> {
    // It is closed before it is replaced, as some systems demand.
    drop(access::new_file(Access::Private).open(path)?);
    steps::note("place", path);
    rename(draft, path).inspect_err(|_| {
        // Users are told why it was not replaced.
        let _ = fs::remove_file(path);
    })
}

/// The names in a folder are on the disk when this returns.
///
/// # Errors
///
/// Those of the operating system, but for folders that one may not look into and for file systems that have no such
/// request.
#[cfg(unix)]
pub fn sync_folder(folder: &Path) -> io::Result<()> {
    use std::io::ErrorKind;

    steps::note("sync", folder);
    #[cfg(test)]
    steps::fail()?;
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
///
/// # Errors
///
/// None.
#[cfg(not(unix))]
pub fn sync_folder(_: &Path) -> io::Result<()> {
    Ok(())
}

/// What this thread did, for tests: nothing but a loss of power would show that a sync is missing.
#[cfg(any(test, feature = "files-steps"))]
pub mod steps {
    use core::cell::RefCell;
    use std::path::{Path, PathBuf};

    thread_local! {
        static DONE: RefCell<Option<Vec<(&'static str, PathBuf)>>> = const { RefCell::new(None) };
    }

    pub(in crate::files) fn note(what: &'static str, path: &Path) {
        DONE.with_borrow_mut(|done| {
            if let Some(done) = done {
                done.push((what, path.into()));
            }
        });
    }

    /// The steps since the last call. None is noted before the first one: a program that takes none keeps none.
    pub fn take() -> Vec<(&'static str, PathBuf)> {
        DONE.replace(Some(Vec::new())).unwrap_or_default()
    }

    #[cfg(test)]
    thread_local! {
        static FAILS: core::cell::Cell<bool> = const { core::cell::Cell::new(false) };
        static LACKED: core::cell::Cell<u8> = const { core::cell::Cell::new(0) };
    }

    /// Has the file system lack so many of the ways to give a draft a new name, the best ones.
    #[cfg(all(test, unix))]
    pub(in crate::files) fn lack_ways(ways: u8) {
        LACKED.set(ways);
    }

    #[cfg(all(test, unix))]
    pub(super) fn lack(way: u8) -> std::io::Result<()> {
        match way <= LACKED.get() {
            true => Err(std::io::ErrorKind::InvalidInput.into()),
            false => Ok(()),
        }
    }

    /// Has the next sync of a folder fail.
    #[cfg(all(test, unix))]
    pub(in crate::files) fn fail_next() {
        FAILS.set(true);
    }

    #[cfg(all(test, unix))]
    pub(super) fn fail() -> std::io::Result<()> {
        match FAILS.take() {
            true => Err(std::io::Error::other("on purpose")),
            false => Ok(()),
        }
    }
}

#[cfg(not(any(test, feature = "files-steps")))]
pub(super) mod steps {
    pub(in crate::files) fn note(_: &str, _: &std::path::Path) {}
}
