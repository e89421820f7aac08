//! Storages on the servers of `databases`.

use core::time::Duration;
use std::path::Path;

pub(super) use databases::{Cluster, PATIENCE, Pooler, Process, new_schema, private_file};
use pq_keystore::storage::{PostgresOptions, PostgresStorage};

/// Options for an empty storage on the shared server.
pub(super) fn options() -> Option<PostgresOptions> {
    let shared = databases::shared()?;
    Some(patient(&shared.address()).schema(&new_schema()).unwrap())
}

/// The folder of the shared server's socket.
pub(super) fn shared_folder() -> Option<&'static Path> {
    Some(databases::shared()?.folder())
}

/// Where the shared server is.
pub(super) fn shared_address() -> Option<String> {
    Some(databases::shared()?.address())
}

/// Options that wait for a server that starts, and for a machine that is busy.
pub(super) fn patient(address: &str) -> PostgresOptions {
    PostgresOptions::new(address)
        .unwrap()
        .connect_timeout(PATIENCE)
        .timeout(PATIENCE)
}

pub(super) fn open(options: &PostgresOptions) -> PostgresStorage {
    PostgresStorage::open(options.clone()).unwrap()
}

/// Opens a storage that doesn't wait long, however busy the machine is.
pub(super) fn open_impatient(options: &PostgresOptions, timeout: Duration) -> PostgresStorage {
    let options = options.clone().timeout(timeout);
    loop {
        match PostgresStorage::open(options.clone()) {
            Ok(storage) => return storage,
            Err(error) => assert!(error.retry(), "{error}"),
        }
    }
}
