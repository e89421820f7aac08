//! The storage in PostgreSQL, on servers that these tests start and kill.

mod away;
mod away_under_load;
mod counting;
mod crashes;
mod killed;
mod lost_answers;
mod pooler;
mod processes;
mod server;
mod sharing;
mod tls;

use alloc::sync::Arc;

use pq_keystore::storage::{PostgresOptions, Storage};

use crate::places::Place;
use server::{Pooler, Process, new_schema, open, options, patient, shared_folder};

/// The storage of a database that somebody else has started.
pub(crate) fn at(address: &str) -> Arc<dyn Storage> {
    Arc::new(open(&patient(address)))
}

/// A schema of a server's database.
pub(crate) struct Direct(PostgresOptions);

impl Place for Direct {
    fn is_available() -> bool {
        options().is_some()
    }

    fn new() -> Self {
        Self(options().unwrap())
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
    fn is_available() -> bool {
        shared_folder().and_then(Pooler::new).is_some()
    }

    fn new() -> Self {
        let pooler = Pooler::new(shared_folder().unwrap()).unwrap();
        let process = pooler.start();
        Self {
            options: patient(&pooler.address()).schema(&new_schema()).unwrap(),
            _pooler: (pooler, process),
        }
    }

    fn open(&self) -> Arc<dyn Storage> {
        Arc::new(open(&self.options))
    }
}
