//! What ended long ago goes, and nothing else.

use super::*;
use crate::store::old_tests;

#[test]
fn what_ended_long_ago_is_removed() {
    let Some(options) = options() else {
        return;
    };
    let store = PostgresStore::open(options).unwrap();
    let store = store.keeping(old_tests::KEEP);
    old_tests::check(&store);
}

#[test]
fn what_is_in_use_is_not_removed() {
    let Some(options) = options() else {
        return;
    };
    let store = PostgresStore::open(options).unwrap();
    let store = store.keeping(old_tests::KEEP);
    old_tests::check_what_is_in_use(&store, |now, limit| store.remove_old(now, limit).unwrap());
}

#[test]
fn new_orders_remove_old_ones() {
    let Some(options) = options() else {
        return;
    };
    let store = PostgresStore::open(options).unwrap();
    old_tests::check_unasked(&store.keeping(old_tests::KEEP));
}

/// While others are counted.
#[test]
fn windows_that_are_over_are_removed() {
    let Some(options) = options() else {
        return;
    };
    let store = PostgresStore::open(options.clone()).unwrap();
    let count = |of: String, now, window| {
        let window = Duration::from_secs(window);
        let limit = Limit {
            of,
            most: 39,
            window,
        };
        store.count(&[limit], Time::from_secs(now)).unwrap()
    };
    for number in 0..40 {
        count(format!("many {number}"), 1000, 100);
    }
    count("long".into(), 1000, 1000);
    for _ in 0..39 {
        assert_eq!(count("one".into(), 1100, 100), Counted::All);
    }
    let used_up = count("one".into(), 1199, 100);
    assert!(matches!(used_up, Counted::UsedUp { .. }));
    let schema = Database::new(options, PURPOSE).schema().to_owned();
    let statement =
        format!("DO $$ BEGIN ASSERT (SELECT count(*) = 2 FROM {schema}.limits); END $$");
    databases::shared().unwrap().run(5432, &statement);
}
