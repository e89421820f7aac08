//! The lock by which processes take turns at a CA's folder: what one began with its keys is complete before another one
//! looks. The operating system unlocks it when the process ends, for whatever reason.

use std::fs::File;
#[cfg(unix)]
use std::fs::TryLockError;
use std::io;
#[cfg(unix)]
use std::io::ErrorKind;
use std::path::Path;

use super::error::FolderError;
#[cfg(unix)]
use super::error::io_error;
#[cfg(unix)]
use crate::ledger::is_at;

/// The turn of this process, which ends when this is dropped. File systems without locks give each process one: then the
/// ledgers alone refuse what another process did before.
#[derive(Debug, Default)]
pub(super) struct Turn {
    _lock: Option<File>,
}

impl Turn {
    /// Waits for the turn. A folder that is not there is nobody's.
    #[cfg(unix)]
    pub(super) fn wait(folder: &Path) -> Result<Self, FolderError> {
        loop {
            let opened = match File::open(folder) {
                Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Self::default()),
                opened => opened.map_err(io_error("read", folder))?,
            };
            let locked = loop {
                match opened.lock() {
                    // by a signal that the program handles
                    Err(error) if error.kind() == ErrorKind::Interrupted => {}
                    locked => break locked,
                }
            };
            let lock = given(opened, locked).map_err(io_error("lock", folder))?;
            // Another process may have put a new CA in the place of an empty folder meanwhile.
            let is_in_place = match &lock {
                Some(lock) => is_at(lock, folder).map_err(io_error("read", folder))?,
                None => true,
            };
            if is_in_place {
                return Ok(Self::of(lock));
            }
        }
    }

    /// Whether another process has the turn now.
    #[cfg(unix)]
    pub(super) fn is_taken(folder: &Path) -> bool {
        try_lock(folder).is_err_and(|error| error.kind() == ErrorKind::WouldBlock)
    }

    #[cfg(not(unix))]
    pub(super) fn is_taken(_: &Path) -> bool {
        false
    }

    /// On other systems a folder can't be locked.
    #[cfg(not(unix))]
    pub(super) fn wait(_: &Path) -> Result<Self, FolderError> {
        Ok(Self::default())
    }

    pub(super) fn of(lock: Option<File>) -> Self {
        Self { _lock: lock }
    }
}

/// The lock on a folder, or none on file systems that have no locks; an error if another process has it, or if it fails.
#[cfg(unix)]
pub(super) fn try_lock(folder: &Path) -> io::Result<Option<File>> {
    let folder = File::open(folder)?;
    let locked = folder.try_lock().map_err(|error| match error {
        TryLockError::WouldBlock => ErrorKind::WouldBlock.into(),
        TryLockError::Error(error) => error,
    });
    given(folder, locked)
}

/// A lock that was asked for, or none if the file system has no locks.
#[cfg(unix)]
fn given(file: File, locked: io::Result<()>) -> io::Result<Option<File>> {
    match locked {
        Ok(()) => Ok(Some(file)),
        Err(error) if has_no_locks(&error) => Ok(None),
        Err(error) => Err(error),
    }
}

#[cfg(unix)]
fn has_no_locks(error: &io::Error) -> bool {
    use rustix::io::Errno;

    let none = [Errno::NOLCK, Errno::NOSYS, Errno::NOTSUP, Errno::OPNOTSUPP];
    error.kind() == ErrorKind::Unsupported
        || Errno::from_io_error(error).is_some_and(|error| none.contains(&error))
}

/// On other systems a folder can't be locked.
#[cfg(not(unix))]
pub(super) fn try_lock(_: &Path) -> io::Result<Option<File>> {
    Ok(None)
}

#[cfg(all(test, unix))]
mod tests {
    use core::time::Duration;
    use std::{fs, thread};

    use rustix::io::Errno;

    use super::*;

    /// Whoever waited at an empty folder goes on waiting at the one that took its place.
    #[test]
    fn the_turn_is_at_the_folder_that_has_the_name() {
        let above = tempfile::tempdir().unwrap();
        let (path, new) = (above.path().join("ca"), above.path().join("new"));
        fs::create_dir(&path).unwrap();
        let first = Turn::wait(&path).unwrap();
        assert!(Turn::is_taken(&path));
        let same = path.clone();
        let waiting = thread::spawn(move || {
            let _turn = Turn::wait(&same).unwrap();
            fs::read_dir(&same).unwrap().count()
        });
        thread::sleep(Duration::from_millis(200));
        fs::create_dir(&new).unwrap();
        let second = Turn::wait(&new).unwrap();
        fs::rename(&new, &path).unwrap();
        drop(first);
        thread::sleep(Duration::from_millis(200));
        assert!(!waiting.is_finished());
        fs::write(path.join("root.pem"), "").unwrap();
        drop(second);
        assert_eq!(waiting.join().unwrap(), 1);
        assert!(!Turn::is_taken(&path));
    }

    /// What keeps from locking on a file system that has locks gives nobody a turn.
    #[test]
    fn only_file_systems_without_locks_do_without() {
        let folder = tempfile::tempdir().unwrap();
        let given = |error: io::Error| given(File::open(folder.path()).unwrap(), Err(error));
        for none in [Errno::NOLCK, Errno::NOSYS, Errno::NOTSUP, Errno::OPNOTSUPP] {
            assert!(matches!(given(none.into()), Ok(None)), "{none}");
        }
        assert!(matches!(given(ErrorKind::Unsupported.into()), Ok(None)));
        for other in [
            Errno::IO,
            Errno::INVAL,
            Errno::BADF,
            Errno::NOMEM,
            Errno::STALE,
        ] {
            let refused = given(other.into()).unwrap_err();
            assert_eq!(Errno::from_io_error(&refused), Some(other));
        }
    }
}
