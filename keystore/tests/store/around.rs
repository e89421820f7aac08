//! Storages that behave in another way than the one that they are around.

use alloc::sync::Arc;
use core::ops::Deref;
use core::time::Duration;

use pq_keystore::storage::{
    Change, CommitError, Committed, LogEntry, Page, RowKey, RowPrefix, Snapshot, Storage,
    StorageError,
};

/// What differs from the storage within.
pub(crate) trait Behaviour: Send + Sync {
    /// It may be another one at each call.
    fn within(&self) -> Arc<dyn Storage>;

    /// Comes before each call.
    fn reach(&self) -> Result<(), StorageError> {
        Ok(())
    }

    fn get(&self, keys: &[RowKey]) -> Result<Snapshot, StorageError> {
        self.within().get(keys)
    }

    fn commit(&self, change: &Change) -> Result<Committed, CommitError> {
        self.within().commit(change)
    }

    fn entries(&self, from: u64, limit: usize) -> Result<Vec<LogEntry>, StorageError> {
        self.within().entries(from, limit)
    }

    fn wait_for_change(&self, since: u64, timeout: Duration) -> Result<u64, StorageError> {
        self.within().wait_for_change(since, timeout)
    }
}

/// A storage with such a behaviour.
#[derive(Default)]
pub(crate) struct Around<B>(pub(crate) B);

impl<B> Deref for Around<B> {
    type Target = B;

    fn deref(&self) -> &B {
        &self.0
    }
}

impl<B: Behaviour> Storage for Around<B> {
    fn get(&self, keys: &[RowKey]) -> Result<Snapshot, StorageError> {
        self.0.reach()?;
        self.0.get(keys)
    }

    fn list(
        &self,
        prefix: &RowPrefix,
        after: Option<&RowKey>,
        limit: usize,
    ) -> Result<Page, StorageError> {
        self.0.reach()?;
        self.0.within().list(prefix, after, limit)
    }

    fn commit(&self, change: &Change) -> Result<Committed, CommitError> {
        self.0.reach()?;
        self.0.commit(change)
    }

    fn entries(&self, from: u64, limit: usize) -> Result<Vec<LogEntry>, StorageError> {
        self.0.reach()?;
        self.0.entries(from, limit)
    }

    fn wait_for_change(&self, since: u64, timeout: Duration) -> Result<u64, StorageError> {
        self.0.reach()?;
        self.0.wait_for_change(since, timeout)
    }

    fn description(&self) -> String {
        self.0.within().description()
    }
}
