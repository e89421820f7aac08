//! Connections that end while a change is made: what the storage then says is so.

use core::time::Duration;
use std::thread;
use std::time::Instant;

use databases::{Cut, Proxy};
use pq_keystore::storage::{
    CommitError, Committed, PostgresOptions, PostgresStorage, Storage, StorageError,
};

use super::counting::{Counter, check};
use super::server::{PATIENCE, new_schema, open, open_impatient, options, patient, shared_folder};

/// A proxy, and options for an empty storage behind it that has one connection. Only a change uses it.
fn behind_proxy() -> Option<(Proxy, PostgresOptions)> {
    let folder = shared_folder()?;
    let proxy = Proxy::new(folder);
    let direct = format!("host={} user=postgres dbname=postgres", folder.display());
    let options = patient(&proxy.address())
        .schema(&new_schema())
        .unwrap()
        .listen(&direct)
        .unwrap()
        .connections(1)
        .poll(Duration::from_secs(3600));
    Some((proxy, options))
}

/// Counts, until `COMMIT` was sent and cut. On a busy machine there may be no time left for it, and nothing is changed.
fn at_commit(
    proxy: &Proxy,
    cut: Cut,
    counter: &mut Counter,
    storage: &PostgresStorage,
) -> Result<Committed, CommitError> {
    loop {
        proxy.set(cut);
        let made = counter.count(storage);
        if proxy.cut() != cut {
            return made;
        }
        let error = made.unwrap_err();
        assert!(
            matches!(error, CommitError::Storage(StorageError::Away { .. })),
            "{error}"
        );
    }
}

#[test]
fn a_lost_answer_is_found_out() {
    let Some((proxy, options)) = behind_proxy() else {
        return;
    };
    let storage = open(&options);
    let mut counter = Counter::new("a");
    counter.count(&storage).unwrap();
    for (cut, expected) in [(Cut::BeforeCommit, 2), (Cut::Answer, 3), (Cut::Answer, 4)] {
        proxy.set(cut);
        // The change is made once: the first time, or the second if it wasn't.
        let made = counter.count(&storage).unwrap();
        assert_eq!((made.revision, proxy.cut()), (expected, Cut::Never));
        assert_eq!(check(&storage), expected);
    }
}

#[test]
fn an_answer_that_nobody_can_find_out_is_unknown() {
    let Some((proxy, options)) = behind_proxy() else {
        return;
    };
    let impatient = open_impatient(&options, Duration::from_secs(2));
    let storage = open(&options);
    let mut counter = Counter::new("a");
    counter.count(&storage).unwrap();
    let error = at_commit(&proxy, Cut::AnswerAndAllAfter, &mut counter, &impatient).unwrap_err();
    assert!(
        matches!(error, CommitError::OutcomeUnknown { .. }),
        "{error}"
    );
    let error = counter.count(&impatient).unwrap_err();
    assert!(
        matches!(error, CommitError::Storage(StorageError::Away { .. })),
        "{error}"
    );
    proxy.set(Cut::Never);
    assert_eq!(check(&storage), 2);
    assert_eq!(counter.count(&storage).unwrap().revision, 3);
    assert_eq!(check(&storage), 3);
}

#[test]
fn a_process_that_stops_within_a_change_keeps_nobody() {
    let Some((proxy, options)) = behind_proxy() else {
        return;
    };
    let impatient = open_impatient(&options, Duration::from_secs(2));
    let mut counter = Counter::new("a");
    let held = at_commit(&proxy, Cut::Hold, &mut counter, &impatient);
    // The server ends the transaction that holds the lock. Another one waits for it, and then finds nothing.
    let storage = open(&options);
    let made = Counter::new("b").count(&storage).unwrap();
    match held {
        Ok(_) => assert_eq!(made.revision, 2),
        Err(
            CommitError::OutcomeUnknown { .. } | CommitError::Storage(StorageError::Away { .. }),
        ) => {
            assert_eq!(made.revision, 1);
        }
        Err(error) => panic!("{error}"),
    }
    assert_eq!(check(&storage), made.revision);
}

#[test]
fn a_connection_may_end_before_any_message() {
    let Some((proxy, options)) = behind_proxy() else {
        return;
    };
    let storage = open(&options);
    let mut counter = Counter::new("a");
    for place in [Cut::ToServer as fn(u32) -> Cut, Cut::ToClient] {
        for number in 0..10 {
            proxy.set(place(number));
            let made = counter.count(&storage).unwrap();
            assert_eq!(made.revision, counter.acknowledged);
            proxy.set(Cut::Never);
            assert_eq!(check(&storage), counter.acknowledged);
        }
    }
}

/// All connections that are idle die without a word, and new ones are answered.
#[test]
fn silent_connections_do_not_keep_new_ones_from_being_made() {
    let Some((proxy, options)) = behind_proxy() else {
        return;
    };
    let timeout = Duration::from_secs(8);
    let storage = open_impatient(&options.connections(4), timeout);
    let mut counter = Counter::new("a");
    for _ in 0..2 {
        // So that several are idle.
        thread::scope(|scope| {
            for _ in 0..16 {
                scope.spawn(|| {
                    for _ in 0..20 {
                        storage.get(&[]).unwrap();
                    }
                });
            }
        });
        assert!(proxy.count() > 1);
        proxy.freeze();
        let begun = Instant::now();
        storage.get(&[]).unwrap();
        storage.get(&[]).unwrap();
        assert!(begun.elapsed() < timeout, "{:?}", begun.elapsed());
        counter.count(&storage).unwrap();
        // The same, if a change is the first to find out.
        proxy.freeze();
        counter.count(&storage).unwrap();
    }
    assert_eq!(check(&storage), 4);
}

/// A statement that takes long is waited for, on a connection that was idle, too.
#[test]
fn a_slow_answer_is_waited_for() {
    let Some(shared) = databases::shared() else {
        return;
    };
    let schema = new_schema();
    let options = patient(&shared.address()).schema(&schema).unwrap();
    let storage = open_impatient(&options.connections(1), Duration::from_secs(8));
    let mut counter = Counter::new("a");
    counter.count(&storage).unwrap();
    let locked =
        format!("BEGIN; SELECT FROM \"{schema}\".storage FOR UPDATE; SELECT pg_sleep(5); COMMIT");
    thread::scope(|scope| {
        scope.spawn(|| shared.run(5432, &locked));
        thread::sleep(Duration::from_secs(1));
        let begun = Instant::now();
        assert_eq!(counter.count(&storage).unwrap().revision, 2);
        assert!(begun.elapsed() > Duration::from_secs(2));
    });
}

#[test]
fn what_was_missed_while_nobody_listened_is_read() {
    let Some(direct) = options() else { return };
    let Some(folder) = shared_folder() else {
        return;
    };
    let proxy = Proxy::new(folder);
    let never = Duration::from_secs(3600);
    let listening = open(&direct.clone().listen(&proxy.address()).unwrap().poll(never));
    let other = open(&direct);
    let mut counter = Counter::new("a");
    for _ in 0..2 {
        let made = counter.count(&other).unwrap();
        assert_eq!(
            listening.wait_for_change(made.revision - 1, PATIENCE),
            Ok(made.revision)
        );
        proxy.set(Cut::All);
        let missed = counter.count(&other).unwrap();
        proxy.set(Cut::Never);
        assert_eq!(
            listening.wait_for_change(made.revision, PATIENCE),
            Ok(missed.revision)
        );
    }
}
