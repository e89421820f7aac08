//! The file, as redb uses it.

use alloc::collections::BTreeMap;
use alloc::sync::Arc;
use std::fs::File;
use std::io;
use std::sync::{Mutex, MutexGuard, PoisonError};

use ::redb::backends::FileBackend;
use ::redb::{DatabaseError, StorageBackend};

use super::pages::Pages;
use super::watched::Watched;

/// A locked file whose extension is on the disk before redb says in its header that it is longer.
#[derive(Debug)]
pub(super) struct Growing {
    file: Arc<Watched>,
    pages: Pages,
}

impl Growing {
    pub(super) fn new(file: Arc<Watched>) -> Self {
        Self {
            file,
            pages: Pages::default(),
        }
    }
}

impl StorageBackend for Growing {
    fn len(&self) -> io::Result<u64> {
        self.file.len()
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        self.file.read(offset, out)?;
        self.pages.read(offset, out, self.file.len()?)
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        let grows = len > self.file.len()?;
        self.file.set_len(len)?;
        if grows { self.file.sync() } else { Ok(()) }
    }

    fn sync_data(&self) -> io::Result<()> {
        self.file.sync()
    }

    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        self.pages.write(offset, data);
        self.file.write(offset, data)
    }

    fn close(&self) -> io::Result<()> {
        self.file.close()
    }
}

/// The size of the pieces that are kept of what was written.
const PIECE: u64 = 4096;

/// A locked file that stays as it is: what redb writes is in memory only, and gone with it. redb writes a little whenever it
/// opens a file, and more to one that was not closed.
#[derive(Debug)]
pub(super) struct Untouched {
    file: FileBackend,
    pages: Pages,
    written: Mutex<Written>,
}

#[derive(Debug)]
struct Written {
    len: u64,
    /// How much of the file counts yet.
    of_file: u64,
    pieces: BTreeMap<u64, Vec<u8>>,
}

impl Untouched {
    /// Locks the file, which need not be writable.
    pub(super) fn lock(file: File) -> Result<Self, DatabaseError> {
        let file = FileBackend::new(file)?;
        let len = file
            .len()
            .map_err(|error| DatabaseError::Storage(error.into()))?;
        Ok(Self {
            file,
            pages: Pages::default(),
            written: Mutex::new(Written {
                len,
                of_file: len,
                pieces: BTreeMap::new(),
            }),
        })
    }

    fn written(&self) -> MutexGuard<'_, Written> {
        // Nothing panics between two changes that belong together.
        self.written.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What the file has there, and zeros after it.
    fn read_file(&self, of_file: u64, offset: u64, out: &mut [u8]) -> io::Result<()> {
        let left = of_file.saturating_sub(offset);
        let len = usize::try_from(left).map_or(out.len(), |left| left.min(out.len()));
        let (there, after) = out.split_at_mut(len);
        after.fill(0);
        match there {
            [] => Ok(()),
            there => self.file.read(offset, there),
        }
    }
}

/// The end of some bytes that a file of this length has.
fn end(offset: u64, bytes: &[u8], len: u64) -> io::Result<u64> {
    let end = offset.checked_add(bytes.len() as u64);
    end.filter(|end| *end <= len)
        .ok_or_else(|| io::ErrorKind::UnexpectedEof.into())
}

/// The parts of some bytes at an offset: each with the number of its piece, and where it begins in it.
fn parts(offset: u64, len: usize) -> impl Iterator<Item = (u64, usize, core::ops::Range<usize>)> {
    let mut at = 0;
    core::iter::from_fn(move || {
        let place = offset + at as u64;
        // Less than a piece.
        let within = (place % PIECE) as usize;
        let part = at..len.min(at + PIECE as usize - within);
        at = part.end;
        (!part.is_empty()).then_some((place / PIECE, within, part))
    })
}

impl StorageBackend for Untouched {
    fn len(&self) -> io::Result<u64> {
        Ok(self.written().len)
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        let written = self.written();
        end(offset, out, written.len)?;
        self.read_file(written.of_file, offset, out)?;
        for (number, within, part) in parts(offset, out.len()) {
            if let Some(piece) = written.pieces.get(&number) {
                let len = part.len();
                out[part].copy_from_slice(&piece[within..within + len]);
            }
        }
        self.pages.read(offset, out, written.len)
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        let mut written = self.written();
        if len < written.len {
            written.of_file = written.of_file.min(len);
            written
                .pieces
                .retain(|number, _| *number < len.div_ceil(PIECE));
            if let Some(last) = written.pieces.get_mut(&(len / PIECE)) {
                last[(len % PIECE) as usize..].fill(0);
            }
        }
        written.len = len;
        Ok(())
    }

    fn sync_data(&self) -> io::Result<()> {
        Ok(())
    }

    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        let mut written = self.written();
        end(offset, data, written.len)?;
        self.pages.write(offset, data);
        for (number, within, part) in parts(offset, data.len()) {
            if !written.pieces.contains_key(&number) {
                let mut piece = vec![0; PIECE as usize];
                self.read_file(written.of_file, number * PIECE, &mut piece)?;
                written.pieces.insert(number, piece);
            }
            if let Some(piece) = written.pieces.get_mut(&number) {
                piece[within..within + part.len()].copy_from_slice(&data[part]);
            }
        }
        Ok(())
    }

    fn close(&self) -> io::Result<()> {
        self.file.close()
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_file_that_is_written_to_in_memory_stays_as_it_is() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        let mut expected: Vec<u8> = (0..10_000_u32).map(|number| number as u8).collect();
        fs::write(&path, &expected).unwrap();
        let before = expected.clone();
        let backend = Untouched::lock(File::open(&path).unwrap()).unwrap();
        let check = |expected: &[u8]| {
            assert_eq!(backend.len().unwrap(), expected.len() as u64);
            for (offset, len) in [(0, expected.len()), (4_090, 10), (8_000, 1_500), (1, 8_192)] {
                let mut out = vec![7; len];
                backend.read(offset as u64, &mut out).unwrap();
                assert_eq!(out, expected[offset..offset + len], "{offset}");
            }
            assert!(backend.read(1, &mut vec![0; expected.len()]).is_err());
        };
        check(&expected);
        for (offset, len) in [(5, 3), (4_000, 200), (3_000, 6_000)] {
            backend.write(offset as u64, &vec![b'x'; len]).unwrap();
            expected[offset..offset + len].fill(b'x');
            check(&expected);
        }
        for len in [20_000, 9_500, 12_000, 9_500] {
            backend.set_len(len).unwrap();
            expected.resize(len as usize, 0);
            check(&expected);
        }
        assert!(backend.write(9_499, b"xx").is_err());
        drop(backend);
        assert_eq!(fs::read(&path).unwrap(), before);
    }
}
