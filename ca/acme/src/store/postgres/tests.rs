//! The store in PostgreSQL: held to the suite, through a pooler, too; and what becomes of it while servers and connections
//! end.

use databases::{PATIENCE, Pooler, Process, new_schema};

use super::*;
use crate::store::suite;

/// Options that wait for a server that starts, and for a machine that is busy.
fn patient(address: &str) -> PostgresOptions {
    let options = PostgresOptions::new(address).unwrap();
    options.connect_timeout(PATIENCE).timeout(PATIENCE)
}

#[test]
fn it_is_held_to_the_suite() {
    let Some(shared) = databases::shared() else {
        return;
    };
    let address = shared.address();
    suite::check(|| PostgresStore::open(patient(&address).schema(&new_schema()).unwrap()).unwrap());
}

#[test]
fn through_a_pooler() {
    let Some(shared) = databases::shared() else {
        return;
    };
    let Some(pooler) = Pooler::new(shared.folder()) else {
        return;
    };
    let _process: Process = pooler.start();
    let address = pooler.address();
    suite::check(|| PostgresStore::open(patient(&address).schema(&new_schema()).unwrap()).unwrap());
}
