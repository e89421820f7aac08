//! The storage backend through which the database writes the index's file.

use std::fs;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::sync::{Mutex, MutexGuard, PoisonError};

use redb::StorageBackend;

/// A file that is written during this process's turn. It differs from redb's own backend in two ways.
///
/// The file isn't locked, because [`Lock`](super::lock::Lock) is locked instead: so others may keep the file
/// open for reading between their turns. And each extension of the file is synced at once. redb 4.1 writes the
/// new length into the file's header before the file has that length on the disk, and can't open the file again
/// if the machine stops in between.
#[derive(Debug)]
pub(super) struct Storage {
    file: Mutex<fs::File>,
}

impl Storage {
    pub(super) fn new(file: fs::File) -> Self {
        Self {
            file: Mutex::new(file),
        }
    }

    fn file(&self) -> MutexGuard<'_, fs::File> {
        self.file.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl StorageBackend for Storage {
    fn len(&self) -> io::Result<u64> {
        Ok(self.file().metadata()?.len())
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        let mut file = self.file();
        file.seek(SeekFrom::Start(offset))?;
        file.read_exact(out)
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        let file = self.file();
        let grows = len > file.metadata()?.len();
        file.set_len(len)?;
        if grows { file.sync_data() } else { Ok(()) }
    }

    fn sync_data(&self) -> io::Result<()> {
        self.file().sync_data()
    }

    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        let mut file = self.file();
        file.seek(SeekFrom::Start(offset))?;
        file.write_all(data)
    }
}
