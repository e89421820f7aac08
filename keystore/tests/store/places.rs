//! Where the storages under test come from.

use alloc::sync::Arc;

use pq_keystore::StoreOptions;
use pq_keystore::custody::{Token, TokenName};
#[cfg(feature = "redb")]
use pq_keystore::storage::RedbStorage;
use pq_keystore::storage::{MemoryStorage, Storage};
#[cfg(feature = "redb")]
use tempfile::TempDir;

/// Makes storages of one kind.
pub(crate) trait Place: Sized {
    /// Whether this machine has the programs that it needs. If not, it is said.
    fn is_available() -> bool {
        true
    }

    /// A place for a storage of its own, empty.
    fn new() -> Self;

    /// The storage at this place: the same rows each time.
    fn open(&self) -> Arc<dyn Storage>;

    /// What stores at this place are opened with, beside their clock.
    fn options(&self) -> StoreOptions {
        StoreOptions::default()
    }

    /// In which token keys are made, if in any.
    fn token(&self) -> Option<TokenName> {
        None
    }

    /// The token itself, to look behind the store's back.
    fn in_token(&self) -> Arc<dyn Token> {
        unreachable!("keys are in no token here")
    }

    /// What stands for an algorithm here, or `None` if there are no such keys.
    fn algorithm(name: &'static str) -> Option<&'static str> {
        Some(name)
    }
}

pub(crate) struct Memory(Arc<MemoryStorage>);

impl Place for Memory {
    fn new() -> Self {
        Self(Arc::new(MemoryStorage::new()))
    }

    fn open(&self) -> Arc<dyn Storage> {
        self.0.clone()
    }
}

/// A file in a folder of its own.
#[cfg(feature = "redb")]
pub(crate) struct Redb(TempDir);

#[cfg(feature = "redb")]
impl Redb {
    pub(crate) fn path(&self) -> std::path::PathBuf {
        self.0.path().join("keys.redb")
    }
}

#[cfg(feature = "redb")]
impl Place for Redb {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let place = Self(folder);
        RedbStorage::create(&place.path()).unwrap();
        place
    }

    fn open(&self) -> Arc<dyn Storage> {
        Arc::new(RedbStorage::open(&self.path()).unwrap())
    }
}
