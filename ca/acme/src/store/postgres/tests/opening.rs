//! How stores are made and opened.

use std::thread;

use databases::Cluster;

use super::*;

fn kind(opened: Result<PostgresStore, StorageError>) -> &'static str {
    match opened {
        Ok(_) => "open",
        Err(StorageError::Newer { known: 2, .. }) => "newer",
        Err(StorageError::Away { .. }) => "away",
        Err(StorageError::NotOpened { .. }) => "refused",
        Err(error) => panic!("{error}"),
    }
}

#[test]
fn many_make_it_at_once() {
    let Some(options) = options() else {
        return;
    };
    thread::scope(|scope| {
        for _ in 0..6 {
            scope.spawn(|| assert_eq!(kind(PostgresStore::open(options.clone())), "open"));
        }
    });
    // A second time, it stays as it is.
    let store = PostgresStore::open(options.clone()).unwrap();
    suite::insert(&store, suite::account("account", 1));
    let again = PostgresStore::open(options).unwrap();
    suite::found(again.account("account"));
}

#[test]
fn rights_that_are_needed_and_newer_tables() {
    let Some(cluster) = Cluster::new(&["fsync=off"]) else {
        return;
    };
    let _server = cluster.start();
    let options = patient(&cluster.address());
    let address = cluster.address().replace("user=postgres", "user=front");
    let of_front = patient(&address);
    cluster.run(5432, "CREATE ROLE front LOGIN");
    assert_eq!(kind(PostgresStore::open(of_front.clone())), "refused");
    drop(PostgresStore::open(options.clone()).unwrap());
    assert_eq!(kind(PostgresStore::open(of_front.clone())), "refused");
    cluster.run(
        5432,
        "GRANT USAGE ON SCHEMA pq_acme TO front; \
         GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA pq_acme TO front",
    );
    let store = PostgresStore::open(of_front).unwrap();
    suite::insert(&store, suite::account("account", 1));
    rates::order(&store, "account", 2).unwrap();
    store.remove_old(Time::from_secs(0), 10).unwrap();

    cluster.run(5432, "UPDATE pq_acme.store SET format = 3");
    assert_eq!(kind(PostgresStore::open(options.clone())), "newer");
    cluster.run(5432, "UPDATE pq_acme.store SET format = 2");
    assert_eq!(kind(PostgresStore::open(options.clone())), "open");

    // Tables of before are brought to this version.
    cluster.run(
        5432,
        "ALTER TABLE pq_acme.orders DROP COLUMN is_open; ALTER TABLE pq_acme.authorizations DROP COLUMN is_pending; \
         ALTER TABLE pq_acme.accounts DROP COLUMN ended; UPDATE pq_acme.store SET format = 1",
    );
    let store = PostgresStore::open(options.clone()).unwrap();
    rates::order(&store, "account", 3).unwrap();

    // What was changed by hand is not taken for another record.
    cluster.run(
        5432,
        "UPDATE pq_acme.orders SET body = replace(body, 'account', 'acount')",
    );
    let store = PostgresStore::open(options).unwrap();
    let error = store.order(&format!("{:016x}", 2)).unwrap_err();
    let error = error.to_string();
    assert!(
        error.contains("is damaged: the order \"0000000000000002\""),
        "{error}"
    );
}

#[test]
fn a_database_that_is_not_there_is_away() {
    let folder = tempfile::tempdir().unwrap();
    let address = format!(
        "host={} user=u dbname=d password=hunter2",
        folder.path().display()
    );
    let options = PostgresOptions::new(&address).unwrap();
    let error = PostgresStore::open(options.timeout(Duration::from_millis(50))).unwrap_err();
    assert!(!format!("{error} {error:?}").contains("hunter2"));
    assert_eq!(kind(Err(error)), "away");
}
