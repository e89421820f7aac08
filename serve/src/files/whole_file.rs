//! Files that are there completely or not at all, also after a loss of power.

use std::fs::{self, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::path::Path;

/// Who may read a file.
#[derive(Clone, Copy, Eq, PartialEq)]
pub(crate) enum Access {
    Public,
    /// Its owner alone, on Unix.
    Private,
}

/// Writes a new file in place of an old one, so that neither the old one's permissions nor a link in its place matter,
/// and whoever reads it meanwhile gets one of the two. It is on the disk when this returns.
pub(crate) fn write_whole(path: &Path, access: Access, text: &str) -> io::Result<()> {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(".new");
    let draft = path.with_file_name(name);
    match fs::remove_file(&draft) {
        // left by a process that was killed
        Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let written = write_new(&draft, access, text).and_then(|()| put_in_place(&draft, path));
    if written.is_err() {
        // The error that led here matters more.
        let _ = fs::remove_file(&draft);
    }
    written
}

/// Writes a new file, whose content is on the disk when this returns.
fn write_new(path: &Path, access: Access, text: &str) -> io::Result<()> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    if access == Access::Private {
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    }
    #[cfg(not(unix))]
    let _ = access;

    let mut file = options.open(path)?;
    file.write_all(text.as_bytes())?;
    file.sync_all()
}

/// Gives a file its name, which is on the disk when this returns.
fn put_in_place(draft: &Path, path: &Path) -> io::Result<()> {
    fs::rename(draft, path)?;
    #[cfg(test)]
    steps::note("rename", path);
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => sync_folder(folder),
        _ => sync_folder(Path::new(".")),
    }
}

#[cfg(unix)]
fn sync_folder(path: &Path) -> io::Result<()> {
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
fn sync_folder(_: &Path) -> io::Result<()> {
    Ok(())
}

/// What this thread did, for tests: nothing but a loss of power would show that a sync is missing.
#[cfg(test)]
mod steps {
    use std::cell::RefCell;
    use std::path::{Path, PathBuf};

    thread_local! {
        static DONE: RefCell<Vec<(&'static str, PathBuf)>> = const { RefCell::new(Vec::new()) };
    }

    pub(super) fn note(what: &'static str, path: &Path) {
        DONE.with_borrow_mut(|done| done.push((what, path.into())));
    }

    /// The steps since the last call.
    pub(super) fn take() -> Vec<(&'static str, PathBuf)> {
        DONE.take()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_replaced_whole_and_its_name_is_on_the_disk() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("server.key");
        // left by a process that was killed
        fs::write(folder.path().join("server.key.new"), "half").unwrap();
        for text in ["first", "second"] {
            steps::take();
            write_whole(&path, Access::Private, text).unwrap();
            let expected = [("rename", path.clone()), ("sync", folder.path().to_owned())];
            assert_eq!(steps::take(), expected);
            assert_eq!(fs::read_to_string(&path).unwrap(), text);
        }
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
        // A folder in the way stays, and nothing is left beside it.
        let taken = folder.path().join("taken");
        fs::create_dir(&taken).unwrap();
        write_whole(&taken, Access::Public, "text").unwrap_err();
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2);
    }

    #[cfg(unix)]
    #[test]
    fn neither_old_permissions_nor_links_matter() {
        use std::os::unix::fs::{PermissionsExt, symlink};
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("server.key");
        fs::write(folder.path().join("other"), "precious").unwrap();
        symlink("other", &path).unwrap();
        write_whole(&path, Access::Private, "secret").unwrap();
        let metadata = fs::symlink_metadata(&path).unwrap();
        assert!(metadata.is_file());
        assert_eq!(metadata.permissions().mode() & 0o777, 0o600);
        assert_eq!(fs::read(folder.path().join("other")).unwrap(), b"precious");
    }
}
