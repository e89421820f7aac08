//! The store in a file: held to the suite, and what becomes of files that were changed.

use core::cell::Cell;
use std::fs;
use std::path::PathBuf;

use tempfile::TempDir;

use super::*;
use ::redb::ReadableTableMetadata;

use super::file::begin;
use super::rows::{LIMITS, LIMITS_BY_END, NUMBERS, Stop, record, row, secret, secret_row};
use crate::store::{OrderState, old_tests, rates, suite};

fn place() -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("acme.redb");
    (folder, path)
}

#[test]
fn it_is_held_to_the_suite() {
    let folder = tempfile::tempdir().unwrap();
    let count = Cell::new(0);
    let empty = || {
        count.set(count.get() + 1);
        RedbStore::open(&folder.path().join(format!("{}.redb", count.get()))).unwrap()
    };
    suite::check(empty);
    suite::check_limits(empty);
}

#[test]
fn what_ended_long_ago_is_removed() {
    let (_folder, path) = place();
    let store = RedbStore::open(&path).unwrap().keeping(old_tests::KEEP);
    old_tests::check(&store);
}

#[test]
fn what_is_in_use_is_not_removed() {
    let (_folder, path) = place();
    let store = RedbStore::open(&path).unwrap().keeping(old_tests::KEEP);
    old_tests::check_what_is_in_use(&store, |now, limit| store.remove_old(now, limit).unwrap());
}

#[test]
fn new_orders_remove_old_ones() {
    let (_folder, path) = place();
    let store = RedbStore::open(&path).unwrap().keeping(old_tests::KEEP);
    old_tests::check_unasked(&store);
}

/// While others are counted.
#[test]
fn windows_that_are_over_are_removed() {
    let (_folder, path) = place();
    let store = RedbStore::open(&path).unwrap();
    let count = |of: String, now, window| {
        let window = Duration::from_secs(window);
        let limit = Limit {
            of,
            most: 9,
            window,
        };
        store.count(&[limit], Time::from_secs(now)).unwrap()
    };
    for number in 0..20 {
        count(format!("many {number}"), 1000, 100);
    }
    count("long".into(), 1000, 1000);
    for _ in 0..9 {
        assert_eq!(count("one".into(), 1100, 100), Counted::All);
    }
    assert!(matches!(
        count("one".into(), 1199, 100),
        Counted::UsedUp { .. }
    ));
    let rows = store.opened.read(|reads| {
        let limits = reads.0.open_table(LIMITS)?.len()?;
        Ok((limits, reads.0.open_table(LIMITS_BY_END)?.len()?))
    });
    assert_eq!(rows.unwrap(), (2, 2));
}

#[test]
fn a_row_in_the_place_of_another_is_damage() {
    let is_damaged = |stop: Result<(), Stop>| matches!(stop, Err(Stop::Failed(_)));
    let one = suite::account("one", 1);
    let bytes = row("one", 7, &one).unwrap();
    assert_eq!(record::<AccountRecord>("one", &bytes).unwrap().version, 7);
    assert!(is_damaged(record::<AccountRecord>("two", &bytes).map(drop)));
    assert!(is_damaged(record::<OrderRecord>("one", &bytes).map(drop)));
    let kept = secret_row("nonces", &[7; 32]);
    assert_eq!(secret("nonces", &kept).unwrap(), [7; 32]);
    assert!(is_damaged(secret("others", &kept).map(drop)));
    for at in 0..kept.len() {
        let mut changed = kept.clone();
        changed[at] ^= 1;
        assert!(is_damaged(secret("nonces", &changed).map(drop)), "{at}");
        assert!(is_damaged(secret("nonces", &kept[..at]).map(drop)), "{at}");
    }
}

#[test]
fn a_file_of_another_format_is_not_used() {
    for (format, expected) in [(2, "newer"), (0, "damaged"), (1, "open")] {
        let (_folder, path) = place();
        let store = RedbStore::open(&path).unwrap();
        let set = store.opened.with(|database| {
            let transaction = begin(database).unwrap();
            let mut numbers = transaction.open_table(NUMBERS).unwrap();
            numbers.insert("format", format).unwrap();
            drop(numbers);
            transaction.commit().unwrap();
            Ok(())
        });
        set.unwrap();
        drop(store);
        let found = match RedbStore::open(&path) {
            Ok(_) => "open",
            Err(StorageError::Newer {
                format: 2,
                known: 1,
                ..
            }) => "newer",
            Err(StorageError::Damaged { .. }) => "damaged",
            Err(error) => panic!("{error}"),
        };
        assert_eq!(found, expected);
    }
}

#[test]
fn of_many_one_begins_to_issue() {
    let (_folder, path) = place();
    rates::check_that_one_begins(&[RedbStore::open(&path).unwrap()]);
}

#[test]
fn rates_of_a_file() {
    let folder = tempfile::tempdir().unwrap();
    let store = RedbStore::open(&folder.path().join("acme.redb")).unwrap();
    rates::print("redb", &store);
}

#[test]
fn one_process_has_it_and_what_was_done_is_there_later() {
    let (_folder, path) = place();
    let store = RedbStore::open(&path).unwrap();
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;

        let mode = fs::metadata(&path).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }
    let in_use = RedbStore::open(&path).unwrap_err();
    assert!(matches!(in_use, StorageError::InUse { .. }), "{in_use}");
    suite::insert(&store, suite::account("account", 1));
    let id = rates::order(&store, "account", 2).unwrap();
    // As after a crash: a copy of the file as it is while it is open.
    let copy = path.with_extension("copy");
    fs::copy(&path, &copy).unwrap();
    drop(store);
    for path in [path, copy] {
        let store = RedbStore::open(&path).unwrap();
        let order = suite::found(store.order(&id));
        assert!(matches!(order.state, OrderState::Valid { .. }));
        assert_eq!(suite::found(store.account("account")).id, "account");
    }
}

/// Thousands of objects that ended are removed, and the file does not grow for those that come after them.
#[test]
fn the_file_does_not_grow_while_old_ones_go() {
    let (_folder, path) = place();
    let store = RedbStore::open(&path).unwrap().keeping(old_tests::KEEP);
    let owner = suite::insert(&store, suite::account("account", 1));
    let mut lens = Vec::new();
    for round in 0..6 {
        let expires = Time::from_secs(1000 * (round + 1));
        for number in 0..20 {
            let number = 100 * (round + 1) + number;
            let id = format!("order {number}");
            let order = OrderRecord {
                expires,
                ..suite::order(&id, "account", number)
            };
            let needed = (0..100).map(|one| AuthorizationRecord {
                id: format!("{one} of {id}"),
                expires,
                ..suite::authorization(&order)
            });
            let needed = needed.collect();
            store.insert_order(order, needed, &owner, None).unwrap();
        }
        lens.push(fs::metadata(&path).unwrap().len());
        let now = expires.after(old_tests::KEEP).after(Duration::from_secs(1));
        let mut removed = 0;
        loop {
            match store.remove_old(now, 256).unwrap() {
                0 => break,
                piece => removed += piece,
            }
        }
        assert_eq!(removed, 20 * 101);
    }
    assert!(store.orders_of("account", None, 10).unwrap().is_empty());
    assert!(lens[5] <= 2 * lens[0], "{lens:?}");
}

/// Once the disk is full, changes fail; once there is room, they don't, in the same process. What was acknowledged is there.
///
/// The limit of a file's length stands for the disk. It belongs to a process, so the test runs itself in another one.
#[cfg(target_os = "linux")]
#[test]
fn it_goes_on_after_the_disk_was_full() {
    use std::env;
    use std::process::{Command, id};
    use std::thread::sleep;
    use std::time::Instant;

    const ALONE: &str = "PQ_ACME_TESTS_ALONE";
    if env::var_os(ALONE).is_none() {
        let mut command = Command::new("sh");
        // So that a write beyond the limit is an error, and no signal.
        command.args(["-c", "trap '' XFSZ; exec \"$0\" --exact \"$1\" --nocapture"]);
        command.arg(env::current_exe().unwrap());
        command.arg("store::redb::tests::it_goes_on_after_the_disk_was_full");
        let ran = command.env(ALONE, "1").output().unwrap();
        let told = String::from_utf8_lossy(&ran.stdout);
        assert!(ran.status.success() && told.contains("1 passed"), "{ran:?}");
        return;
    }
    let limit = |limit: &str| {
        let mut command = Command::new("prlimit");
        command.args(["--pid", &id().to_string(), &format!("--fsize={limit}:")]);
        assert!(command.status().unwrap().success());
    };
    let (_folder, path) = place();
    let store = RedbStore::open(&path).unwrap();
    let owner = suite::insert(&store, suite::account("account", 1));
    let order = |number| {
        let order = suite::order(&format!("order {number}"), "account", number);
        let authorizations = vec![suite::authorization(&order)];
        store.insert_order(order, authorizations, &owner, None)
    };
    limit(&fs::metadata(&path).unwrap().len().to_string());
    let mut made = 1;
    let refused = loop {
        match order(made + 1) {
            Ok(_) => made += 1,
            Err(error) => break error.to_string(),
        }
        assert!(made < 100_000, "the limit should be met");
    };
    assert!(refused.contains("free some space there"), "{refused}");
    let again = order(made + 2).unwrap_err();
    assert!(again.to_string().contains("acme.redb"), "{again}");
    limit("unlimited");
    let began = Instant::now();
    // Other numbers, as some of those may have been inserted.
    let mut number = made + 10;
    while let Err(error) = order(number) {
        assert!(began.elapsed().as_secs() < 60, "{error}");
        sleep(Duration::from_millis(100));
        number += 1;
    }
    let has_all = |store: &RedbStore| {
        for number in 2..=made {
            suite::found(store.order(&format!("order {number}")));
        }
    };
    has_all(&store);
    drop(store);
    has_all(&RedbStore::open(&path).unwrap());
}

/// What is asked of a store; whether it was answered without an error.
fn ask(store: &RedbStore, id: &str) -> Result<(), StoreError> {
    let order = store.order(id)?;
    assert!(order.is_none_or(|order| order.account == "account"));
    store.account("account")?;
    store.orders_of("account", None, 10)?;
    store.overdue(Time::from_secs(u64::MAX - 1), 10)?;
    store.valid_authorizations("account", &suite::name(), false, 10)?;
    store.certificate(&format!("certificate of {id}"))?;
    Ok(())
}

#[test]
fn damaged_files_are_errors() {
    let (_folder, path) = place();
    let store = RedbStore::open(&path).unwrap();
    suite::insert(&store, suite::account("account", 1));
    let id = rates::order(&store, "account", 2).unwrap();
    drop(store);
    let whole = fs::read(&path).unwrap();

    // Each place where the order's own bytes are.
    let name = b"\"account\":\"account\"";
    let places = whole.windows(name.len()).enumerate();
    let places = places.filter_map(|(at, found)| (found == name).then_some(at));
    let mut found = 0;
    for at in places {
        let mut changed = whole.clone();
        changed[at + 14] ^= 1;
        fs::write(&path, &changed).unwrap();
        let store = RedbStore::open(&path).unwrap();
        if let Err(error) = ask(&store, &id) {
            let error = error.to_string();
            assert!(
                error.contains("is damaged") && error.contains("was changed"),
                "{error}"
            );
            found += 1;
        }
        // Others go on.
        suite::insert(&store, suite::account("other", 3));
    }
    assert!(found >= 1);

    // Cut off, or of something else.
    for len in [0, 1, 100, 4096, 8192, whole.len() / 2, whole.len() - 4096] {
        fs::write(&path, &whole[..len]).unwrap();
        let damaged = match RedbStore::open(&path) {
            Ok(store) => ask(&store, &id).map_err(|error| error.to_string()),
            Err(error) => Err(error.to_string()),
        };
        let damaged = damaged.unwrap_err();
        assert!(damaged.contains("is damaged"), "{len}: {damaged}");
        assert!(damaged.contains("acme.redb"), "{damaged}");
    }
    fs::write(&path, "something else".repeat(1000)).unwrap();
    let error = RedbStore::open(&path).unwrap_err();
    assert!(matches!(error, StorageError::Damaged { .. }), "{error}");

    // Nothing at all: no empty store is made in a folder that isn't there.
    let error = RedbStore::open(&path.join("none")).unwrap_err();
    assert!(matches!(error, StorageError::NotOpened { .. }), "{error}");

    // Each page of the file, with other bytes.
    for page in (0..whole.len()).step_by(4096) {
        let mut changed = whole.clone();
        for byte in &mut changed[page..page + 64] {
            *byte ^= 0x55;
        }
        fs::write(&path, &changed).unwrap();
        if let Ok(store) = RedbStore::open(&path) {
            // An answer or an error, and no other record.
            let _ = ask(&store, &id);
        }
    }
}
