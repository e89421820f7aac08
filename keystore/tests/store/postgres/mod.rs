//! The storage in PostgreSQL, on servers that these tests start and kill.

mod away;
mod counting;
mod crashes;
mod lost_answers;
mod pooler;
mod proxy;
mod server;
mod sharing;
mod tls;

use alloc::sync::Arc;

use pq_keystore::storage::{PostgresOptions, Storage};

use crate::places::Place;
use server::{Pooler, Process, new_schema, open, options, patient, shared_folder};

/// A schema of a server's database.
pub(crate) struct Direct(PostgresOptions);

impl Place for Direct {
    fn new() -> Option<Self> {
        options().map(Self)
    }

    fn open(&self) -> Arc<dyn Storage> {
        Arc::new(open(&self.0))
    }
}

/// The same through a pooler, which keeps nothing of a session.
pub(crate) struct Pooled {
    options: PostgresOptions,
    _pooler: (Pooler, Process),
}

impl Place for Pooled {
    fn new() -> Option<Self> {
        let pooler = Pooler::new(shared_folder()?)?;
        let process = pooler.start();
        Some(Self {
            options: patient(&pooler.address()).schema(&new_schema()).unwrap(),
            _pooler: (pooler, process),
        })
    }

    fn open(&self) -> Arc<dyn Storage> {
        Arc::new(open(&self.options))
    }
}
