//! The storage's thread: it alone has the connections, and runs what callers ask for.

use alloc::rc::Rc;
use core::pin::Pin;
use core::time::Duration;
use std::sync::mpsc::SyncSender;

use tokio::runtime::Runtime;
use tokio::sync::mpsc::UnboundedReceiver;
use tokio::sync::{Notify, watch};
use tokio::task::{LocalSet, spawn_local};
use tokio_postgres::Client;

use super::failure::Failure;
use super::options::PostgresOptions;
use super::pool::Pool;
use super::statements::Statements;
use super::{read, schema};
use crate::storage::error::StorageError;
use crate::storage::log::LogEntry;
use crate::storage::row::{Page, RowKey, RowPrefix, Snapshot};

/// What a caller waits for. It makes a future on the storage's thread, which then stays there.
pub(super) type Job = Box<dyn FnOnce(Rc<Worker>) -> Pin<Box<dyn Future<Output = ()>>> + Send>;

/// What is known of the storage's revision.
#[derive(Debug, Default)]
pub(super) struct Seen {
    pub(super) revision: u64,
    /// Why it could not be read the last time.
    pub(super) error: Option<StorageError>,
}

pub(super) struct Worker {
    pub(super) options: PostgresOptions,
    pub(super) description: String,
    pub(super) statements: Statements,
    pub(super) pool: Pool,
    /// What is known of the storage's revision.
    pub(super) latest: watch::Sender<Seen>,
    /// Woken when somebody has changed something.
    pub(super) notified: Rc<Notify>,
}

/// Runs jobs until there is nobody who could send one.
pub(super) fn run(
    runtime: Runtime,
    options: PostgresOptions,
    mut jobs: UnboundedReceiver<Job>,
    opened: SyncSender<Result<(), StorageError>>,
) {
    LocalSet::new().block_on(&runtime, async {
        let worker = Rc::new(Worker::new(options));
        let is_open = worker.open().await;
        let failed = is_open.is_err();
        // If nobody waits for it any more, nobody sends a job either.
        if opened.send(is_open).is_err() || failed {
            return;
        }
        spawn_local(worker.clone().listen());
        spawn_local(worker.clone().poll());
        while let Some(job) = jobs.recv().await {
            spawn_local(job(worker.clone()));
        }
    });
    // A name may be looked up yet, on a thread that can't be stopped.
    runtime.shutdown_background();
}

impl Worker {
    fn new(options: PostgresOptions) -> Self {
        Self {
            description: options.description(),
            statements: Statements::new(&options),
            pool: Pool::new(&options),
            latest: watch::Sender::default(),
            notified: Rc::default(),
            options,
        }
    }

    async fn open(&self) -> Result<(), StorageError> {
        let revision = self
            .retrying(async |client| {
                schema::ensure(client, &self.options.schema, &self.statements).await?;
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
        let done = self.pool.retrying(&self.options, attempt).await;
        done.map_err(|failure| failure.into_error(&self.description))
    }
}
