//! The file, as redb uses it.

use std::fs::File;
use std::io;

use ::redb::backends::FileBackend;
use ::redb::{DatabaseError, StorageBackend};

/// A locked file whose extension is on the disk before redb says in its header that it is longer.
#[derive(Debug)]
pub(super) struct Growing(FileBackend);

impl Growing {
    /// Locks the file.
    pub(super) fn lock(file: File) -> Result<Self, DatabaseError> {
        FileBackend::new(file).map(Self)
    }
}

impl StorageBackend for Growing {
    fn len(&self) -> io::Result<u64> {
        self.0.len()
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        self.0.read(offset, out)
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        let grows = len > self.0.len()?;
        self.0.set_len(len)?;
        if grows { self.0.sync_data() } else { Ok(()) }
    }

    fn sync_data(&self) -> io::Result<()> {
        self.0.sync_data()
    }

    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        self.0.write(offset, data)
    }

    fn close(&self) -> io::Result<()> {
        self.0.close()
    }
}
