//! Where the storages under test come from.

use alloc::sync::Arc;

use pq_keystore::storage::{MemoryStorage, Storage};

/// Makes storages of one kind.
pub(crate) trait Place: Sized {
    /// A place for a storage of its own, empty.
    fn new() -> Self;

    /// The storage at this place: the same rows each time.
    fn open(&self) -> Arc<dyn Storage>;
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
