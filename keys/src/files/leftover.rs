//! Drafts that processes left which were killed, or lost power: the next one for the same destination takes their place.
//!
//! So that they are found without a look at the whole folder, a draft's name is made of its destination's, if no other
//! process is writing the same file. Whoever writes a draft holds a lock on it: a draft without one is a leftover.
//!
//! A lock may hold on one host alone. Then one that writes the same file on another host can take a draft for a leftover,
//! and its own has that name. So whoever names or removes a draft sees first that it is still its own.

#[cfg(unix)]
use std::fs::TryLockError;
use std::path::Path;

use super::access::Access;
#[cfg(unix)]
use super::disk::is_at;
use super::draft::Draft;

/// A draft for this destination, in place of one that was left; none if its name is not to be had.
#[cfg(unix)]
pub(super) fn draft_in_place(path: &Path, access: Access) -> Option<Draft> {
    let draft = super::disk::folder_of(path).join(name(path));
    // It fails, as for a folder that isn't there, in the same way as a draft of another name, whose error is reported.
    let make = || Draft::create(draft.clone(), path, access).ok();
    let mut made = make().or_else(|| {
        remove(&draft)?;
        make()
    })?;
    let is_own = match made.file().try_lock() {
        Ok(()) => made.is_there(),
        Err(TryLockError::WouldBlock) => false,
        // Without locks, nobody removes it.
        Err(TryLockError::Error(_)) => true,
    };
    if !is_own {
        // Another process has just taken it for a leftover. The name may be that one's by now.
        made.has_its_name();
        return None;
    }
    Some(made)
}

/// On other systems it can't be told which drafts were left.
#[cfg(not(unix))]
pub(super) fn draft_in_place(_: &Path, _: Access) -> Option<Draft> {
    None
}

#[cfg(unix)]
fn name(path: &Path) -> String {
    use core::fmt::Write;
    use std::os::unix::ffi::OsStrExt;

    use sha2::{Digest, Sha256};

    let destination = path.file_name().unwrap_or_default();
    let hash = Sha256::digest(destination.as_bytes());
    let mut name = super::draft::PREFIX.to_owned();
    for byte in &hash[..16] {
        // A `String` takes everything.
        let _ = write!(name, "{byte:02x}");
    }
    name
}

/// Removes a draft that nobody is writing.
#[cfg(unix)]
fn remove(draft: &Path) -> Option<()> {
    let file = open_own(draft)?;
    file.try_lock().ok()?;
    // The one that was opened may have got its name, and another may have come.
    if !is_at(&file, draft) {
        return None;
    }
    std::fs::remove_file(draft).ok()
}

/// Opens a file of this user. Of what somebody else may have put there, a link is not followed and a pipe is not waited
/// for.
#[cfg(unix)]
fn open_own(path: &Path) -> Option<std::fs::File> {
    use std::os::unix::fs::{MetadataExt, OpenOptionsExt};

    use rustix::fs::OFlags;

    let flags = (OFlags::NOFOLLOW | OFlags::NONBLOCK).bits();
    let mut options = std::fs::File::options();
    options.read(true).custom_flags(flags.cast_signed());
    let file = options.open(path).ok()?;
    let opened = file.metadata().ok()?;
    let user = rustix::process::geteuid().as_raw();
    (opened.is_file() && opened.uid() == user).then_some(file)
}

#[cfg(all(test, unix))]
mod tests {
    use std::fs;
    use std::os::unix::fs::{chown, symlink};
    use std::path::PathBuf;
    use std::process::Command;

    use tempfile::TempDir;

    use super::*;

    /// A folder, a destination in it, and what a draft for it is called.
    fn places() -> (TempDir, PathBuf, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.key");
        let draft = folder.path().join(name(&path));
        (folder, path, draft)
    }

    fn begin(path: &Path) -> Option<Draft> {
        draft_in_place(path, Access::Private)
    }

    #[test]
    fn a_draft_takes_the_place_of_one_that_a_killed_process_left() {
        let (folder, path, left) = places();
        fs::write(&left, "half").unwrap();
        let draft = begin(&path).unwrap();
        assert_eq!(draft.path(), left);
        assert_eq!(fs::read(&left).unwrap(), b"");
        draft.name(&path).unwrap();
        // It was killed after the file had got its name.
        fs::hard_link(&path, &left).unwrap();
        fs::write(&path, "whole").unwrap();
        begin(&path).unwrap().name(&path).unwrap_err();
        assert_eq!(fs::read(&path).unwrap(), b"whole");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_draft_that_another_process_writes_stays() {
        let (folder, path, _) = places();
        let draft = begin(&path).unwrap();
        assert!(begin(&path).is_none());
        assert!(draft.path().exists());
        draft.replace(&path).unwrap();
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn what_somebody_else_put_there_is_not_used() {
        let (_folder, path, left) = places();
        fs::write(&path, "precious").unwrap();
        symlink("a.key", &left).unwrap();
        assert!(begin(&path).is_none());
        assert!(left.is_symlink());
        assert_eq!(fs::read(&path).unwrap(), b"precious");
    }

    #[test]
    fn of_what_somebody_else_put_there_nothing_is_opened_but_an_own_file() {
        let (folder, path, left) = places();
        fs::write(&left, "half").unwrap();
        assert!(open_own(&left).is_some());
        let link = folder.path().join("link");
        symlink(&left, &link).unwrap();
        assert!(open_own(&link).is_none());
        assert!(open_own(folder.path()).is_none());
        // Only the administrator may give a file away.
        if chown(&left, Some(1234), None).is_ok() {
            assert!(open_own(&left).is_none());
            assert!(begin(&path).is_none());
            assert!(left.exists());
        }
        fs::remove_file(&left).unwrap();
        // Nobody writes into the pipe, and nobody waits for that.
        let made = Command::new("mkfifo").arg(&left).status().unwrap();
        assert!(made.success());
        assert!(open_own(&left).is_none());
        assert!(begin(&path).is_none());
    }
}
