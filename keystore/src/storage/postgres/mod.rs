//! A storage in PostgreSQL, for several processes: [`PostgresStorage`].
//!
//! A commit is one transaction that first locks the one row of the table `storage`, so that commits come one after the
//! other, whatever the level of isolation: it compares revisions and the log's head, writes, counts what it has written,
//! and notifies. Nothing belongs to a session and no statement has a name, so a pooler between them, such as PgBouncer in
//! transaction mode, does no harm.

// This room uses its parent's types and `tokio`; nothing else in this crate is asynchronous.

mod change;
mod connection;
mod failure;
mod options;
mod passfile;
mod pool;
mod read;
mod schema;
mod statements;
mod watch;
mod worker;

use core::fmt;
use core::time::Duration;
use std::sync::mpsc;
use std::thread::{self, JoinHandle};

use tokio::sync::mpsc::UnboundedSender;

pub use self::options::{InvalidPostgresOptions, PostgresOptions};
use self::worker::{Job, Worker};
use super::change::{Change, Committed};
use super::error::{CommitError, StorageError};
use super::log::LogEntry;
use super::row::{Page, RowKey, RowPrefix, Snapshot};
use super::{MAX_CHANGE_ROWS, Storage};

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
    /// `None` only while it is dropped.
    jobs: Option<UnboundedSender<Job>>,
    thread: Option<JoinHandle<()>>,
}

impl PostgresStorage {
    /// Connects, and makes the schema and its tables if there are none: two processes may do so at once.
    ///
    /// # Errors
    ///
    /// [`StorageError::Away`] if the database can't be reached within the time-out, [`StorageError::NotOpened`] if it
    /// refuses this user, or if the schema is of a later version.
    pub fn open(options: PostgresOptions) -> Result<Self, StorageError> {
        let description = options.description();
        let (jobs, waiting) = tokio::sync::mpsc::unbounded_channel();
        let (opened, is_open) = mpsc::sync_channel(1);
        let not_started = |error: std::io::Error| StorageError::NotOpened {
            storage: description.clone(),
            reason: error.to_string(),
        };
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(not_started)?;
        let thread = thread::Builder::new()
            .name("keystore-pg".into())
            .spawn(move || worker::run(runtime, options, waiting, opened))
            .map_err(not_started)?;
        let storage = Self {
            description,
            jobs: Some(jobs),
            thread: Some(thread),
        };
        is_open.recv().map_err(|_| storage.stopped())??;
        Ok(storage)
    }

    /// Runs a job on the storage's thread, and waits for its result.
    fn call<T, E, J>(&self, job: J) -> Result<T, E>
    where
        T: Send + 'static,
        E: From<StorageError> + Send + 'static,
        J: AsyncFnOnce(&Worker) -> Result<T, E> + Send + 'static,
    {
        let (reply, answer) = mpsc::sync_channel(1);
        let job: Job = Box::new(move |worker| {
            Box::pin(async move {
                // The caller waits below, so there is somebody to take it.
                let _ = reply.send(job(&worker).await);
            })
        });
        let jobs = self.jobs.as_ref().ok_or_else(|| self.stopped())?;
        jobs.send(job).map_err(|_| self.stopped())?;
        answer.recv().map_err(|_| self.stopped())?
    }

    fn stopped(&self) -> StorageError {
        StorageError::NotOpened {
            storage: self.description.clone(),
            reason: "its thread has ended".into(),
        }
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

impl Drop for PostgresStorage {
    fn drop(&mut self) {
        drop(self.jobs.take());
        if let Some(thread) = self.thread.take() {
            // If it has panicked, its connections are closed as well.
            let _ = thread.join();
        }
    }
}
