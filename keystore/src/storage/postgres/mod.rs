//! A storage in PostgreSQL, for several processes: [`PostgresStorage`].
//!
//! A commit is one transaction that first locks the one row of the table `storage`, so that commits come one after the
//! other, whatever the level of isolation: it compares revisions and the log's head, writes, counts what it has written,
//! and notifies. Nothing belongs to a session and no statement has a name, so a pooler between them, such as PgBouncer in
//! transaction mode, does no harm.

// This room uses its parent's types and pq-postgres; nothing else in this crate is asynchronous.

mod change;
mod read;
mod schema;
mod statements;
mod watch;
mod worker;

use core::fmt;
use core::time::Duration;

use pq_postgres::{Database, Ended, Purpose, Thread};
pub use pq_postgres::{InvalidPostgresOptions, PostgresOptions};

use self::worker::Worker;
use super::change::{Change, Committed};
use super::error::{CommitError, StorageError};
use super::log::LogEntry;
use super::row::{Page, RowKey, RowPrefix, Snapshot};
use super::{MAX_CHANGE_ROWS, Storage};

/// What the database is for, with the schema by default.
const PURPOSE: Purpose = Purpose {
    what: "the PostgreSQL database",
    schema: "pq_keystore",
    program: "pq-keystore",
};

/// A storage in a schema of a PostgreSQL database, which several processes may have open at once.
///
/// Its connections belong to a thread of its own, so its methods can be called from anywhere, but they block: from within
/// an asynchronous executor, call them where blocking is allowed. Each ends within
/// [the time-out](PostgresOptions::timeout), and a [`commit`](Storage::commit) whose answer was lost within two of these.
/// While the database can't be reached they return [`StorageError::Away`]; the storage goes on trying by itself.
///
/// What was committed survives a crash of the server if the server's `fsync` and `full_page_writes` are on, as they are by
/// default. Where a standby takes over, it keeps all commits only if it is in `synchronous_standby_names`.
pub struct PostgresStorage {
    description: String,
    thread: Thread<Worker>,
}

impl PostgresStorage {
    /// Connects, and makes the schema and its tables if there are none: two processes may do so at once.
    ///
    /// # Errors
    ///
    /// [`StorageError::Away`] if the database can't be reached within the time-out, [`StorageError::NotOpened`] if it
    /// refuses this user, or if the schema is of a later version.
    pub fn open(options: PostgresOptions) -> Result<Self, StorageError> {
        let description = Database::new(options.clone(), PURPOSE).description();
        let open = async || Worker::start(Database::new(options, PURPOSE)).await;
        let started = Thread::start("keystore-pg", open);
        let thread = started.map_err(|ended| stopped(&description, &ended))??;
        Ok(Self {
            description,
            thread,
        })
    }

    /// Runs a job on the storage's thread, and waits for its result.
    fn call<T, E, J>(&self, job: J) -> Result<T, E>
    where
        T: Send + 'static,
        E: From<StorageError> + Send + 'static,
        J: AsyncFnOnce(&Worker) -> Result<T, E> + Send + 'static,
    {
        let done = self.thread.call(job);
        done.map_err(|ended| stopped(&self.description, &ended))?
    }
}

fn stopped(description: &str, ended: &Ended) -> StorageError {
    StorageError::NotOpened {
        storage: description.into(),
        reason: ended.to_string(),
    }
}

impl Storage for PostgresStorage {
    fn get(&self, keys: &[RowKey]) -> Result<Snapshot, StorageError> {
        if keys.len() > MAX_CHANGE_ROWS {
            return Err(StorageError::Limit("rows in one request"));
        }
        let keys = keys.to_vec();
        self.call(async move |worker| worker.get(&keys).await)
    }

    fn list(
        &self,
        prefix: &RowPrefix,
        after: Option<&RowKey>,
        limit: usize,
    ) -> Result<Page, StorageError> {
        let (prefix, after) = (prefix.clone(), after.cloned());
        self.call(async move |worker| worker.list(&prefix, after.as_ref(), limit).await)
    }

    fn commit(&self, change: &Change) -> Result<Committed, CommitError> {
        change.check()?;
        let change = change.clone();
        self.call(async move |worker| worker.commit(&change).await)
    }

    fn entries(&self, from: u64, limit: usize) -> Result<Vec<LogEntry>, StorageError> {
        self.call(async move |worker| worker.entries(from, limit).await)
    }

    fn wait_for_change(&self, since: u64, timeout: Duration) -> Result<u64, StorageError> {
        self.call(async move |worker| worker.wait_for_change(since, timeout).await)
    }

    fn description(&self) -> String {
        self.description.clone()
    }
}

impl fmt::Debug for PostgresStorage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("PostgresStorage")
            .field(&self.description)
            .finish()
    }
}
