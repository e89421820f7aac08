//! A storage in one file, which survives crashes: a redb database.

mod backend;
mod header;
mod kept;
mod pages;
mod tables;
mod watched;

use alloc::sync::Arc;
use core::cell::RefCell;
use core::panic::AssertUnwindSafe;
use core::sync::atomic::{AtomicBool, Ordering};
use core::time::Duration;
use std::fs::File;
use std::io;
use std::panic::catch_unwind;
use std::path::{Path, PathBuf};
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::Instant;

use ::redb::{Builder, Database, DatabaseError, Error, StorageBackend};
use pq_keys::files::{Access, Draft, FileError};

use self::backend::{Growing, Untouched};
use self::kept::Kept;
use self::watched::Watched;
use super::change::{Change, Committed};
use super::error::{CommitError, StorageError};
use super::log::LogEntry;
use super::row::{Page, RowKey, RowPrefix, Snapshot};
use super::{MAX_CHANGE_ROWS, Storage};

/// How much of the file is kept in memory.
const CACHE_LEN: usize = 16 * 1024 * 1024;

/// A storage in one file, for one process at a time. Nobody but the file's owner may read it.
///
/// A commit is on the disk when it returns: it is written in two phases, so that also a file of hostile values is either as
/// before or as after. If the file is replaced, written over or removed while it is open, nothing more is read of it or
/// written to it ([`StorageError::Replaced`]): a change would be lost with it.
///
/// A file that was changed by others can make redb panic. The panic is caught here, and is [`StorageError::Damaged`]. A
/// program whose panics abort ends; its panic hook can say why, by [`damage_of_panic`](Self::damage_of_panic).
pub struct RedbStorage {
    path: PathBuf,
    /// Always there, until it is closed.
    database: Option<Database>,
    /// The revision, as far as this process knows, which is the only one.
    revision: Mutex<u64>,
    changed: Condvar,
    /// Whether redb panicked, after which nothing it says is believed.
    panicked: AtomicBool,
    /// `None` if nothing is written to the file.
    kept: Option<Kept>,
}

impl RedbStorage {
    /// Makes a new file. It appears complete or not at all.
    ///
    /// # Errors
    ///
    /// [`StorageError::NotOpened`] if there is a file with this name, or it can't be written.
    pub fn create(path: &Path) -> Result<Self, StorageError> {
        let failed = |error: FileError| not_opened(path, &error);
        let draft = Draft::beside(path, Access::Private).map_err(failed)?;
        let made = guarded(path, || {
            let mut options = File::options();
            let file = options.read(true).write(true).open(draft.path());
            let file = file.map_err(|error| not_opened(path, &error))?;
            let file = Watched::lock(file).map_err(|error| of_database(path, error))?;
            let database = builder().create_with_backend(Growing::new(Arc::new(file)));
            tables::create(&database.map_err(|error| of_database(path, error))?)
                .map_err(|error| of_redb(path, error))
        });
        made?;
        draft.sync().map_err(failed)?;
        draft.name(path).map_err(failed)?;
        Self::open(path)
    }

    /// Opens a file, alone.
    ///
    /// # Errors
    ///
    /// [`StorageError::InUse`] if another process has it open, or this one has; [`StorageError::NotAStorage`] if it is
    /// another file, [`StorageError::Damaged`] if it was cut off or changed; and [`StorageError::NotOpened`].
    pub fn open(path: &Path) -> Result<Self, StorageError> {
        let mut options = File::options();
        let file = options.read(true).write(true).open(path);
        let file = file.map_err(|error| not_opened(path, &error))?;
        let metadata = file.metadata();
        let metadata = metadata.map_err(|error| not_opened(path, &error))?;
        let file = Watched::lock(file).map_err(|error| of_database(path, error))?;
        let file = Arc::new(file);
        let kept = Kept::new(path, &metadata, file.clone());
        let kept = kept.map_err(|error| not_opened(path, &error))?;
        let opened = Self::open_in(path, Growing::new(file.clone()), Some(kept))?;
        file.mark().map_err(|error| not_opened(path, &error))?;
        Ok(opened)
    }

    /// Opens a file, alone, which is only read and stays as it is, such as a backup. It need not be writable.
    ///
    /// # Errors
    ///
    /// Those of [`open`](Self::open).
    pub fn open_untouched(path: &Path) -> Result<Self, StorageError> {
        let file = File::open(path).map_err(|error| not_opened(path, &error))?;
        let backend = Untouched::lock(file).map_err(|error| of_database(path, error))?;
        Self::open_in(path, backend, None)
    }

    fn open_in(
        path: &Path,
        backend: impl StorageBackend,
        kept: Option<Kept>,
    ) -> Result<Self, StorageError> {
        match header::is_of_redb(&backend) {
            Ok(true) => {}
            Ok(false) => {
                return Err(StorageError::NotAStorage {
                    storage: description(path),
                });
            }
            Err(error) => return Err(not_opened(path, &error)),
        }
        header::check(&backend).map_err(|reason| damaged(path, reason))?;
        guarded(path, || {
            let database = builder().create_with_backend(backend);
            let database = database.map_err(|error| of_database(path, error))?;
            let revision = tables::open(&database).map_err(|error| of_redb(path, error))?;
            Ok(Self {
                path: path.into(),
                database: Some(database),
                revision: Mutex::new(revision),
                changed: Condvar::new(),
                panicked: AtomicBool::new(false),
                kept,
            })
        })
    }

    /// Whether a file that begins with these bytes is one of a storage, whole or not.
    pub fn is_begun(bytes: &[u8]) -> bool {
        header::is_begun(bytes)
    }

    /// For the panic hook of a program: what the panic of this thread means, if it was using a storage's file.
    pub fn damage_of_panic() -> Option<StorageError> {
        let path = IN_USE.with(|path| path.try_borrow().ok()?.clone())?;
        Some(damaged(&path, PANICKED))
    }

    /// Checks that the file still has its name, and what was written to it.
    fn check_kept(&self) -> Result<(), StorageError> {
        let Some(kept) = &self.kept else {
            return Ok(());
        };
        match kept.is_replaced() {
            Ok(false) => Ok(()),
            Ok(true) => Err(StorageError::Replaced {
                storage: description(&self.path),
            }),
            Err(error) => Err(StorageError::Away {
                storage: description(&self.path),
                reason: error.to_string(),
            }),
        }
    }

    /// Does something with the database.
    fn with<T>(&self, act: impl FnOnce(&Database) -> Result<T, Error>) -> Result<T, StorageError> {
        self.check_kept()?;
        if self.panicked.load(Ordering::Acquire) {
            return Err(damaged(&self.path, "it could not be read before"));
        }
        let done = guarded(&self.path, || match &self.database {
            Some(database) => act(database).map_err(|error| of_redb(&self.path, error)),
            None => Err(damaged(&self.path, "it was closed")),
        });
        if let Err(StorageError::Damaged { reason, .. }) = &done
            && reason == PANICKED
        {
            self.panicked.store(true, Ordering::Release);
        }
        done.map_err(|error| match self.check_kept() {
            // This is why.
            Err(replaced @ StorageError::Replaced { .. }) => replaced,
            _ => error,
        })
    }
}

impl Drop for RedbStorage {
    /// Closes the file, to which redb writes then, and where it can panic, too.
    fn drop(&mut self) {
        let database = self.database.take();
        // What is wrong with the file, the next one to open it is told.
        let _ = guarded(&self.path, || {
            drop(database);
            Ok(())
        });
    }
}

/// What a panic of redb is called.
const PANICKED: &str = "it can't be read";

fn builder() -> Builder {
    let mut builder = Builder::new();
    builder.set_cache_size(CACHE_LEN);
    builder
}

std::thread_local! {
    /// The file that this thread has redb use.
    static IN_USE: RefCell<Option<PathBuf>> = const { RefCell::new(None) };
}

/// Forgets the file that was in use, also after a panic.
struct Used;

impl Drop for Used {
    fn drop(&mut self) {
        IN_USE.with(|path| path.take());
    }
}

/// Does something with a file. redb panics where a file isn't as it wrote it.
fn guarded<T>(
    path: &Path,
    act: impl FnOnce() -> Result<T, StorageError>,
) -> Result<T, StorageError> {
    IN_USE.with(|in_use| in_use.replace(Some(path.into())));
    let done = catch_unwind(AssertUnwindSafe(|| {
        let _used = Used;
        act()
    }));
    done.unwrap_or_else(|_| Err(damaged(path, PANICKED)))
}

fn description(path: &Path) -> String {
    format!("the file {}", path.display())
}

fn damaged(path: &Path, reason: impl ToString) -> StorageError {
    StorageError::Damaged {
        storage: description(path),
        reason: reason.to_string(),
    }
}

fn not_opened(path: &Path, error: &dyn ToString) -> StorageError {
    StorageError::NotOpened {
        storage: description(path),
        reason: error.to_string(),
    }
}

fn of_database(path: &Path, error: DatabaseError) -> StorageError {
    match error {
        DatabaseError::DatabaseAlreadyOpen => StorageError::InUse {
            storage: description(path),
        },
        error => of_redb(path, error.into()),
    }
}

fn of_redb(path: &Path, error: Error) -> StorageError {
    let storage = description(path);
    match error {
        Error::Io(error) if error.kind() == io::ErrorKind::InvalidData => damaged(path, error),
        Error::Io(error) if error.kind() == io::ErrorKind::UnexpectedEof => {
            damaged(path, "it is cut off")
        }
        Error::Io(error) => StorageError::Full {
            storage,
            reason: error.to_string(),
        },
        // After an error of input or output, redb does nothing more until the file is opened again.
        error @ Error::PreviousIo => StorageError::Full {
            storage,
            reason: format!("{error}; open it again"),
        },
        error => damaged(path, error),
    }
}

impl Storage for RedbStorage {
    fn get(&self, keys: &[RowKey]) -> Result<Snapshot, StorageError> {
        if keys.len() > MAX_CHANGE_ROWS {
            return Err(StorageError::Limit("rows in one request"));
        }
        self.with(|database| tables::get(database, keys))
    }

    fn list(
        &self,
        prefix: &RowPrefix,
        after: Option<&RowKey>,
        limit: usize,
    ) -> Result<Page, StorageError> {
        self.with(|database| tables::list(database, prefix, after, limit))
    }

    fn commit(&self, change: &Change) -> Result<Committed, CommitError> {
        change.check()?;
        if self.kept.is_none() {
            return Err(CommitError::Storage(StorageError::Full {
                storage: description(&self.path),
                reason: "it was opened to be read".into(),
            }));
        }
        let prepared = self.with(|database| tables::prepare(database, change))?;
        let (transaction, revision) = prepared.ok_or(CommitError::Conflict)?;
        let committed = self.with(|_| transaction.commit().map_err(Error::from));
        // If the file was replaced meanwhile, so was what was written.
        let committed = committed.and_then(|()| self.check_kept());
        committed.map_err(|error| CommitError::OutcomeUnknown {
            storage: description(&self.path),
            reason: error.to_string(),
        })?;
        *self.revision.lock().unwrap_or_else(PoisonError::into_inner) = revision;
        self.changed.notify_all();
        Ok(Committed { revision })
    }

    fn entries(&self, from: u64, limit: usize) -> Result<Vec<LogEntry>, StorageError> {
        self.with(|database| tables::entries(database, from, limit))
    }

    fn wait_for_change(&self, since: u64, timeout: Duration) -> Result<u64, StorageError> {
        let started = Instant::now();
        let mut revision = self.revision.lock().unwrap_or_else(PoisonError::into_inner);
        while *revision <= since {
            let Some(left) = timeout.checked_sub(started.elapsed()) else {
                break;
            };
            let waited = self.changed.wait_timeout(revision, left);
            (revision, _) = waited.unwrap_or_else(PoisonError::into_inner);
        }
        Ok(*revision)
    }

    fn description(&self) -> String {
        description(&self.path)
    }
}
