//! The lock that gives turns to the processes that use a ledger.

use std::fs::{self, TryLockError};
use std::io::{self, ErrorKind, Read, Seek, Write};
use std::path::{Path, PathBuf};

use super::files::io_error;
use crate::ledger::error::LedgerError;

/// The file that a process locks during its turn. The operating system unlocks it when the process ends,
/// for whatever reason.
///
/// The file contains how often the index was written, so that a process with an open index notices that
/// it was written again.
#[derive(Debug)]
pub(super) struct Lock {
    file: fs::File,
    path: PathBuf,
}

impl Lock {
    /// Opens the file, and makes it if it doesn't exist.
    pub(super) fn open(path: &Path) -> Result<Self, LedgerError> {
        let file = fs::File::options()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(path)
            .map_err(io_error("open", path))?;
        Ok(Self {
            file,
            path: path.into(),
        })
    }

    /// Waits for the turn of this process. If another process has the turn, `waiting` is called first.
    pub(super) fn take(&self, waiting: impl FnOnce()) -> Result<Turn<'_>, LedgerError> {
        let locked = match self.file.try_lock() {
            Ok(()) => Ok(()),
            Err(TryLockError::WouldBlock) => {
                waiting();
                self.wait()
            }
            Err(TryLockError::Error(cause)) => Err(cause),
        };
        locked.map_err(io_error("lock", &self.path))?;
        Ok(Turn { lock: self })
    }

    fn wait(&self) -> io::Result<()> {
        loop {
            match self.file.lock() {
                // Interrupted by a signal that the program handles.
                Err(cause) if cause.kind() == ErrorKind::Interrupted => {}
                result => return result,
            }
        }
    }
}

/// The turn of this process. It ends when this is dropped.
#[derive(Debug)]
pub(super) struct Turn<'a> {
    lock: &'a Lock,
}

impl Turn<'_> {
    /// How often the index was written, including attempts.
    pub(super) fn writings(&self) -> Result<u64, LedgerError> {
        let mut file = &self.lock.file;
        let mut bytes = Vec::with_capacity(8);
        file.rewind()
            .and_then(|()| file.read_to_end(&mut bytes))
            .map_err(io_error("read", &self.lock.path))?;
        // Before the first time, the file is empty.
        let counter = bytes.first_chunk().copied().unwrap_or_default();
        Ok(u64::from_le_bytes(counter))
    }

    /// Counts one more writing of the index. Call this before the writing. The file isn't synced: when the
    /// machine stops, so do all processes that would read it.
    pub(super) fn count_writing(&self) -> Result<u64, LedgerError> {
        let writings = self.writings()?.wrapping_add(1);
        let mut file = &self.lock.file;
        file.rewind()
            .and_then(|()| file.write_all(&writings.to_le_bytes()))
            .map_err(io_error("write", &self.lock.path))?;
        Ok(writings)
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        // If this fails, closing the file unlocks it.
        let _ = self.lock.file.unlock();
    }
}
