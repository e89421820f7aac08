//! Files that are written in one call.

use std::io::Write;
use std::path::Path;

use super::access::Access;
use super::disk::{folder_of, sync_folder};
use super::draft::Draft;
use super::error::FileError;
use super::leftover;

/// Writes a file that is not there yet. The file and its name are on the disk when this returns.
///
/// # Errors
///
/// [`FileError::Exists`] if something has the name, which stays as it is; otherwise [`FileError::Write`], after which there
/// is no file, or [`FileError::Sync`], after which there is one.
pub fn write_new(path: &Path, contents: &[u8], access: Access) -> Result<(), FileError> {
    // Naming it would say so as well, but no secret is to be written in vain, and the folder may allow no draft.
    if path.symlink_metadata().is_ok() {
        return Err(FileError::exists(path));
    }
    written(path, contents, access)?.name(path)?;
    sync_folder(folder_of(path)).map_err(FileError::sync(path))
}

/// Writes a file, in place of the file or the link that has its name. Neither the permissions of an old file nor where a
/// link leads matter, and whoever reads it meanwhile gets all of the old file or of the new one. The file and its name are
/// on the disk when this returns.
///
/// # Errors
///
/// [`FileError::Write`], after which the old file is there, or [`FileError::Sync`], after which the new one is.
pub fn write_over(path: &Path, contents: &[u8], access: Access) -> Result<(), FileError> {
    written(path, contents, access)?.replace(path)?;
    sync_folder(folder_of(path)).map_err(FileError::sync(path))
}

/// Writes a new file of a folder that is a draft itself: it has its own name from the beginning. Its content is on the disk
/// when this returns; its name is, once the [folder is synced](super::sync_folder).
///
/// # Errors
///
/// [`FileError::Exists`] if something has the name, which stays as it is; otherwise [`FileError::Write`], after which there
/// is no file.
pub fn write_in_draft(path: &Path, contents: &[u8], access: Access) -> Result<(), FileError> {
    let made = Draft::create(path.into(), path, access);
    let mut file = made.map_err(FileError::name(path))?;
    file.write_all(contents).map_err(FileError::write(path))?;
    file.sync()?;
    file.has_its_name();
    Ok(())
}

/// A draft with this content, which is on the disk.
fn written(path: &Path, contents: &[u8], access: Access) -> Result<Draft, FileError> {
    let mut draft = match leftover::draft_in_place(path, access) {
        Some(draft) => draft,
        None => Draft::beside(path, access)?,
    };
    draft.write_all(contents).map_err(FileError::write(path))?;
    draft.sync()?;
    Ok(draft)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::files::draft::PREFIX;
    use crate::files::steps;

    type Write = fn(&Path, &[u8], Access) -> Result<(), FileError>;

    fn names_in(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).unwrap().flatten();
        let mut names: Vec<String> = entries
            .map(|entry| entry.file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }

    /// The steps since the last call. Of a draft it is said what its name begins with.
    fn steps_in(folder: &Path) -> Vec<(&'static str, String)> {
        let name = |path: &Path| match path.strip_prefix(folder).unwrap().to_str().unwrap() {
            draft if draft.starts_with(PREFIX) => PREFIX.to_owned(),
            name => name.to_owned(),
        };
        let steps = steps::take().into_iter();
        steps.map(|(what, path)| (what, name(&path))).collect()
    }

    #[test]
    fn a_new_file_and_its_name_are_on_the_disk() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.key");
        // An empty file could have the name otherwise.
        let first = ("sync file", PREFIX.to_owned());
        let then = [("rename", "a.key".to_owned()), ("sync", String::new())];
        let all = [&[first][..], &then].concat();
        steps::take();
        write_new(&path, b"new", Access::Private).unwrap();
        assert_eq!(steps_in(folder.path()), all);
        write_over(&path, b"newer", Access::Private).unwrap();
        assert_eq!(steps_in(folder.path()), all);
        // The folder is synced by whoever completes it.
        write_in_draft(&folder.path().join("b"), b"new", Access::Public).unwrap();
        let synced = [("sync file", "b".to_owned())];
        assert_eq!(steps_in(folder.path()), synced);
        assert_eq!(names_in(folder.path()), ["a.key", "b"]);
        assert_eq!(fs::read(path).unwrap(), b"newer");
    }

    #[test]
    fn what_exists_stays_unless_it_is_to_be_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.key");
        fs::write(&path, "old").unwrap();
        for write in [write_new as Write, write_in_draft] {
            let refused = write(&path, b"new", Access::Private);
            assert!(matches!(refused, Err(FileError::Exists { .. })));
        }
        assert_eq!(fs::read(&path).unwrap(), b"old");
        assert_eq!(names_in(folder.path()), ["a.key"]);
        write_over(&path, b"new", Access::Private).unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"new");
        assert_eq!(names_in(folder.path()), ["a.key"]);
    }

    #[test]
    fn no_secret_is_written_in_vain() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.key");
        fs::write(&path, "old").unwrap();
        steps::take();
        write_new(&path, b"secret", Access::Private).unwrap_err();
        assert_eq!(steps::take(), []);
        // The one that comes meanwhile stays, too.
        let draft = written(&path, b"secret", Access::Private).unwrap();
        assert!(matches!(draft.name(&path), Err(FileError::Exists { .. })));
        assert_eq!(fs::read(&path).unwrap(), b"old");
    }

    #[test]
    fn what_cant_be_written_leaves_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let taken = folder.path().join("taken");
        fs::create_dir(&taken).unwrap();
        let refused = write_over(&taken, b"new", Access::Private);
        assert!(matches!(refused, Err(FileError::Write { path, .. }) if path == taken));
        let refused = write_new(&taken, b"new", Access::Private);
        assert!(matches!(refused, Err(FileError::Exists { .. })));
        let nowhere = folder.path().join("nowhere/a.key");
        for write in [write_new as Write, write_over, write_in_draft] {
            let refused = write(&nowhere, b"new", Access::Private);
            assert!(matches!(refused, Err(FileError::Write { path, .. }) if path == nowhere));
        }
        assert_eq!(names_in(folder.path()), ["taken"]);
    }

    #[cfg(unix)]
    mod unix {
        use std::os::unix::fs::{PermissionsExt, symlink};

        use super::*;

        #[test]
        fn only_its_owner_reads_a_private_file_whatever_was_there() {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("a");
            let mode = || fs::metadata(&path).unwrap().permissions().mode() & 0o777;
            for write in [write_new as Write, write_in_draft, write_over] {
                write(&path, b"secret", Access::Private).unwrap();
                assert_eq!(mode(), 0o600);
                fs::remove_file(&path).unwrap();
                write(&path, b"public", Access::OwnerWrites).unwrap();
                // of some, the umask takes more
                assert_eq!(mode() & 0o022, 0);
                fs::set_permissions(&path, fs::Permissions::from_mode(0o666)).unwrap();
                write_over(&path, b"secret", Access::Private).unwrap();
                assert_eq!(mode(), 0o600);
                fs::remove_file(&path).unwrap();
            }
        }

        /// Whoever may write anywhere, as root may, sees the same for another reason.
        #[test]
        fn a_file_is_seen_in_a_folder_that_takes_no_drafts() {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("a.key");
            fs::write(&path, "old").unwrap();
            fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o500)).unwrap();
            let refused = write_new(&path, b"secret", Access::Private);
            fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o700)).unwrap();
            assert!(matches!(refused, Err(FileError::Exists { .. })));
        }

        #[test]
        fn no_link_is_followed() {
            let folder = tempfile::tempdir().unwrap();
            let (link, other) = (folder.path().join("a.key"), folder.path().join("other"));
            symlink("other", &link).unwrap();
            // first a link that leads nowhere
            for content in [None, Some("precious")] {
                if let Some(content) = content {
                    fs::write(&other, content).unwrap();
                }
                for write in [write_new as Write, write_in_draft] {
                    let refused = write(&link, b"secret", Access::Private);
                    assert!(matches!(refused, Err(FileError::Exists { .. })));
                }
                assert_eq!(fs::read_to_string(&other).ok().as_deref(), content);
            }
            write_over(&link, b"secret", Access::Private).unwrap();
            assert!(fs::symlink_metadata(&link).unwrap().is_file());
            assert_eq!(fs::read(&other).unwrap(), b"precious");
        }

        #[test]
        fn a_name_that_the_disk_may_not_keep_is_an_error_and_the_file_is_there() {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("a.key");
            for write in [write_new as Write, write_over] {
                steps::fail_next();
                let unsure = write(&path, b"whole", Access::Private);
                assert!(matches!(unsure, Err(FileError::Sync { .. })));
                assert_eq!(fs::read(&path).unwrap(), b"whole");
                assert_eq!(names_in(folder.path()), ["a.key"]);
            }
        }
    }
}
