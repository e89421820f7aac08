// This room uses the files beside it: entry, error, filter, name and serial_number.

//! A ledger in a folder of this machine: a journal, and an index that is made from it.
//!
//! Why not one transaction of the database for each call? If it is to open at once after a process
//! was killed, redb has to write down with each commit which pages of the file are free: the more,
//! the larger the file. And a tree of a million entries has more pages that change than an empty
//! one. A journal takes one write and one sync, always; the index takes that of the database once
//! in a thousand, or in several thousands that are recorded many at a time.
//!
//! `books` puts `journal` and `index` together, and knows what is in the journal and not yet in the
//! index. `order` says what the index has, and `row` how it is written.

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
/// * `journal` is the ledger: what was done, in the order in which it was. It is only ever appended
///   to, and each record has a digest over it and all before it. This is the file to back up, with
///   nothing else: a copy that was made while somebody wrote is good up to the last whole record.
/// * `index` is made from the journal, and made again if it is gone: what was issued and revoked,
///   by serial number, expiry, name and issuer.
/// * `lock` is locked by the process whose turn it is.
///
/// # How long it takes
///
/// Each call that changes something appends one record to the journal, and waits once until it is
/// on the disk: that takes as long whatever else is in the ledger. So `record` and `revoke_all` are
/// to be called for many certificates at once, where there are many. After each thousand changes,
/// the index is brought up to date, and one call takes some milliseconds longer. After `record` of several it waits
/// until it lacks 8,192, or until another change, or until the ledger is dropped: so that may wait for a turn, too.
///
/// # Several processes
///
/// A call waits for its turn, which lasts for one call of another process, and not for as long as
/// that process has the ledger open. [`find`](Ledger::find) takes a turn for each thousand entries,
/// and none while it shows them, so nobody waits for somebody who reads what is shown. A process
/// that is killed loses its turn, and what it had begun; the next one goes on at once. The folder
/// is to be on a disk of this machine: locks of network file systems can't be relied on. On Windows,
/// where who reads the index keeps others from writing it, this doesn't work yet.
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
    /// What the last call left open.
    books: Mutex<Option<Books>>,
    /// With so many certificates and lists outside the index, it is written.
    enough: usize,
    /// With so many, after several at a time.
    many: usize,
    on_wait: Box<dyn Fn() + Send + Sync>,
}

impl LocalLedger {
    /// Creates an empty ledger in a folder, which is made if it isn't there.
    ///
    /// # Errors
    ///
    /// [`LedgerError::AlreadyThere`], or what prevents files from being made.
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
    /// [`LedgerError::NoLedger`] if there is none: this creates none, because a CA that can't find
    /// what it revoked had better not make a list of nothing. [`LedgerError::Newer`] if another
    /// version of this crate is needed. That the rest of the ledger can be read, the first call
    /// finds out, which may have to wait for its turn.
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

    /// Has this be called each time that another process has its turn, before waiting for it.
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

    /// Does something while it is the turn of this process, knowing all that others did.
    fn turn<T>(
        &self,
        act: impl FnOnce(&mut Books, &Turn<'_>) -> Result<T, LedgerError>,
    ) -> Result<T, LedgerError> {
        let mut kept = self.books.lock().unwrap_or_else(PoisonError::into_inner);
        let turn = self.lock.take(&self.on_wait)?;
        // They are put back only if all goes well. After an error, the files say what is known, and
        // not they.
        let mut books = match kept.take() {
            Some(books) if books.is_current(&turn)? => books,
            _ => Books::open(&self.journal(), &self.folder.join(INDEX), &turn)?,
        };
        books.catch_up(&turn)?;
        let result = act(&mut books, &turn)?;
        *kept = Some(books);
        Ok(result)
    }

    /// The same for what appends to the journal, after which the index may have to be written.
    /// Where it can't be, as on a full disk, reading goes on.
    fn change<T>(
        &self,
        act: impl FnOnce(&mut Books) -> Result<T, LedgerError>,
    ) -> Result<T, LedgerError> {
        self.change_with_index(self.enough, act)
    }

    /// The same where the index may lack less than `least`.
    fn change_with_index<T>(
        &self,
        least: usize,
        act: impl FnOnce(&mut Books) -> Result<T, LedgerError>,
    ) -> Result<T, LedgerError> {
        self.turn(|books, turn| {
            books.write_index_if_waiting(least, turn)?;
            let result = act(books)?;
            // What was asked for is done. If this fails, the next change begins with it, and says
            // why.
            let _ = books.write_index_if_waiting(least, turn);
            Ok(result)
        })
    }
}

impl Drop for LocalLedger {
    /// Writes the index, if many certificates at a time left it behind.
    fn drop(&mut self) {
        let books = self.books.get_mut().unwrap_or_else(PoisonError::into_inner);
        let is_behind = |books: &Books| books.waiting() >= self.enough;
        if books.as_ref().is_some_and(is_behind) && !thread::panicking() {
            // If it fails, the next change of one alone begins with it, and says why, or one of several
            // once there are very many.
            let _ = self.change(|_| Ok(()));
        }
    }
}

impl Ledger for LocalLedger {
    /// After several at once, more may come: the index waits for the end of these, or for very many. It is written in
    /// less time so, as each writing reads and writes most of its pages.
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
            // Each page looks at all that wait. Where the index can't be written, that takes longer.
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

/// Writing the index takes some milliseconds, which one of so many calls has to wait for; and a
/// process that opens the ledger reads so many certificates in the journal at most, unless another is recording
/// several at a time, or was killed while it did.
const ENOUGH: usize = 1024;
