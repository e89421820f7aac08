//! The lock that gives turns to the processes that use a ledger.

use std::fs::{self, TryLockError};
use std::io::{self, ErrorKind, Read, Seek, Write};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use super::files::{Access, io_error, is_at, new_file, open_own};
use crate::ledger::error::LedgerError;

/// The file that a process locks during its turn. The operating system unlocks it when the process ends,
/// for whatever reason.
///
/// The file contains how often the index was written, so that a process with an open index notices that
/// it was written again.
#[derive(Debug)]
pub(super) struct Lock {
    file: OnceLock<fs::File>,
    path: PathBuf,
    access: Access,
}

impl Lock {
    /// Opens the file. Who may change the ledger makes it if it doesn't exist.
    pub(super) fn open(path: &Path, access: Access) -> Result<Self, LedgerError> {
        let lock = Self {
            file: OnceLock::new(),
            path: path.into(),
            access,
        };
        lock.file()?;
        Ok(lock)
    }

    /// The open file, or `None` if there is none and this process may not make it. Then nobody has changed the ledger
    /// since its files came here, from a backup.
    fn file(&self) -> Result<Option<&fs::File>, LedgerError> {
        if let Some(file) = self.file.get() {
            return Ok(Some(file));
        }
        let opened = match self.access {
            Access::Read => open_own(fs::File::options().read(true), &self.path, self.access),
            Access::Change => {
                let mut options = new_file();
                open_own(
                    options.create(true).truncate(false),
                    &self.path,
                    self.access,
                )
            }
        };
        match opened {
            Ok(file) => Ok(Some(self.file.get_or_init(|| file))),
            Err(cause) if cause.kind() == ErrorKind::NotFound && self.access == Access::Read => {
                Ok(None)
            }
            Err(cause) => Err(io_error("open", &self.path)(cause)),
        }
    }

    /// Waits for the turn of this process. Processes that only read take it together. If another process has the turn,
    /// `waiting` is called first.
    ///
    /// # Errors
    ///
    /// Also if the file was replaced or deleted since it was opened.
    pub(super) fn take(&self, waiting: impl FnOnce()) -> Result<Turn<'_>, LedgerError> {
        let Some(file) = self.file()? else {
            return Ok(Turn {
                lock: self,
                file: None,
            });
        };
        let tried = match self.access {
            Access::Change => file.try_lock(),
            Access::Read => file.try_lock_shared(),
        };
        let locked = match tried {
            Ok(()) => Ok(()),
            Err(TryLockError::WouldBlock) => {
                waiting();
                self.wait(file)
            }
            Err(TryLockError::Error(cause)) => Err(cause),
        };
        locked.map_err(io_error("lock", &self.path))?;
        let turn = Turn {
            lock: self,
            file: Some(file),
        };
        // Whoever opens the ledger now locks the file that has the name, so another one gives nobody the turn.
        match is_at(file, &self.path).map_err(io_error("open", &self.path))? {
            true => Ok(turn),
            false => Err(LedgerError::Replaced(self.path.clone())),
        }
    }

    fn wait(&self, file: &fs::File) -> io::Result<()> {
        loop {
            let locked = match self.access {
                Access::Change => file.lock(),
                Access::Read => file.lock_shared(),
            };
            match locked {
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
    /// `None` if there is no file to lock.
    file: Option<&'a fs::File>,
}

impl Turn<'_> {
    /// Whether there is a file that is locked.
    #[cfg(test)]
    pub(super) fn is_locked(&self) -> bool {
        self.file.is_some()
    }

    /// How often the index was written, including attempts.
    pub(super) fn writings(&self) -> Result<u64, LedgerError> {
        let Some(mut file) = self.file else {
            return Ok(0);
        };
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
        let Some(mut file) = self.file else {
            return Ok(writings);
        };
        file.rewind()
            .and_then(|()| file.write_all(&writings.to_le_bytes()))
            .map_err(io_error("write", &self.lock.path))?;
        Ok(writings)
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        // If this fails, closing the file unlocks it.
        let _ = self.file.map(fs::File::unlock);
    }
}
