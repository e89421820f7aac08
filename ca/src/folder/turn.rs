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
        let opened = match File::open(folder) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Self::default()),
            opened => opened.map_err(io_error("read", folder))?,
        };
        loop {
            match opened.lock() {
                // by a signal that the program handles
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Ok(()) => return Ok(Self::of(Some(opened))),
                Err(_) => return Ok(Self::default()),
            }
        }
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

/// The lock on a folder, or none on file systems that have no locks; an error if another process has it.
#[cfg(unix)]
pub(super) fn try_lock(folder: &Path) -> io::Result<Option<File>> {
    let folder = File::open(folder)?;
    match folder.try_lock() {
        Ok(()) => Ok(Some(folder)),
        Err(TryLockError::WouldBlock) => Err(ErrorKind::WouldBlock.into()),
        Err(TryLockError::Error(_)) => Ok(None),
    }
}

/// On other systems a folder can't be locked.
#[cfg(not(unix))]
pub(super) fn try_lock(_: &Path) -> io::Result<Option<File>> {
    Ok(None)
}
