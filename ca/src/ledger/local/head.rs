//! The head: where the journal ends, in a file of its own.
//!
//! Whoever appends a record to the journal writes its end here, after the record is on the disk and before anybody
//! learns of it. So the two files witness for each other: what is in front of the head was acknowledged, and has to be
//! there, bit by bit. Only what is behind it may be unfinished.
//!
//! The file has two entries, far enough apart that one failed write doesn't touch both. They are written in turn. Each
//! consists of a name, the version of the format, the digest of the journal's header, a counter, the offset of the
//! journal's end, the digest there, and the SHA-256 digest of all these.

use core::ops::Range;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use super::files::{Access, Disk, Medium, create_whole, io_error};
use crate::ledger::error::LedgerError;

/// The end of a record.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(super) struct Position {
    pub(super) offset: u64,
    /// The digest that ends the record.
    pub(super) digest: [u8; DIGEST],
}

/// The open file, and what it says.
#[derive(Debug)]
pub(super) struct Head {
    file: Box<dyn Medium>,
    path: PathBuf,
    /// The digest of the journal's header.
    journal: [u8; DIGEST],
    entry: Entry,
    /// Whether the other entry can be read, too. If it can't, it may have been the newer one.
    is_whole: bool,
    /// Whether the other entry can't be read, and was the newer one for certain.
    lost_newer: bool,
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    counter: u64,
    end: Position,
}

impl Head {
    /// Makes the head of an empty journal, which ends behind its header.
    pub(super) fn create(disk: &dyn Disk, path: &Path, start: Position) -> Result<(), LedgerError> {
        let mut contents = vec![0; PLACE as usize + LENGTH];
        for counter in [0, 1] {
            let entry = Entry {
                counter,
                end: start,
            };
            let place = (counter * PLACE) as usize;
            contents[place..place + LENGTH].copy_from_slice(&encode(&start.digest, entry));
        }
        create_whole(disk, path, &contents)
    }

    /// Whether there is a head, other than one that was just made, for which nothing was acknowledged.
    pub(super) fn is_in_use(disk: &dyn Disk, path: &Path) -> Result<bool, LedgerError> {
        let file = match disk.open(path, Access::Read) {
            Ok(file) => file,
            Err(cause) if cause.kind() == ErrorKind::NotFound => return Ok(false),
            Err(cause) => return Err(io_error("open", path)(cause)),
        };
        let [first, second] = read(&*file).map_err(io_error("read", path))?;
        let counter = |entry: Option<[u8; LENGTH]>| Some(decode(&entry?)?.1.counter);
        Ok((counter(first), counter(second)) != (Some(0), Some(1)))
    }

    /// Whether the open file is still the one with its name.
    pub(super) fn is_in_place(&self) -> Result<bool, LedgerError> {
        let is_at = self.file.is_at(&self.path);
        is_at.map_err(io_error("open", &self.path))
    }

    /// Opens the head of a journal that starts, or once started, with the header that one of these positions is behind.
    /// Returns which.
    pub(super) fn open(
        disk: &dyn Disk,
        path: &Path,
        access: Access,
        starts: &[Position],
    ) -> Result<(Self, Position), LedgerError> {
        let damaged = |what| LedgerError::Damaged {
            path: path.into(),
            what,
        };
        let file = match disk.open(path, access) {
            Ok(file) => file,
            Err(cause) if cause.kind() == ErrorKind::NotFound => {
                return Err(damaged("it is missing"));
            }
            Err(cause) => return Err(io_error("open", path)(cause)),
        };
        let mut head = Self {
            file,
            path: path.into(),
            journal: [0; DIGEST],
            entry: Entry {
                counter: 0,
                end: Position::default(),
            },
            is_whole: false,
            lost_newer: false,
        };
        let journal = head.read_any()?;
        let start = starts.iter().find(|start| start.digest == journal);
        let start = start.ok_or_else(|| damaged(OF_ANOTHER))?;
        head.journal = journal;
        Ok((head, *start))
    }

    /// Reads what others have written.
    pub(super) fn read(&mut self) -> Result<(), LedgerError> {
        let before = (self.entry, self.is_whole, self.lost_newer);
        if self.read_any()? == self.journal {
            return Ok(());
        }
        (self.entry, self.is_whole, self.lost_newer) = before;
        Err(LedgerError::Damaged {
            path: self.path.clone(),
            what: OF_ANOTHER,
        })
    }

    /// Reads the head of any journal, and returns the digest of its header.
    fn read_any(&mut self) -> Result<[u8; DIGEST], LedgerError> {
        let damaged = |what| LedgerError::Damaged {
            path: self.path.clone(),
            what,
        };
        let (mut entries, mut lost) = (Vec::new(), None);
        let read = read(&*self.file).map_err(io_error("read", &self.path))?;
        for bytes in read.into_iter().flatten() {
            match decode(&bytes) {
                Some(entry) => entries.push(entry),
                None => lost = Some(bytes),
            }
        }
        self.is_whole = entries.len() == 2;
        let newest = entries.into_iter().max_by_key(|(_, entry)| entry.counter);
        let (journal, entry) = newest.ok_or_else(|| damaged("it can't be read"))?;
        self.entry = entry;
        self.lost_newer = lost.is_some_and(|lost| is_newer(lost, entry.counter));
        Ok(journal)
    }

    /// The end of the last record that was acknowledged.
    pub(super) fn end(&self) -> Position {
        self.entry.end
    }

    /// Whether no later end can have been lost from the file.
    pub(super) fn is_whole(&self) -> bool {
        self.is_whole
    }

    /// Whether a later end was lost from the file, as far as what is left of its entry can tell: not if the whole entry
    /// is gone.
    pub(super) fn lost_newer(&self) -> bool {
        self.lost_newer
    }

    /// Notes the end of a record that is on the disk. This is on the disk, too, when it returns.
    pub(super) fn advance(&mut self, end: Position) -> Result<(), LedgerError> {
        let entry = Entry {
            counter: self.entry.counter + 1,
            end,
        };
        self.file
            .write(entry.counter % 2 * PLACE, &encode(&self.journal, entry))
            .map_err(io_error("write", &self.path))?;
        self.sync()?;
        // It was written over the entry that could not be read, if there was one.
        (self.is_whole, self.lost_newer) = (true, false);
        self.entry = entry;
        Ok(())
    }

    pub(super) fn sync(&self) -> Result<(), LedgerError> {
        self.file.sync().map_err(io_error("sync", &self.path))
    }
}

/// The two entries, as far as the file has them.
fn read(file: &dyn Medium) -> io::Result<[Option<[u8; LENGTH]>; 2]> {
    let read = |place| {
        let mut bytes = [0; LENGTH];
        match file.read(place, &mut bytes) {
            Ok(()) => Ok(Some(bytes)),
            Err(cause) if cause.kind() == ErrorKind::UnexpectedEof => Ok(None),
            Err(cause) => Err(cause),
        }
    };
    Ok([read(0)?, read(PLACE)?])
}

fn encode(journal: &[u8; DIGEST], entry: Entry) -> [u8; LENGTH] {
    let mut bytes = Vec::with_capacity(LENGTH);
    bytes.extend_from_slice(NAME);
    bytes.extend_from_slice(journal);
    bytes.extend_from_slice(&entry.counter.to_le_bytes());
    bytes.extend_from_slice(&entry.end.offset.to_le_bytes());
    bytes.extend_from_slice(&entry.end.digest);
    let digest = Sha256::digest(&bytes);
    bytes.extend_from_slice(&digest);
    let mut entry = [0; LENGTH];
    entry.copy_from_slice(&bytes);
    entry
}

/// Reads the digest of the journal's header and an entry.
fn decode(bytes: &[u8; LENGTH]) -> Option<([u8; DIGEST], Entry)> {
    let (content, digest) = bytes.split_at(LENGTH - DIGEST);
    if Sha256::digest(content)[..] != *digest {
        return None;
    }
    let rest = content.strip_prefix(NAME)?;
    let (journal, rest) = rest.split_first_chunk()?;
    let (counter, rest) = rest.split_first_chunk()?;
    let (offset, rest) = rest.split_first_chunk()?;
    let (digest, _) = rest.split_first_chunk()?;
    let entry = Entry {
        counter: u64::from_le_bytes(*counter),
        end: Position {
            offset: u64::from_le_bytes(*offset),
            digest: *digest,
        },
    };
    Some((*journal, entry))
}

/// Whether an entry that can't be read is the one after this counter, and not the one before.
fn is_newer(mut lost: [u8; LENGTH], counter: u64) -> bool {
    let said = lost[COUNTER].to_owned();
    let mut is_with = |counter: u64| {
        lost[COUNTER].copy_from_slice(&counter.to_le_bytes());
        decode(&lost).is_some()
    };
    // The first two entries were written together.
    if counter == 0 {
        return false;
    }
    // Either the counter is what was changed, or it is as it was written.
    let next = counter.wrapping_add(1);
    is_with(next) || !is_with(counter.wrapping_sub(1)) && said == next.to_le_bytes()
}

const OF_ANOTHER: &str = "it belongs to another journal";
/// With the version of the format.
const NAME: &[u8; 16] = b"pq-ca head 1\0\0\0\0";
const DIGEST: usize = 32;
/// Where the counter is in an entry.
const COUNTER: Range<usize> = NAME.len() + DIGEST..NAME.len() + DIGEST + 8;
const LENGTH: usize = NAME.len() + DIGEST + 8 + 8 + DIGEST + DIGEST;
/// Where the second entry is: on another page than the first.
const PLACE: u64 = 4096;
