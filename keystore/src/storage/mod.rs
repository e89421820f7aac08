//! Where the rows of a store and its audit log lie: [`MemoryStorage`], `RedbStorage` (feature `redb`), `PostgresStorage`
//! (feature `postgres`), or another place behind the trait [`Storage`].
//!
//! A storage knows no keys. It has rows, which are bytes under a [`RowKey`], and a log, which is entries in sequence. It
//! is trusted to keep them, not to leave them alone: the store seals what is secret, and notices what was changed, moved
//! or put back.

// This room uses `name`.

mod change;
mod copy;
mod error;
mod log;
mod memory;
#[cfg(feature = "postgres")]
mod postgres;
#[cfg(feature = "redb")]
mod redb;
mod row;

use core::time::Duration;

pub use self::change::{Change, Committed, Expected, RowChange, Write};
pub use self::copy::{Copied, CopyError, copy};
pub use self::error::{CommitError, StorageError};
pub use self::log::{Append, LogEntry, LogHead};
pub use self::memory::MemoryStorage;
#[cfg(feature = "postgres")]
pub use self::postgres::{InvalidPostgresOptions, PostgresOptions, PostgresStorage};
#[cfg(feature = "redb")]
pub use self::redb::RedbStorage;
pub use self::row::{InvalidRowKey, Page, Row, RowKey, RowPrefix, Snapshot};

/// The most bytes that a row's value has.
pub const MAX_VALUE_LEN: usize = 64 * 1024;
/// The most bytes that an entry of the log has.
pub const MAX_ENTRY_LEN: usize = 4 * 1024;
/// The most rows that one change touches or relies on, and that one [`get`](Storage::get) asks for.
pub const MAX_CHANGE_ROWS: usize = 256;
/// The most entries that one change appends.
pub const MAX_CHANGE_ENTRIES: usize = 256;
/// The most rows or entries in a page, however many were asked for.
pub const MAX_PAGE_ROWS: usize = 1_000;
/// A page ends with the row or entry whose value makes it this long, in bytes.
pub const MAX_PAGE_LEN: usize = 1024 * 1024;

/// A place for rows and a log, which changes them together or not at all.
///
/// All methods block, and may be called by several threads, and by several processes if the storage is shared. Each
/// [`commit`](Self::commit) is atomic, and happens at one moment between the others: when it has returned, a crash of the
/// process or of the machine loses nothing of it ([`MemoryStorage`] excepted), and each later call sees it.
///
/// The storage counts its commits: its revision is 0 when it is new, and one more after each commit that succeeds. A row's
/// revision is that of the commit that wrote it. So a row that was deleted and made again has another revision.
///
/// A storage doesn't try again what failed, unless it knows that nothing was changed.
pub trait Storage: Send + Sync {
    /// The rows with these keys, in the same order, the head of the log and the storage's revision: all of one moment.
    ///
    /// # Errors
    ///
    /// [`StorageError::Limit`] for more than [`MAX_CHANGE_ROWS`] keys, and others if the storage can't be read.
    fn get(&self, keys: &[RowKey]) -> Result<Snapshot, StorageError>;

    /// A page of rows whose keys have this prefix, ordered by key, each byte of which is compared as a number: those after
    /// `after`, or from the first on, at most `limit` and [`MAX_PAGE_ROWS`], fewer where [`MAX_PAGE_LEN`] ends the page.
    /// A page is of one moment; two pages need not be.
    ///
    /// # Errors
    ///
    /// If the storage can't be read.
    fn list(
        &self,
        prefix: &RowPrefix,
        after: Option<&RowKey>,
        limit: usize,
    ) -> Result<Page, StorageError>;

    /// Makes a change, if each of its rows is as expected and the log ends where the change appends.
    ///
    /// # Errors
    ///
    /// [`CommitError::Conflict`] if a row or the log isn't as expected; then nothing was changed, and the caller reads anew.
    /// [`CommitError::OutcomeUnknown`] if the change may have been made or may yet be made: the caller finds out from the
    /// log. With any other error nothing was changed.
    fn commit(&self, change: &Change) -> Result<Committed, CommitError>;

    /// Entries of the log in sequence, from this number on: at most `limit` and [`MAX_PAGE_ROWS`], fewer where
    /// [`MAX_PAGE_LEN`] ends the page. None if the log ends before.
    ///
    /// # Errors
    ///
    /// If the storage can't be read.
    fn entries(&self, from: u64, limit: usize) -> Result<Vec<LogEntry>, StorageError>;

    /// Waits until the storage's revision is greater than `since`, but at most this long, and returns the revision. A
    /// change by another process may be seen a second late.
    ///
    /// # Errors
    ///
    /// If the storage can't be read.
    fn wait_for_change(&self, since: u64, timeout: Duration) -> Result<u64, StorageError>;

    /// What it is, in a few words for messages, such as `the store's file keys.redb`, without passwords.
    fn description(&self) -> String;
}
