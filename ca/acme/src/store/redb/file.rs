//! The file, and how it is opened and read.

use core::panic::AssertUnwindSafe;
use core::sync::atomic::{AtomicBool, Ordering};
use core::time::Duration;
use std::fs::File;
use std::io;
use std::panic::catch_unwind;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError, RwLock};
use std::time::Instant;

use ::redb::backends::FileBackend;
use ::redb::{
    Builder, CommitError, Database, DatabaseError, Durability, Error, ReadableDatabase,
    StorageBackend, WriteTransaction,
};
use pq_keys::files::{Access, Draft, FileError};

use super::reads::Reads;
use super::rows::{
    ACCOUNTS, AUTHORIZATIONS, AUTHORIZATIONS_BY_EXPIRY, AUTHORIZATIONS_IN_WORK, CERTIFICATES,
    CERTIFICATES_BY_EXPIRY, CLAIMS, ENDED_ACCOUNTS, KEYS, LIMITS, LIMITS_BY_END, NAMES, NONCES,
    NUMBERS, OF_ACCOUNT, OPEN_ORDERS, ORDERS, ORDERS_BY_EXPIRY, ORDERS_IN_WORK, PENDING, Stop,
    VALID, damaged,
};
use crate::store::StoreError;
use crate::store::failure::StorageError;

/// How much of the file is kept in memory.
const CACHE_LEN: usize = 64 * 1024 * 1024;

const FORMAT: &str = "format";
/// The only format so far.
const THIS_FORMAT: u64 = 1;

/// What redb begins its files with.
const MAGIC: [u8; 9] = *b"redb\x1a\x0a\xa9\x0d\x0a";

/// The file, which is open.
pub(super) struct Opened {
    path: PathBuf,
    /// The same file, so that it is opened again, whatever has its name by then.
    file: File,
    database: RwLock<Option<Database>>,
    /// Whether redb panicked, after which nothing it says is believed.
    panicked: AtomicBool,
    /// Whether the file could not be read or written, after which redb does nothing more: it is opened again.
    failed: AtomicBool,
    /// When it was tried last to open it again.
    tried: Mutex<Option<Instant>>,
}

/// How often it is tried to open the file again.
const TRY_EVERY: Duration = Duration::from_secs(1);

/// A locked file whose extension is on the disk before redb says in its header that it is longer.
#[derive(Debug)]
struct Extended(FileBackend);

impl StorageBackend for Extended {
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

impl Opened {
    pub(super) fn open(path: &Path) -> Result<Self, StorageError> {
        let mut options = File::options();
        options.read(true).write(true);
        let file = match options.open(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                create(path)?;
                options.open(path)
            }
            opened => opened,
        };
        let file = file.map_err(|error| not_opened(path, &error))?;
        let database = database(path, &file)?;
        Ok(Self {
            path: path.into(),
            file,
            database: RwLock::new(Some(database)),
            panicked: AtomicBool::new(false),
            failed: AtomicBool::new(false),
            tried: Mutex::new(None),
        })
    }

    /// Opens the file again, after it could not be read or written, such as when its disk was full. What was committed is
    /// there, and nothing else.
    fn open_again(&self) -> Result<(), StorageError> {
        let mut database_of = self
            .database
            .write()
            .unwrap_or_else(PoisonError::into_inner);
        if !self.failed.load(Ordering::Acquire) {
            return Ok(());
        }
        let mut tried = self.tried.lock().unwrap_or_else(PoisonError::into_inner);
        if tried.is_some_and(|tried| tried.elapsed() < TRY_EVERY) {
            return Err(of_redb(&self.path, Error::PreviousIo));
        }
        *tried = Some(Instant::now());
        close(database_of.take());
        *database_of = Some(database(&self.path, &self.file)?);
        self.failed.store(false, Ordering::Release);
        Ok(())
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Reads what was committed last.
    pub(super) fn read<T>(
        &self,
        read: impl FnOnce(&Reads) -> Result<T, Stop>,
    ) -> Result<T, StoreError> {
        let done = self.with(|database| {
            let read = database
                .begin_read()
                .map_err(Stop::from)
                .and_then(|transaction| read(&Reads(transaction)));
            match read {
                Ok(value) => Ok(Ok(value)),
                Err(Stop::Refused(error)) => Ok(Err(error)),
                Err(Stop::Failed(error)) => Err(self.failed(error)),
            }
        });
        done.map_err(StoreError::from)?
    }

    /// Does something with the database.
    pub(super) fn with<T>(
        &self,
        act: impl FnOnce(&Database) -> Result<T, StorageError>,
    ) -> Result<T, StorageError> {
        if self.panicked.load(Ordering::Acquire) {
            return Err(self.unreadable());
        }
        if self.failed.load(Ordering::Acquire) {
            self.open_again()?;
        }
        let database = self.database.read().unwrap_or_else(PoisonError::into_inner);
        let done = catch_unwind(AssertUnwindSafe(|| match &*database {
            Some(database) => act(database),
            None => Err(of_redb(&self.path, Error::PreviousIo)),
        }));
        done.unwrap_or_else(|_| {
            self.panicked.store(true, Ordering::Release);
            Err(self.unreadable())
        })
    }

    /// That redb panicked.
    pub(super) fn unreadable(&self) -> StorageError {
        is_damaged(&self.path, UNREADABLE)
    }

    /// What an error says. Before anything else is done, the file is opened again if that helps.
    pub(super) fn failed(&self, error: Error) -> StorageError {
        let error = of_redb(&self.path, error);
        if matches!(error, StorageError::Full { .. }) {
            self.failed.store(true, Ordering::Release);
        }
        error
    }
}

impl Drop for Opened {
    /// Closes the file, to which redb writes then, and where it can panic, too.
    fn drop(&mut self) {
        let database = self.database.get_mut();
        close(database.unwrap_or_else(PoisonError::into_inner).take());
    }
}

/// Closes the file. What is wrong with it, the next one to open it is told.
fn close(database: Option<Database>) {
    let _ = catch_unwind(AssertUnwindSafe(|| drop(database)));
}

/// Opens the database in a file.
fn database(path: &Path, file: &File) -> Result<Database, StorageError> {
    let file = file.try_clone();
    let file = file.map_err(|error| not_opened(path, &error))?;
    guarded(path, || {
        let backend = lock(path, file)?;
        let mut magic = MAGIC;
        let is_begun = backend.read(0, &mut magic).is_ok() && magic == MAGIC;
        if !is_begun {
            let reason = "it is another file, or its beginning was changed";
            return Err(is_damaged(path, reason));
        }
        let database = builder().create_with_backend(backend);
        let database = database.map_err(|error| of_database(path, error))?;
        check_format(path, &database)?;
        Ok(database)
    })
}

const UNREADABLE: &str = "it can't be read, as it is cut off or was changed";

fn builder() -> Builder {
    let mut builder = Builder::new();
    builder.set_cache_size(CACHE_LEN);
    builder
}

/// Begins a change that is on the disk when it is committed.
pub(super) fn begin(database: &Database) -> Result<WriteTransaction, Error> {
    let mut transaction = database.begin_write()?;
    transaction.set_durability(Durability::Immediate)?;
    transaction.set_two_phase_commit(true);
    transaction.set_quick_repair(true);
    Ok(transaction)
}

/// Makes a new file, unless another process does so.
fn create(path: &Path) -> Result<(), StorageError> {
    let failed = |error: FileError| not_opened(path, &error);
    let draft = Draft::beside(path, Access::Private).map_err(failed)?;
    guarded(path, || {
        let mut options = File::options();
        let file = options.read(true).write(true).open(draft.path());
        let file = file.map_err(|error| not_opened(path, &error))?;
        let database = builder().create_with_backend(lock(path, file)?);
        let database = database.map_err(|error| of_database(path, error))?;
        let made = begin(&database).map_err(Stop::from).and_then(make_tables);
        made.map_err(|error| of_stop(path, error))
    })?;
    draft.sync().map_err(failed)?;
    match draft.name(path) {
        Ok(()) | Err(FileError::Exists { .. }) => Ok(()),
        Err(error) => Err(failed(error)),
    }
}

fn make_tables(transaction: WriteTransaction) -> Result<(), Stop> {
    for table in [ACCOUNTS, ORDERS, AUTHORIZATIONS, CERTIFICATES] {
        transaction.open_table(table)?;
    }
    for table in [
        ORDERS_BY_EXPIRY,
        ORDERS_IN_WORK,
        AUTHORIZATIONS_BY_EXPIRY,
        AUTHORIZATIONS_IN_WORK,
        CERTIFICATES_BY_EXPIRY,
        ENDED_ACCOUNTS,
        LIMITS_BY_END,
    ] {
        transaction.open_table(table)?;
    }
    for table in [CLAIMS, NAMES] {
        transaction.open_table(table)?;
    }
    for table in [OPEN_ORDERS, PENDING] {
        transaction.open_table(table)?;
    }
    transaction.open_table(KEYS)?;
    transaction.open_table(LIMITS)?;
    transaction.open_table(NONCES)?;
    transaction.open_table(OF_ACCOUNT)?;
    transaction.open_table(VALID)?;
    transaction
        .open_table(NUMBERS)?
        .insert(FORMAT, THIS_FORMAT)?;
    let committed: Result<(), CommitError> = transaction.commit();
    committed.map_err(|error| Stop::Failed(error.into()))
}

fn check_format(path: &Path, database: &Database) -> Result<(), StorageError> {
    let read = || {
        let numbers = database.begin_read()?.open_table(NUMBERS)?;
        let found = numbers.get(FORMAT)?.map(|number| number.value());
        found.ok_or_else(|| damaged("it has no format".into()))
    };
    match read().map_err(|error| of_stop(path, error))? {
        THIS_FORMAT => Ok(()),
        format if format > THIS_FORMAT => Err(StorageError::Newer {
            storage: description(path),
            format,
            known: THIS_FORMAT,
        }),
        format => Err(is_damaged(path, &format!("there is no format {format}"))),
    }
}

fn lock(path: &Path, file: File) -> Result<Extended, StorageError> {
    let backend = FileBackend::new(file);
    backend
        .map(Extended)
        .map_err(|error| of_database(path, error))
}

/// Does something with a file. redb panics where a file isn't as it wrote it.
fn guarded<T>(
    path: &Path,
    act: impl FnOnce() -> Result<T, StorageError>,
) -> Result<T, StorageError> {
    let done = catch_unwind(AssertUnwindSafe(act));
    done.unwrap_or_else(|_| Err(is_damaged(path, UNREADABLE)))
}

fn description(path: &Path) -> String {
    format!("the ACME server's file {}", path.display())
}

fn is_damaged(path: &Path, reason: &str) -> StorageError {
    StorageError::Damaged {
        storage: description(path),
        reason: reason.into(),
    }
}

pub(super) fn not_opened(path: &Path, error: &dyn ToString) -> StorageError {
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

fn of_stop(path: &Path, stop: Stop) -> StorageError {
    match stop {
        Stop::Failed(error) => of_redb(path, error),
        Stop::Refused(error) => is_damaged(path, &error.to_string()),
    }
}

fn of_redb(path: &Path, error: Error) -> StorageError {
    let storage = description(path);
    match error {
        Error::Io(error) if error.kind() == io::ErrorKind::InvalidData => {
            is_damaged(path, &error.to_string())
        }
        Error::Io(error) if error.kind() == io::ErrorKind::UnexpectedEof => {
            is_damaged(path, "it is cut off")
        }
        Error::Io(error) => StorageError::Full {
            storage,
            reason: error.to_string(),
        },
        // After an error of input or output, redb does nothing more until the file is opened again.
        error @ Error::PreviousIo => StorageError::Full {
            storage,
            reason: format!("{error}; it is opened again as soon as that is possible"),
        },
        error => is_damaged(path, &error.to_string()),
    }
}
