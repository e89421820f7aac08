//! A store's file that another one is written over while it is open, as `cp` does it: it stays the same file to the system.

use core::sync::atomic::{AtomicBool, Ordering};
use core::time::Duration;
use std::fs;
use std::path::{Path, PathBuf};
use std::thread;

use pq_keystore::KeyName;
use pq_keystore::policy::Input;

use crate::kit::{Fixture, admin, code, user};
use crate::places::{Place, Redb};

fn versions(fixture: &Fixture, key: &KeyName) -> usize {
    fixture.store.show(&admin(), key).unwrap().versions.len()
}

/// A store with some keys, and a copy of it from while it was closed.
fn with_backup(keys: usize) -> (Redb, Vec<KeyName>, PathBuf) {
    let place = Redb::new();
    let fixture = Fixture::new(&place);
    let keys = (0..keys).map(|number| fixture.key(&format!("k{number}"), "Ed25519"));
    let keys = keys.collect();
    drop(fixture);
    let backup = place.path().with_extension("backup");
    fs::copy(place.path(), &backup).unwrap();
    (place, keys, backup)
}

/// The store is closed, the copy is there as it was, and opens.
fn check_is_backup(fixture: Fixture, place: &Redb, backup: &Path, key: &KeyName, expected: usize) {
    drop(fixture);
    assert!(fs::read(place.path()).unwrap() == fs::read(backup).unwrap());
    let fixture = Fixture::opened(place);
    assert_eq!(versions(&fixture, key), expected);
    let report = fixture.store.check(&admin(), &[]).unwrap();
    assert!(report.damaged.is_empty());
}

#[test]
fn a_file_that_was_written_over_is_noticed() {
    for number in [2, 301] {
        let (place, keys, backup) = with_backup(number);
        let fixture = Fixture::opened(&place);
        for key in &keys {
            fixture.store.rotate(&admin(), key).unwrap();
        }
        fs::copy(&backup, place.path()).unwrap();
        let sign = |key| code(fixture.store.sign(&user(), key, Input::message(b"x")));
        let refused = fixture.store.rotate(&admin(), &keys[0]).unwrap_err();
        assert_eq!(refused.code(), "storage-replaced", "{number}");
        assert!(!refused.retry());
        thread::sleep(Duration::from_millis(1_500));
        for key in &keys {
            assert_eq!(sign(key), "storage-replaced", "{number}");
            assert_eq!(
                code(fixture.store.rotate(&admin(), key)),
                "storage-replaced"
            );
        }
        assert_eq!(
            code(fixture.store.show(&admin(), &keys[0])),
            "storage-replaced"
        );
        check_is_backup(fixture, &place, &backup, &keys[0], 1);
    }
}

/// Nobody changes anything before it is closed, which writes to a file that is the store's own.
#[test]
fn a_file_that_was_written_over_is_not_written_to_when_it_is_closed() {
    let (place, keys, backup) = with_backup(2);
    let fixture = Fixture::opened(&place);
    fixture.store.rotate(&admin(), &keys[0]).unwrap();
    fs::copy(&backup, place.path()).unwrap();
    check_is_backup(fixture, &place, &backup, &keys[0], 1);
}

/// Also a copy from while the store was open: it has the mark of the process.
#[test]
fn a_file_that_an_older_state_was_written_over_is_noticed() {
    let (place, keys, backup) = with_backup(2);
    let fixture = Fixture::opened(&place);
    fixture.store.rotate(&admin(), &keys[0]).unwrap();
    fs::copy(place.path(), &backup).unwrap();
    fixture.store.rotate(&admin(), &keys[0]).unwrap();
    fs::copy(&backup, place.path()).unwrap();
    assert_eq!(
        code(fixture.store.rotate(&admin(), &keys[0])),
        "storage-replaced"
    );
    check_is_backup(fixture, &place, &backup, &keys[0], 2);
}

#[test]
fn a_file_that_was_cut_off_gets_no_changes() {
    let (place, keys, _) = with_backup(2);
    let fixture = Fixture::opened(&place);
    let file = fs::File::options().write(true).open(place.path()).unwrap();
    let len = file.metadata().unwrap().len();
    for left in [len - 1, 4096, 100, 0] {
        file.set_len(left).unwrap();
        assert_eq!(
            code(fixture.store.rotate(&admin(), &keys[0])),
            "storage-replaced"
        );
    }
    drop(fixture);
    assert_eq!(file.metadata().unwrap().len(), 0);
}

/// From when the copy is there on, no change is acknowledged, at whatever moment of another one it came. Rarely, a
/// page that was about to be written gets into the copy.
#[test]
fn a_file_that_is_written_over_amid_changes_gets_no_more() {
    let (place, keys, backup) = with_backup(40);
    let mut whole = 0;
    for round in 0..20_u64 {
        let fixture = Fixture::opened(&place);
        let is_over = AtomicBool::new(false);
        thread::scope(|scope| {
            let changing = scope.spawn(|| {
                for key in keys.iter().cycle() {
                    let was_over = is_over.load(Ordering::SeqCst);
                    match fixture.store.rotate(&admin(), key) {
                        Ok(_) => assert!(!was_over, "acknowledged after it was lost"),
                        Err(error) => return error.code(),
                    }
                }
                unreachable!("the keys begin anew")
            });
            thread::sleep(Duration::from_micros(20_000 + 371 * round));
            fs::copy(&backup, place.path()).unwrap();
            is_over.store(true, Ordering::SeqCst);
            let refused = changing.join().unwrap();
            assert!(
                ["storage-replaced", "outcome-unknown"].contains(&refused),
                "{refused}"
            );
        });
        assert_eq!(
            code(fixture.store.rotate(&admin(), &keys[0])),
            "storage-replaced"
        );
        drop(fixture);
        if fs::read(place.path()).unwrap() == fs::read(&backup).unwrap() {
            assert_eq!(versions(&Fixture::opened(&place), &keys[0]), 1);
            whole += 1;
        }
        fs::copy(&backup, place.path()).unwrap();
    }
    // A page that was just being written may be in the others.
    assert!(whole > 0);
}
