//! A ledger in a folder on this machine: a journal, its head, and an index that is made from them.
//!
//! Why not one transaction of the database for each call? Two things cost too much. Processes take turns, and each turn
//! would open the database, commit with two phases and close it. And for the database to open at once after a process
//! was killed, redb has to write a list of the file's free pages with each commit: the larger the file, the longer the
//! list. Measured with redb 4.1 on a disk that syncs in 4 ms, medians for one certificate: a record of the journal
//! takes 4 ms, and 8 ms with its head. redb takes 8 ms in an open database, 12 ms with that list where a million
//! certificates are in it (without the list it opened after 17 s), and 28 to 35 ms where each turn opens it. It would
//! need a head besides, to notice an old copy. The index costs a database transaction only once in a thousand changes,
//! or in several thousand that are recorded many at a time.
//!
//! `books` combines `journal` and `index`, and holds the changes that are in the journal and not yet in the
//! index. `head` says what of the journal was acknowledged. `order` defines the content of the index, and `row` its
//! encoding.

// This room uses the files beside it: condition, entry, error, filter, generation, name, serial_number and stage.

mod auditing;
mod books;
mod carried;
mod files;
mod head;
mod index;
mod journal;
mod lock;
mod order;
mod owner;
mod row;
mod storage;
#[cfg(test)]
mod tests;

use alloc::sync::Arc;
use core::fmt;
use core::ops::ControlFlow;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::thread;

use pq_x509::pki_types::{CertificateDer, UnixTime};

use self::books::{Books, MANY};
#[cfg(unix)]
pub(crate) use self::files::is_at;
use self::files::{Access, Disk, OfMachine, create_folder, io_error};
use self::head::Head;
use self::journal::{Event, Journal};
use self::lock::{Lock, Turn};
pub(crate) use self::owner::{Fault, Owner, Reader, check_writable};
#[cfg(unix)]
pub(crate) use self::owner::{is_of_this_user, user};
use self::row::List;
use super::advice::remedy;
use super::audit::{AuditEvent, AuditHead, Deed};
use super::condition::Condition;
use super::entry::{AdoptedEntry, Entry, NewEntry, Revocation, Revoked};
use super::error::LedgerError;
use super::filter::Filter;
use super::generation::Generation;
use super::moving::{KeptEntry, Movable, Move, Rest, Standing, Use};
use super::request_id::RequestId;
use super::serial_number::SerialNumber;
use super::{KeyHash, Ledger};

/// A ledger in a folder, for all processes of one machine.
///
/// # Files
///
/// * `journal` is the ledger: all changes in their order. It is only ever appended to, and the digest of
///   each record covers this record and all records before it. Of an earlier program's, the header is written anew before
///   the first record that such a program could not read, so that it says so.
/// * `head` says where the last record ends that was acknowledged, and is on the disk before a call returns.
/// * `index` is made from the journal, and rebuilt if it is missing: it has what was issued and revoked,
///   by serial number, expiry, name and issuer.
/// * `standing` is there if the ledger was moved, or came from elsewhere: see [`move_ledger`](super::move_ledger).
/// * `lock` is locked by the process whose turn it is. Who may change the ledger makes it if it is missing. Who only
///   reads does without: then nobody has changed the ledger since it was put there.
/// * `journal.unfinished-1`, and so on, are there if processes were killed while they appended: the bytes that each
///   left, of which nobody was done. Nobody reads them but people, and nobody writes over them. On a full disk they
///   are not kept.
///
/// # Damage, and old copies
///
/// Whatever is in front of the head has to be as it was written. If it is not, or if the journal, its head and the
/// index are copies of different ages, calls return [`LedgerError::Damaged`], and change nothing. Then keep a copy of
/// the folder, and put the newest backup in its place while nothing uses the ledger. Calls check what they read:
/// everything since the index was last written, and each certificate that they return. [`check`](LocalLedger::check)
/// reads everything.
///
/// If files are replaced while a program has the ledger open, even by the right ones, its calls return
/// [`LedgerError::Replaced`], on Unix, until it opens the ledger again: nothing is acknowledged that only it can read.
/// A call that is at work meanwhile is not kept from that, so go back to a backup while nothing uses the ledger, and
/// leave `lock` alone.
///
/// Back up `head` and `journal` while nobody changes the ledger. One change may come between them, if `head` is copied
/// first: a whole record behind the head counts. The index of a backup has to be deleted, if it is of
/// another time. A backup of the whole folder is a ledger like any other: nothing in it says that there was more. So
/// after going back to one, record again what was issued since ([`adopt`](Ledger::adopt)), and revoke what was revoked
/// since. The next list may get a number that was
/// used before.
///
/// # Whose files these are
///
/// Nobody but the owner may write to the files: they are made so, whatever the umask. On Unix, a file that others can
/// write to, or that belongs neither to the user who runs this nor to the system's administrator, is refused:
/// [`LedgerError::Writable`] and [`LedgerError::OtherOwner`]. Who only reads may rely on the owner of the folder.
///
/// # How long calls take
///
/// Each call that changes something appends one record to the journal, and waits until the record and then the head are
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
/// change, and the next process continues at once. Processes that only read
/// ([`open_read_only`](LocalLedger::open_read_only)) take their turns together; whoever may read the files can make
/// others wait. The folder has to be on a local disk: locks of network file systems are not reliable. On Windows this
/// doesn't work yet, because a process that reads the index prevents others from writing it.
///
/// ```
/// # use std::path::Path;
/// use pq_ca::ledger::{LedgerError, LocalLedger};
///
/// # fn open(folder: &Path) -> Result<LocalLedger, LedgerError> {
/// let ledger = LocalLedger::open(folder)?
///     .on_wait(|| eprintln!("waiting for another process that uses the ledger"));
/// # Ok(ledger)
/// # }
/// ```
pub struct LocalLedger {
    disk: Arc<dyn Disk>,
    folder: PathBuf,
    access: Access,
    lock: Lock,
    /// The files that the last call left open.
    books: Mutex<Option<Books>>,
    /// The index is written when this many certificates and lists are missing in it.
    enough: usize,
    /// The same limit after a `record` of several certificates.
    many: usize,
    on_wait: Box<dyn Fn() + Send + Sync>,
    /// What to do if it is open for reading alone.
    to_change_it: String,
}

impl LocalLedger {
    /// Creates an empty ledger in a folder, which is made if it doesn't exist.
    ///
    /// # Errors
    ///
    /// [`LedgerError::AlreadyThere`], [`LedgerError::Damaged`] if there is a ledger without its journal, or another
    /// error if files can't be made.
    pub fn create(folder: impl AsRef<Path>) -> Result<Self, LedgerError> {
        Self::create_on(Arc::new(OfMachine), folder.as_ref())
    }

    fn create_on(disk: Arc<dyn Disk>, folder: &Path) -> Result<Self, LedgerError> {
        create_folder(&*disk, folder)?;
        Self::fill_on(disk, folder)
    }

    /// Creates an empty ledger in a folder that is there. If it is gone, because somebody removed it meanwhile, it is
    /// not made again.
    pub(crate) fn fill(folder: &Path) -> Result<Self, LedgerError> {
        Self::fill_on(Arc::new(OfMachine), folder)
    }

    fn fill_on(disk: Arc<dyn Disk>, folder: &Path) -> Result<Self, LedgerError> {
        let ledger = Self::at(disk, folder, Access::Change)?;
        {
            let _turn = ledger.lock.take(|| {})?;
            match ledger.disk.open(&ledger.path(JOURNAL), Access::Read) {
                Ok(_) => {
                    return Err(LedgerError::AlreadyThere {
                        path: folder.into(),
                    });
                }
                Err(cause) if cause.kind() == ErrorKind::NotFound => {}
                Err(cause) => return Err(io_error("open", &ledger.path(JOURNAL))(cause)),
            }
            check_no_rest(&*ledger.disk, folder)?;
            Journal::create(&*ledger.disk, &ledger.path(JOURNAL), &ledger.path(HEAD))?;
        }
        Ok(ledger)
    }

    /// Opens the ledger in a folder. Who may not write its files gets it as
    /// [`open_read_only`](Self::open_read_only) opens it.
    ///
    /// # Errors
    ///
    /// [`LedgerError::NoLedger`] if there is none: this never creates a ledger, since a CA that can't find
    /// its revocations must not make an empty revocation list. [`LedgerError::Newer`] or [`LedgerError::Older`] if
    /// another version of this crate is needed, and [`LedgerError::Damaged`] if the end of the journal isn't where its
    /// head says. Whether the rest of the ledger can be read, only the first call finds out, which may
    /// have to wait for its turn.
    pub fn open(folder: impl AsRef<Path>) -> Result<Self, LedgerError> {
        let folder = folder.as_ref();
        match Self::open_on(Arc::new(OfMachine), folder, Access::Change) {
            Err(LedgerError::Io { cause, path, .. })
                if matches!(
                    cause.kind(),
                    ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem
                ) =>
            {
                let mut ledger = Self::open_read_only(folder)?;
                if let Some(remedy) = remedy(&cause, &path) {
                    ledger.to_change_it = remedy;
                }
                Ok(ledger)
            }
            result => result,
        }
    }

    /// Opens the ledger in a folder for reading alone, as a [`Responder`](crate::authority::Responder) needs it. It writes no
    /// file, and needs no permission to. Whoever changes the ledger waits while this ledger reads, and the other way
    /// round. Changes return [`LedgerError::ReadOnly`].
    ///
    /// A backup needs neither `lock` nor `index`. Without an index, or beside one that was being written when a process
    /// was killed, this ledger reads the whole journal, and holds all entries in memory, without the certificates
    /// themselves. Let the owner run any command that changes the ledger once: it makes the index.
    ///
    /// # Errors
    ///
    /// The errors of [`open`](Self::open).
    pub fn open_read_only(folder: impl AsRef<Path>) -> Result<Self, LedgerError> {
        Self::open_on(Arc::new(OfMachine), folder.as_ref(), Access::Read)
    }

    fn open_on(disk: Arc<dyn Disk>, folder: &Path, access: Access) -> Result<Self, LedgerError> {
        match disk.open(&folder.join(JOURNAL), access) {
            Ok(_) => {}
            Err(cause) if cause.kind() == ErrorKind::NotFound => {
                check_no_rest(&*disk, folder)?;
                return Err(LedgerError::NoLedger {
                    path: folder.into(),
                });
            }
            Err(cause) => return Err(io_error("open", &folder.join(JOURNAL))(cause)),
        }
        let ledger = Self::at(disk, folder, access)?;
        ledger.open_journal()?;
        Ok(ledger)
    }

    /// Sets a function that is called each time before this ledger waits for another process's turn.
    #[must_use]
    pub fn on_wait(mut self, tell: impl Fn() + Send + Sync + 'static) -> Self {
        self.on_wait = Box::new(tell);
        self
    }

    /// Reads the whole ledger, from its first record to its last, and compares it with the index.
    ///
    /// Other calls read only what they need, and check that. This one notices damage anywhere, and takes as long as it
    /// takes to read the journal; others wait meanwhile.
    ///
    /// # Errors
    ///
    /// [`LedgerError::Damaged`] if a record is not as it was written, and [`LedgerError::Index`] if the index is not
    /// what the journal says.
    pub fn check(&self) -> Result<(), LedgerError> {
        self.turn(|books, _| books.compare(self.open_journal()?))
    }

    fn at(disk: Arc<dyn Disk>, folder: &Path, access: Access) -> Result<Self, LedgerError> {
        Ok(Self {
            disk,
            folder: folder.into(),
            access,
            lock: Lock::open(&folder.join(LOCK), access)?,
            books: Mutex::new(None),
            enough: ENOUGH,
            many: MANY,
            on_wait: Box::new(|| {}),
            to_change_it: "open it with LocalLedger::open, as the user who owns it".into(),
        })
    }

    fn path(&self, file: &str) -> PathBuf {
        self.folder.join(file)
    }

    fn open_journal(&self) -> Result<Journal, LedgerError> {
        Journal::open(
            &*self.disk,
            &self.path(JOURNAL),
            &self.path(HEAD),
            self.access,
        )
    }

    /// Does something during this process's turn, after reading the changes of others.
    fn turn<T>(
        &self,
        act: impl FnOnce(&mut Books, &Turn<'_>) -> Result<T, LedgerError>,
    ) -> Result<T, LedgerError> {
        self.turn_for(Use::Reading, act)
    }

    /// The same, if the ledger may be used for this.
    fn turn_for<T>(
        &self,
        wanted: Use,
        act: impl FnOnce(&mut Books, &Turn<'_>) -> Result<T, LedgerError>,
    ) -> Result<T, LedgerError> {
        let mut kept = self.books.lock().unwrap_or_else(PoisonError::into_inner);
        let turn = self.lock.take(&self.on_wait)?;
        let standing = carried::standing(&*self.disk, &self.path(STANDING))?;
        standing.check(wanted, || self.description())?;
        // If not, the books are kept, and every call fails until the program opens the ledger again.
        kept.as_ref().map_or(Ok(()), Books::check_in_place)?;
        // The books are put back only after success. After an error, the next call reads the files again.
        let mut books = match kept.take() {
            Some(books) if books.is_current(&turn)? => books,
            _ => {
                let journal = self.open_journal()?;
                Books::open(journal, &self.path(INDEX), self.access, &turn)?
            }
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

    fn check_may_change(&self) -> Result<(), LedgerError> {
        match self.access {
            Access::Read => Err(LedgerError::ReadOnly {
                path: self.folder.clone(),
                remedy: self.to_change_it.clone(),
            }),
            Access::Change => Ok(()),
        }
    }

    /// The same, but the index may lack fewer than `least` changes.
    fn change_with_index<T>(
        &self,
        least: usize,
        act: impl FnOnce(&mut Books) -> Result<T, LedgerError>,
    ) -> Result<T, LedgerError> {
        self.check_may_change()?;
        self.turn_for(Use::Changing, |books, turn| {
            books.write_index_if_waiting(least, turn)?;
            let result = act(books)?;
            // The change itself is done. If this fails, the next call reads the files again, and the next change
            // tries this first, and returns the error.
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
    fn record_if(
        &self,
        entries: &[NewEntry<'_>],
        conditions: &[Condition<'_>],
    ) -> Result<(), LedgerError> {
        let least = match entries {
            [] | [_] => self.enough,
            _ => self.many,
        };
        self.change_with_index(least, |books| {
            books.check(conditions)?;
            books.record(entries)
        })
    }

    fn adopt(&self, entries: &[AdoptedEntry<'_>]) -> Result<(), LedgerError> {
        self.change(|books| books.adopt(entries))
    }

    fn entry(&self, number: &SerialNumber) -> Result<Option<Entry>, LedgerError> {
        self.turn(|books, _| books.entry(number))
    }

    fn of_request(&self, request: &RequestId) -> Result<Option<Entry>, LedgerError> {
        self.turn(|books, _| books.of_request(request))
    }

    fn certificate(
        &self,
        number: &SerialNumber,
    ) -> Result<Option<CertificateDer<'static>>, LedgerError> {
        self.turn(|books, _| books.certificate(number))
    }

    fn compromised(&self, key: &KeyHash) -> Result<Option<SerialNumber>, LedgerError> {
        self.turn(|books, _| books.compromised(key))
    }

    fn revoke_if(
        &self,
        numbers: &[SerialNumber],
        revocation: &Revocation,
        conditions: &[Condition<'_>],
    ) -> Result<Vec<Revoked>, LedgerError> {
        self.change(|books| {
            books.check(conditions)?;
            books.revoke(numbers, revocation)
        })
    }

    fn reinstate_if(
        &self,
        number: &SerialNumber,
        at: UnixTime,
        by: &str,
        conditions: &[Condition<'_>],
    ) -> Result<Entry, LedgerError> {
        self.change(|books| {
            books.check(conditions)?;
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
        // Each page looks at all changes that are not in the index. If the index can't be written, this only takes
        // longer: it is in a turn of its own, and after an error the next turn reads the files again.
        let _ = self.turn(|books, turn| books.write_index_if_waiting(self.enough, turn));
        let mut search = self.turn(|books, _| books.search(filter))?;
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

    fn numbered_list(
        &self,
        issuer: &str,
        number: Option<u64>,
        now: UnixTime,
        show: &mut dyn FnMut(&SerialNumber, &Revocation),
    ) -> Result<u64, LedgerError> {
        self.change(|books| books.numbered_list(issuer, number, now, show))
    }

    fn check_list(&self, issuer: &str, number: u64) -> Result<(), LedgerError> {
        self.turn(|books, _| books.check_list(issuer, number))
    }

    fn confirm_list(&self, issuer: &str, number: u64, at: UnixTime) -> Result<(), LedgerError> {
        let at = at.as_secs();
        self.change(|books| books.confirm_list(issuer, List { number, at }))
    }

    fn check_time(&self, now: UnixTime) -> Result<(), LedgerError> {
        self.turn(|books, _| books.check_time(now))
    }

    fn confirm_time(&self, now: UnixTime, by: &str) -> Result<(), LedgerError> {
        self.change(|books| books.confirm_time(now, by))
    }

    fn audit(
        &self,
        show: &mut dyn FnMut(AuditEvent) -> ControlFlow<()>,
    ) -> Result<AuditHead, LedgerError> {
        self.show_events(show)
    }

    fn generations(&self) -> Result<Vec<Generation>, LedgerError> {
        self.turn(|books, _| books.generations())
    }

    fn change_generations(
        &self,
        before: &[Generation],
        after: &[Generation],
        entries: &[NewEntry<'_>],
        conditions: &[Condition<'_>],
    ) -> Result<(), LedgerError> {
        self.change(|books| {
            books.check(conditions)?;
            books.change_generations(before, after, entries)
        })
    }
}

impl LocalLedger {
    /// Writes what came by a move, while the ledger arrives by it.
    fn carry(
        &self,
        by: &Move,
        write: impl FnOnce(&mut Books) -> Result<(), LedgerError>,
    ) -> Result<(), LedgerError> {
        self.check_may_change()?;
        self.turn_for(Use::Moving, |books, turn| {
            self.check_standing(&Standing::Arriving(by.clone()))?;
            write(books)?;
            books.write_index_if_waiting(self.many, turn)
        })
    }

    /// Whether nothing was ever recorded.
    pub(crate) fn is_empty(&self) -> Result<bool, LedgerError> {
        let empty = self.open_journal()?;
        self.turn_for(Use::Moving, |books, _| Ok(books.is_empty(&empty)))
    }

    /// That the standing is this one. The caller needs the turn.
    fn check_standing(&self, expected: &Standing) -> Result<(), LedgerError> {
        match carried::standing(&*self.disk, &self.path(STANDING))? == *expected {
            true => Ok(()),
            false => Err(LedgerError::OtherMove(self.description())),
        }
    }

    /// Reads with all changes in the index.
    fn read_whole<T>(
        &self,
        read: impl FnOnce(&Books) -> Result<T, LedgerError>,
    ) -> Result<T, LedgerError> {
        self.turn_for(Use::Moving, |books, turn| {
            books.write_whole_index(turn)?;
            read(books)
        })
    }
}

impl Movable for LocalLedger {
    fn description(&self) -> String {
        format!("the ledger in {}", self.folder.display())
    }

    fn standing(&self) -> Result<Standing, LedgerError> {
        carried::standing(&*self.disk, &self.path(STANDING))
    }

    fn change_standing(&self, before: &Standing, after: &Standing) -> Result<(), LedgerError> {
        self.check_may_change()?;
        self.turn_for(Use::Moving, |_, _| {
            self.check_standing(before)?;
            carried::put_standing(&*self.disk, &self.path(STANDING), after)
        })
    }

    /// A journal is only ever appended to, so one that arrived in part is not emptied: make another ledger in its place.
    fn receive(&self, before: &Standing, arriving: &Move) -> Result<(), LedgerError> {
        self.check_may_change()?;
        let empty = self.open_journal()?;
        self.turn_for(Use::Moving, |books, _| {
            self.check_standing(before)?;
            match books.is_empty(&empty) {
                true => {
                    let after = Standing::Arriving(arriving.clone());
                    carried::put_standing(&*self.disk, &self.path(STANDING), &after)
                }
                false => Err(LedgerError::NotEmpty(self.description())),
            }
        })
    }

    fn entries_after(&self, after: Option<&SerialNumber>) -> Result<Vec<KeptEntry>, LedgerError> {
        self.read_whole(|books| books.kept_after(after))
    }

    fn rest(&self) -> Result<Rest, LedgerError> {
        self.read_whole(Books::kept_rest)
    }

    /// Nobody changes the ledger meanwhile, so this takes no turns.
    fn history(
        &self,
        show: &mut dyn FnMut(Vec<Deed>) -> Result<(), LedgerError>,
    ) -> Result<(), LedgerError> {
        let end = self.turn_for(Use::Moving, |books, _| Ok(books.end()))?;
        let mut journal = self.open_journal()?;
        let mut done = Vec::new();
        while journal.end() != end {
            let Some(event) = journal.next()? else { break };
            match event {
                // The same as entries and the rest
                Event::Carried(..) | Event::CarriedRest(_) => {}
                Event::CarriedHistory(history) => done.extend(history),
                event => done.push(auditing::deed(event)),
            }
            if done.len() >= self.enough {
                show(core::mem::take(&mut done))?;
            }
        }
        show(done)
    }

    fn put_entries(&self, by: &Move, entries: &[KeptEntry]) -> Result<(), LedgerError> {
        self.carry(by, |books| books.carry(entries))
    }

    fn put_history(&self, by: &Move, history: &[Deed]) -> Result<(), LedgerError> {
        self.carry(by, |books| books.carry_history(history))
    }

    fn put_rest(&self, by: &Move, rest: &Rest) -> Result<(), LedgerError> {
        self.carry(by, |books| books.carry_rest(rest))
    }
}

impl fmt::Debug for LocalLedger {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LocalLedger")
            .field("folder", &self.folder)
            .finish_non_exhaustive()
    }
}

/// That there are no files of a ledger that lost its journal. They may be the last that say what was revoked.
fn check_no_rest(disk: &dyn Disk, folder: &Path) -> Result<(), LedgerError> {
    match Head::is_in_use(disk, &folder.join(HEAD))? || folder.join(INDEX).exists() {
        true => Err(LedgerError::Damaged {
            path: folder.join(JOURNAL),
            what: "it is missing, and its head or index is there",
        }),
        false => Ok(()),
    }
}

const JOURNAL: &str = "journal";
const HEAD: &str = "head";
const INDEX: &str = "index";
const LOCK: &str = "lock";
/// Whether the ledger is in force. Without this file, it is.
const STANDING: &str = "standing";

/// Writing the index takes some milliseconds, for which one in this many calls waits. A process that opens the ledger
/// reads at most this many certificates from the journal, unless another process is recording several at a time, or
/// was killed while it did.
const ENOUGH: usize = 1024;
