// This room uses the files beside it: entry, error, filter, name and serial_number.

//! A ledger in a folder on this machine: a journal, and an index that is made from it.
//!
//! Why not one transaction of the database for each call? For the database to open at once after a process
//! was killed, redb has to write a list of the file's free pages with each commit: the larger the file, the
//! longer the list. A commit also changes more pages of a tree of a million entries than of an empty one. The
//! journal always takes one write and one sync. The index costs a database transaction only once in a
//! thousand changes, or in several thousand that are recorded many at a time.
//!
//! `books` combines `journal` and `index`, and holds the changes that are in the journal and not yet in the
//! index. `order` defines the content of the index, and `row` its encoding.

mod books;
mod codec;
mod files;
mod index;
mod journal;
mod lock;
mod order;
mod row;
mod storage;
#[cfg(test)]
mod tests;

use core::fmt;
use core::ops::ControlFlow;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::thread;

use pq_x509::pki_types::{CertificateDer, UnixTime};

use self::books::{Books, MANY};
use self::files::{io_error, sync_folder};
use self::journal::Journal;
use self::lock::{Lock, Turn};
use super::Ledger;
use super::entry::{Entry, NewEntry, Revocation};
use super::error::LedgerError;
use super::filter::Filter;
use super::serial_number::SerialNumber;

/// A ledger in a folder, for all processes of one machine.
///
/// # Files
///
/// * `journal` is the ledger: all changes in their order. It is only ever appended to, and the digest of
///   each record covers this record and all records before it. Back up this file, and no other: a copy that
///   is made during a write is good up to the last complete record.
/// * `index` is made from the journal, and rebuilt if it is missing: it has what was issued and revoked,
///   by serial number, expiry, name and issuer.
/// * `lock` is locked by the process whose turn it is.
///
/// # How long calls take
///
/// Each call that changes something appends one record to the journal, and waits once until the record is
/// on the disk. This time does not depend on the size of the ledger. So call `record` and `revoke_all` once for
/// many certificates. After each thousand changes, the index is updated, and one call takes some milliseconds
/// longer. When `record` gets several certificates, the update waits until the index lacks 8,192 changes, until
/// another change, or until the ledger is dropped. Therefore dropping the ledger may wait for a turn, too.
///
/// # Several processes
///
/// A call waits for its turn. A turn of another process lasts for one call, not for as long as that process has
/// the ledger open. [`find`](Ledger::find) takes a turn for each thousand entries, and none while it shows
/// them, so no process waits for a slow reader. A process that is killed loses its turn and its unfinished
/// change, and the next process continues at once. The folder has to be on a local disk: locks of network file
/// systems are not reliable. On Windows this doesn't work yet, because a process that reads the index prevents
/// others from writing it.
///
/// ```
/// # use std::path::Path;
/// use pq_ca::{LedgerError, LocalLedger};
///
/// # fn open(folder: &Path) -> Result<LocalLedger, LedgerError> {
/// let ledger = LocalLedger::open(folder)?
///     .on_wait(|| eprintln!("waiting for another process that uses the ledger"));
/// # Ok(ledger)
/// # }
/// ```
pub struct LocalLedger {
    folder: PathBuf,
    lock: Lock,
    /// The files that the last call left open.
    books: Mutex<Option<Books>>,
    /// The index is written when this many certificates and lists are missing in it.
    enough: usize,
    /// The same limit after a `record` of several certificates.
    many: usize,
    on_wait: Box<dyn Fn() + Send + Sync>,
}

impl LocalLedger {
    /// Creates an empty ledger in a folder, which is made if it doesn't exist.
    ///
    /// # Errors
    ///
    /// [`LedgerError::AlreadyThere`], or another error if files can't be made.
    pub fn create(folder: impl AsRef<Path>) -> Result<Self, LedgerError> {
        let folder = folder.as_ref();
        fs::create_dir_all(folder).map_err(io_error("create", folder))?;
        let ledger = Self::at(folder)?;
        {
            let _turn = ledger.lock.take(|| {})?;
            let journal = ledger.journal();
            if journal.exists() {
                return Err(LedgerError::AlreadyThere {
                    path: folder.into(),
                });
            }
            Journal::create(&journal)?;
            folder
                .parent()
                .map_or(Ok(()), |parent| match parent.as_os_str() {
                    name if name.is_empty() => sync_folder(Path::new(".")),
                    _ => sync_folder(parent),
                })?;
        }
        Ok(ledger)
    }

    /// Opens the ledger in a folder.
    ///
    /// # Errors
    ///
    /// [`LedgerError::NoLedger`] if there is none: this never creates a ledger, since a CA that can't find
    /// its revocations must not make an empty revocation list. [`LedgerError::Newer`] if another version of
    /// this crate is needed. Whether the rest of the ledger can be read, only the first call finds out, which may
    /// have to wait for its turn.
    pub fn open(folder: impl AsRef<Path>) -> Result<Self, LedgerError> {
        let folder = folder.as_ref();
        if !folder.join(JOURNAL).exists() {
            return Err(LedgerError::NoLedger {
                path: folder.into(),
            });
        }
        Journal::open(&folder.join(JOURNAL))?;
        Self::at(folder)
    }

    /// Sets a function that is called each time before this ledger waits for another process's turn.
    #[must_use]
    pub fn on_wait(mut self, tell: impl Fn() + Send + Sync + 'static) -> Self {
        self.on_wait = Box::new(tell);
        self
    }

    fn at(folder: &Path) -> Result<Self, LedgerError> {
        Ok(Self {
            folder: folder.into(),
            lock: Lock::open(&folder.join(LOCK))?,
            books: Mutex::new(None),
            enough: ENOUGH,
            many: MANY,
            on_wait: Box::new(|| {}),
        })
    }

    fn journal(&self) -> PathBuf {
        self.folder.join(JOURNAL)
    }

    /// Does something during this process's turn, after reading the changes of others.
    fn turn<T>(
        &self,
        act: impl FnOnce(&mut Books, &Turn<'_>) -> Result<T, LedgerError>,
    ) -> Result<T, LedgerError> {
        let mut kept = self.books.lock().unwrap_or_else(PoisonError::into_inner);
        let turn = self.lock.take(&self.on_wait)?;
        // The books are put back only after success. After an error, the next call reads the files again.
        let mut books = match kept.take() {
            Some(books) if books.is_current(&turn)? => books,
            _ => Books::open(&self.journal(), &self.folder.join(INDEX), &turn)?,
        };
        books.catch_up(&turn)?;
        let result = act(&mut books, &turn)?;
        *kept = Some(books);
        Ok(result)
    }

    /// The same for changes, which append to the journal, and after which the index may have to be
    /// written. If it can't be written, as on a full disk, reading still works.
    fn change<T>(
        &self,
        act: impl FnOnce(&mut Books) -> Result<T, LedgerError>,
    ) -> Result<T, LedgerError> {
        self.change_with_index(self.enough, act)
    }

    /// The same, but the index may lack fewer than `least` changes.
    fn change_with_index<T>(
        &self,
        least: usize,
        act: impl FnOnce(&mut Books) -> Result<T, LedgerError>,
    ) -> Result<T, LedgerError> {
        self.turn(|books, turn| {
            books.write_index_if_waiting(least, turn)?;
            let result = act(books)?;
            // The change itself is done. If this fails, the next change tries it first, and returns the error.
            let _ = books.write_index_if_waiting(least, turn);
            Ok(result)
        })
    }
}

impl Drop for LocalLedger {
    /// Writes the index if calls with several certificates left many changes out of it.
    fn drop(&mut self) {
        let books = self.books.get_mut().unwrap_or_else(PoisonError::into_inner);
        let is_behind = |books: &Books| books.waiting() >= self.enough;
        if books.as_ref().is_some_and(is_behind) && !thread::panicking() {
            // If this fails, a later change tries it first, and returns the error: the next change of a single
            // certificate, or one of several as soon as very many are missing.
            let _ = self.change(|_| Ok(()));
        }
    }
}

impl Ledger for LocalLedger {
    /// After a call with several certificates, more calls may follow, so the index is written only at their end or
    /// after very many. This saves time, because each writing reads and writes most of the pages.
    fn record(&self, entries: &[NewEntry<'_>]) -> Result<(), LedgerError> {
        let least = match entries {
            [] | [_] => self.enough,
            _ => self.many,
        };
        self.change_with_index(least, |books| books.record(entries))
    }

    fn entry(&self, number: &SerialNumber) -> Result<Option<Entry>, LedgerError> {
        self.turn(|books, _| books.entry(number))
    }

    fn certificate(
        &self,
        number: &SerialNumber,
    ) -> Result<Option<CertificateDer<'static>>, LedgerError> {
        self.turn(|books, _| books.certificate(number))
    }

    fn revoke(&self, number: &SerialNumber, revocation: &Revocation) -> Result<Entry, LedgerError> {
        self.change(|books| {
            books.revoke(&[*number], revocation)?;
            books.known_entry(number)
        })
    }

    fn revoke_all(
        &self,
        numbers: &[SerialNumber],
        revocation: &Revocation,
    ) -> Result<(), LedgerError> {
        self.change(|books| books.revoke(numbers, revocation))
    }

    fn reinstate(
        &self,
        number: &SerialNumber,
        at: UnixTime,
        by: &str,
    ) -> Result<Entry, LedgerError> {
        self.change(|books| {
            books.reinstate(number, at, by)?;
            books.known_entry(number)
        })
    }

    fn find(
        &self,
        filter: &Filter,
        show: &mut dyn FnMut(Entry) -> ControlFlow<()>,
    ) -> Result<(), LedgerError> {
        let mut left = filter.limit.unwrap_or(usize::MAX);
        let mut search = self.turn(|books, turn| {
            // Each page looks at all changes that are not in the index. If the index can't be written, this only
            // takes longer.
            let _ = books.write_index_if_waiting(self.enough, turn);
            books.search(filter)
        })?;
        while left > 0 {
            let Some(entries) = self.turn(|books, _| books.look_on(filter, &mut search, left))?
            else {
                break;
            };
            left -= entries.len();
            for entry in entries {
                if show(entry).is_break() {
                    return Ok(());
                }
            }
        }
        Ok(())
    }

    fn next_list(
        &self,
        issuer: &str,
        now: UnixTime,
        show: &mut dyn FnMut(&SerialNumber, &Revocation),
    ) -> Result<u64, LedgerError> {
        self.change(|books| books.next_list(issuer, now, show))
    }
}

impl fmt::Debug for LocalLedger {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LocalLedger")
            .field("folder", &self.folder)
            .finish_non_exhaustive()
    }
}

const JOURNAL: &str = "journal";
const INDEX: &str = "index";
const LOCK: &str = "lock";

/// Writing the index takes some milliseconds, for which one in this many calls waits. A process that opens the ledger
/// reads at most this many certificates from the journal, unless another process is recording several at a time, or
/// was killed while it did.
const ENOUGH: usize = 1024;
