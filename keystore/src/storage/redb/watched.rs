//! Whether what is in the file is what this process wrote. The lock keeps nobody from writing over it, as `cp` does.

use std::fs::File;
use std::io;
use std::sync::{Mutex, MutexGuard, PoisonError};

use ::redb::backends::FileBackend;
use ::redb::{DatabaseError, StorageBackend};
use pq_keys::random;

/// The size of the first page. redb's header is in its beginning; the rest is not used.
const PAGE: usize = 4096;

/// Where a mark is that no other process makes, as long as this one has the file.
const MARK: usize = PAGE - MARK_LEN;
const MARK_LEN: usize = 16;

/// A locked file, and what it has as long as nobody else writes to it: its length and its first page. Whoever writes
/// another one over it cuts it off, or begins with that page.
#[derive(Debug)]
pub(super) struct Watched {
    file: FileBackend,
    written: Mutex<Written>,
}

#[derive(Debug)]
struct Written {
    first: [u8; PAGE],
    len: u64,
    state: State,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum State {
    Known,
    /// A write failed, after which redb does nothing more.
    Unknown,
    /// Somebody else wrote to it. It stays like this, as what redb has of it in memory is of no use.
    Replaced,
}

impl Watched {
    /// Locks the file.
    pub(super) fn lock(file: File) -> Result<Self, DatabaseError> {
        let file = FileBackend::new(file)?;
        let failed = |error: io::Error| DatabaseError::Storage(error.into());
        let len = file.len().map_err(failed)?;
        let written = Written {
            first: first(&file, len).map_err(failed)?,
            len,
            state: State::Known,
        };
        Ok(Self {
            file,
            written: Mutex::new(written),
        })
    }

    /// Marks the file, which has a first page, as this process's. Otherwise a file that is put there just between a check and
    /// a write of the header would go unnoticed.
    pub(super) fn mark(&self) -> io::Result<()> {
        let mut mark = [0; MARK_LEN];
        random::fill(&mut mark).map_err(io::Error::other)?;
        self.write(MARK as u64, &mark)
    }

    fn written(&self) -> MutexGuard<'_, Written> {
        // Nothing panics between two changes that belong together.
        self.written.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether somebody else wrote over it.
    pub(super) fn is_replaced(&self) -> io::Result<bool> {
        let mut written = self.written();
        let is_in = written.is_in(&self.file);
        written.is_replaced(is_in)
    }

    /// What is known of the file, in which nobody else wrote until now.
    fn begun(&self) -> io::Result<MutexGuard<'_, Written>> {
        let mut written = self.written();
        let is_begun = written.is_begun(&self.file);
        written.check(is_begun)?;
        Ok(written)
    }

    pub(super) fn len(&self) -> io::Result<u64> {
        self.file.len()
    }

    /// Reads what this process wrote.
    pub(super) fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        self.file.read(offset, out)?;
        self.begun().map(drop)
    }

    pub(super) fn set_len(&self, len: u64) -> io::Result<()> {
        let mut written = self.begun()?;
        let set = self.file.set_len(len);
        written.note(set, |written| {
            written.len = len;
            let left = usize::try_from(len).unwrap_or(PAGE).min(PAGE);
            written.first[left..].fill(0);
        })
    }

    /// Returns if it is on the disk, and nobody else wrote to it before.
    pub(super) fn sync(&self) -> io::Result<()> {
        self.file.sync_data()?;
        let mut written = self.written();
        let is_in = written.is_in(&self.file);
        written.check(is_in)
    }

    pub(super) fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        let mut written = self.begun()?;
        let done = self.file.write(offset, data);
        written.note(done, |written| {
            written.len = written.len.max(offset + data.len() as u64);
            let first = usize::try_from(offset).ok();
            if let Some(first) = first.and_then(|offset| written.first.get_mut(offset..)) {
                let len = first.len().min(data.len());
                first[..len].copy_from_slice(&data[..len]);
            }
        })
    }

    pub(super) fn close(&self) -> io::Result<()> {
        self.file.close()
    }
}

impl Written {
    /// Whether the file begins as it should. Where it was cut off to be written anew, it doesn't.
    fn is_begun(&self, file: &FileBackend) -> io::Result<bool> {
        Ok(first(file, self.len)? == self.first)
    }

    fn is_in(&self, file: &FileBackend) -> io::Result<bool> {
        Ok(file.len()? == self.len && self.is_begun(file)?)
    }

    /// Whether somebody else wrote to the file, by what was seen of it now.
    fn is_replaced(&mut self, is_in: io::Result<bool>) -> io::Result<bool> {
        let is_replaced = match self.state {
            State::Known => match is_in {
                Ok(is_in) => !is_in,
                // It was cut off.
                Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => true,
                Err(error) => return Err(error),
            },
            state => state == State::Replaced,
        };
        if is_replaced {
            self.state = State::Replaced;
        }
        Ok(is_replaced)
    }

    fn check(&mut self, is_in: io::Result<bool>) -> io::Result<()> {
        match self.is_replaced(is_in)? {
            false => Ok(()),
            true => Err(io::Error::other("another program wrote over it")),
        }
    }

    fn note(&mut self, done: io::Result<()>, change: impl FnOnce(&mut Self)) -> io::Result<()> {
        match done {
            Ok(()) => change(self),
            Err(_) => self.state = State::Unknown,
        }
        done
    }
}

/// The first page of a file of this length, with zeros after its end.
fn first(file: &FileBackend, len: u64) -> io::Result<[u8; PAGE]> {
    let mut page = [0; PAGE];
    let there = usize::try_from(len).unwrap_or(PAGE).min(PAGE);
    file.read(0, &mut page[..there])?;
    Ok(page)
}
