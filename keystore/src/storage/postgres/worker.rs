//! What the storage's thread has, and does for callers.

use alloc::rc::Rc;
use core::time::Duration;

use pq_postgres::tokio_postgres::Client;
use pq_postgres::{Database, Failure, Permanent};
use tokio::sync::{Notify, watch};
use tokio::task::spawn_local;

use super::statements::Statements;
use super::{read, schema};
use crate::storage::error::StorageError;
use crate::storage::log::LogEntry;
use crate::storage::row::{Page, RowKey, RowPrefix, Snapshot};

/// What is known of the storage's revision.
#[derive(Debug, Default)]
pub(super) struct Seen {
    pub(super) revision: u64,
    /// Why it could not be read the last time.
    pub(super) error: Option<StorageError>,
}

pub(super) struct Worker {
    pub(super) database: Database,
    pub(super) description: String,
    pub(super) statements: Statements,
    /// What is known of the storage's revision.
    pub(super) latest: watch::Sender<Seen>,
    /// Woken when somebody has changed something.
    pub(super) notified: Rc<Notify>,
}

impl Worker {
    /// Opens the storage, and begins to look for changes by others.
    pub(super) async fn start(database: Database) -> Result<Rc<Self>, StorageError> {
        let worker = Rc::new(Self {
            description: database.description(),
            statements: Statements::new(database.schema()),
            latest: watch::Sender::default(),
            notified: Rc::default(),
            database,
        });
        worker.open().await?;
        spawn_local(worker.clone().listen());
        spawn_local(worker.clone().poll());
        Ok(worker)
    }

    async fn open(&self) -> Result<(), StorageError> {
        let revision = self
            .retrying(async |client| {
                schema::ensure(client, &self.database).await?;
                read::revision(client, &self.statements).await
            })
            .await?;
        self.seen(revision);
        Ok(())
    }

    pub(super) async fn get(&self, keys: &[RowKey]) -> Result<Snapshot, StorageError> {
        self.retrying(async |client| read::get(client, &self.statements, keys).await)
            .await
    }

    pub(super) async fn list(
        &self,
        prefix: &RowPrefix,
        after: Option<&RowKey>,
        limit: usize,
    ) -> Result<Page, StorageError> {
        self.retrying(async |client| {
            read::list(client, &self.statements, prefix, after, limit).await
        })
        .await
    }

    pub(super) async fn entries(
        &self,
        from: u64,
        limit: usize,
    ) -> Result<Vec<LogEntry>, StorageError> {
        self.retrying(async |client| read::entries(client, &self.statements, from, limit).await)
            .await
    }

    pub(super) async fn wait_for_change(
        &self,
        since: u64,
        timeout: Duration,
    ) -> Result<u64, StorageError> {
        let mut latest = self.latest.subscribe();
        let changed = latest.wait_for(|seen| seen.revision > since);
        if let Ok(Ok(seen)) = tokio::time::timeout(timeout, changed).await {
            return Ok(seen.revision);
        }
        let seen = latest.borrow();
        match &seen.error {
            Some(error) => Err(error.clone()),
            None => Ok(seen.revision),
        }
    }

    pub(super) async fn retrying<T>(
        &self,
        attempt: impl AsyncFn(&Client) -> Result<T, Failure>,
    ) -> Result<T, StorageError> {
        let done = self.database.retrying(attempt).await;
        done.map_err(|failure| self.error(failure))
    }

    /// The error that a failure is for a caller.
    pub(super) fn error(&self, failure: Failure) -> StorageError {
        let storage = self.description.clone();
        match failure {
            Failure::Lost(reason) => StorageError::Away { storage, reason },
            Failure::Permanent(Permanent::Full, reason) => StorageError::Full { storage, reason },
            Failure::Permanent(Permanent::Damaged, reason) => {
                StorageError::Damaged { storage, reason }
            }
            Failure::Permanent(_, reason) => StorageError::NotOpened { storage, reason },
            Failure::Limit(what) => StorageError::Limit(what),
            other => StorageError::NotOpened {
                storage,
                reason: format!("{other:?}"),
            },
        }
    }
}
