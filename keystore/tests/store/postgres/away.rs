//! A database that is away for a while, or was never there; and what errors say.

use core::time::Duration;

use pq_keystore::storage::{
    CommitError, InvalidPostgresOptions, PostgresOptions, PostgresStorage, RowPrefix, Storage,
    StorageError,
};

use super::counting::{Counter, check};
use super::server::{Cluster, open, open_impatient, patient};

fn is_away(error: &StorageError) -> bool {
    matches!(error, StorageError::Away { .. }) && error.retry()
}

#[test]
fn a_server_goes_away_and_comes_back() {
    let Some(cluster) = Cluster::new(&[]) else {
        return;
    };
    let process = cluster.start();
    let short = Duration::from_millis(300);
    let options = patient(&cluster.address());
    let impatient = open_impatient(&options.clone().poll(Duration::from_millis(20)), short);
    let storage = open(&options);
    let mut counter = Counter::new("a");
    counter.count(&storage).unwrap();
    process.kill();
    // The process of a connection outlives the server's for a moment.
    while impatient.get(&[]).is_ok() {}
    for _ in 0..3 {
        assert!(is_away(&impatient.get(&[]).unwrap_err()));
        assert!(is_away(
            &impatient.list(&RowPrefix::keys(), None, 1).unwrap_err()
        ));
        assert!(is_away(&impatient.entries(1, 1).unwrap_err()));
        let error = counter.count(&impatient).unwrap_err();
        assert!(matches!(error, CommitError::Storage(error) if is_away(&error)));
    }
    // It is told as soon as it is noticed.
    while impatient.wait_for_change(1, short).is_ok() {}
    let opened = PostgresStorage::open(options.timeout(short));
    assert!(is_away(&opened.unwrap_err()));

    let _process = cluster.start();
    // One waits for it, the other one tries until it is there.
    assert_eq!(counter.count(&storage).unwrap().revision, 2);
    while impatient.wait_for_change(1, short) != Ok(2) {}
    while impatient.get(&[]).is_err() {}
    assert_eq!(check(&storage), 2);
}

#[test]
fn a_password_is_in_no_message() {
    const SECRET: &str = "hunter2-and-more";
    let folder = tempfile::tempdir().unwrap();
    let address = format!(
        "host={} user=u dbname=d password={SECRET}",
        folder.path().display()
    );
    let options = PostgresOptions::new(&address)
        .unwrap()
        .listen(&address)
        .unwrap()
        .timeout(Duration::from_millis(50));
    assert!(!format!("{options:?}").contains(SECRET));
    let error = PostgresStorage::open(options).unwrap_err();
    assert!(is_away(&error));
    assert!(!format!("{error} {error:?}").contains(SECRET));
    // One with spaces and without quotes is taken for other options.
    let broken = format!("host=h password=one {SECRET}=two");
    let error = PostgresOptions::new(&broken).unwrap_err();
    assert_eq!(error, InvalidPostgresOptions::ConnectionString);
    assert!(!format!("{error} {error:?}").contains(SECRET));
    let without_host = PostgresOptions::new("user=u").unwrap_err();
    assert_eq!(without_host, InvalidPostgresOptions::Host);
}

#[test]
fn a_schema_has_a_plain_name() {
    let schema = |name: &str| {
        PostgresOptions::new("host=h")
            .unwrap()
            .schema(name)
            .map(drop)
    };
    let longest = "a".repeat(63);
    for name in ["a", "_", "select", "a1_b", &longest] {
        schema(name).unwrap();
    }
    let too_long = "a".repeat(64);
    for name in ["", "1a", "A", "a\"", "a-b", "pg_a", "ä", &too_long] {
        assert_eq!(schema(name), Err(InvalidPostgresOptions::Schema));
    }
}
