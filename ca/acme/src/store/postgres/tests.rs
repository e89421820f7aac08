//! The store in PostgreSQL: held to the suite, through a pooler, too; and what becomes of it while servers and connections
//! end.

mod crashes;
mod indexed;
mod lost_answers;
mod old;
mod opening;

use databases::{PATIENCE, Pooler, Process, new_schema};

use super::*;
use crate::store::{rates, suite};

/// Options that wait for a server that starts, and for a machine that is busy.
fn patient(address: &str) -> PostgresOptions {
    let options = PostgresOptions::new(address).unwrap();
    options.connect_timeout(PATIENCE).timeout(PATIENCE)
}

/// Options for an empty schema on the server that all tests share.
fn options() -> Option<PostgresOptions> {
    let shared = databases::shared()?;
    Some(patient(&shared.address()).schema(&new_schema()).unwrap())
}

#[test]
fn it_is_held_to_the_suite() {
    if options().is_none() {
        return;
    }
    let empty = || PostgresStore::open(options().unwrap()).unwrap();
    suite::check(empty);
    suite::check_limits(empty);
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
    let empty = || PostgresStore::open(patient(&address).schema(&new_schema()).unwrap()).unwrap();
    suite::check(empty);
    suite::check_limits(empty);
}

/// Two machines, each with a store of its own.
#[test]
fn of_two_machines_one_begins_to_issue() {
    let Some(options) = options() else {
        return;
    };
    let stores = [(); 2].map(|()| PostgresStore::open(options.clone()).unwrap());
    rates::check_that_one_begins(&stores);
    let [here, there] = &stores;
    let mut account = suite::found(there.account("account"));
    for _ in 0..3 {
        account = here.update_account((*account).clone()).unwrap();
        let found = [here, there].map(|store| suite::found(store.account("account")));
        assert!(found.iter().all(|found| found.version == account.version));
        let again = suite::found(there.account("account"));
        assert!(Arc::ptr_eq(&found[1], &again));
    }
}

#[test]
fn rates_with_a_disk() {
    let Some(cluster) = databases::Cluster::new(&["fsync=on"]) else {
        return;
    };
    let _server = cluster.start();
    let options = patient(&cluster.address()).connections(16);
    let store = PostgresStore::open(options).unwrap();
    rates::print("PostgreSQL", &store);
}
