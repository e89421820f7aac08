//! The rows and the log of a store of keys, changed by somebody who can write to its storage, also by one who knows the
//! store's key: what was changed is refused, and the rest of the store works.
#![no_main]

use std::collections::BTreeSet;

use arbitrary::Arbitrary;
use fuzz::Bytes;
use fuzz::stores::{HOUSE, MESSAGE, somebody};
use libfuzzer_sys::fuzz_target;
use pq_keystore::policy::Input as ToSign;
use pq_keystore::storage::{LogEntry, RowKey};
use pq_keystore::{KeyName, Store, StoreError, Version};

fuzz_target!(|input: Input<'_>| {
    let (mut rows, mut log) = (HOUSE.rows.clone(), HOUSE.log.clone());
    // The rows that stand in one row of the index, and those that are changed.
    let mut is_forged = false;
    match input {
        Input::Row(which, bytes) => {
            let row = usize::from(which) % rows.len();
            rows[row].1 = bytes.of(&rows[row].1);
        }
        Input::Forged(which, bytes) => {
            let row = usize::from(which) % rows.len();
            let (key, value) = &rows[row];
            if key.as_str() == "kek" {
                return;
            }
            rows[row].1 = HOUSE.forged(key, value, |record| bytes.of(record));
            is_forged = true;
        }
        Input::Swapped(one, other) => {
            let [one, other] = [one, other].map(|which| usize::from(which) % rows.len());
            let value = rows[one].1.clone();
            rows[one].1 = core::mem::replace(&mut rows[other].1, value);
        }
        Input::Removed(which) => drop(rows.remove(usize::from(which) % rows.len())),
        Input::Added(key, bytes) => {
            let Ok(key) = key.parse::<RowKey>() else {
                return;
            };
            if rows.iter().any(|(other, _)| *other == key) {
                return;
            }
            let value = bytes.of(&rows[0].1);
            rows.push((key, value));
        }
        Input::Entry(which, bytes) => {
            let entry = usize::from(which) % log.len();
            log[entry].value = bytes.of(&log[entry].value);
        }
        Input::Hash(which, bit) => {
            let entry = usize::from(which) % log.len();
            log[entry].hash[usize::from(bit / 8)] ^= 1 << (bit % 8);
        }
        Input::Cut(len) => log.truncate(usize::from(len) % log.len()),
    }
    check(&rows, &log, is_forged);
});

#[derive(Arbitrary, Debug)]
enum Input<'a> {
    Row(u8, Bytes<'a>),
    /// With a right MAC.
    Forged(u8, Bytes<'a>),
    Swapped(u8, u8),
    Removed(u8),
    Added(&'a str, Bytes<'a>),
    Entry(u8, Bytes<'a>),
    Hash(u8, u8),
    Cut(u8),
}

fn check(rows: &[(RowKey, Vec<u8>)], log: &[LogEntry], is_forged: bool) {
    let is_as_before = |key: &RowKey| {
        let value = |rows: &[(RowKey, Vec<u8>)]| {
            let found = rows.iter().find(|(other, _)| other == key);
            found.map(|(_, value)| value.clone())
        };
        value(rows) == value(&HOUSE.rows)
    };
    let changed: BTreeSet<&str> = HOUSE
        .rows
        .iter()
        .filter(|(key, _)| !is_as_before(key))
        .map(|(key, _)| key.as_str())
        .collect();
    let store = match HOUSE.open(HOUSE.storage(rows, log)) {
        Ok(store) => store,
        // Only what is wrong with rows of the store itself, or with the end of the log, keeps it from being opened.
        Err(error) => {
            if log != HOUSE.log {
                return;
            }
            assert!(!changed.is_empty() && error.code() != "no-store" || changed.contains("kek"));
            // A row of a key may have been exchanged with one of those.
            assert!(changed.iter().any(|key| !key.contains("/t/p/")), "{error}");
            return;
        }
    };
    let who = somebody();
    let mut spoilt = 0;
    for (name, signature) in HOUSE.keys.iter().zip(&HOUSE.signatures) {
        let is_own = changed.iter().any(|key| key.contains(&name.to_string()));
        let result = use_all(&store, name, signature);
        // Whose rows are as they were works, unless they stand in the row of the index that was changed.
        let works = result.is_ok();
        assert!(
            works || is_own || changed.iter().any(|key| key.starts_with("index/")),
            "{result:?}"
        );
        spoilt += u32::from(!works);
        if !is_own {
            continue;
        }
        if !is_forged {
            let error = result.expect_err("a row of it was changed");
            assert!(
                ["damaged", "put-back", "missing"].contains(&error.code()),
                "{error}"
            );
        }
    }
    assert!(spoilt <= 2, "{changed:?}");
    let is_same_log = log == HOUSE.log;
    match store.check(&who, &[]) {
        Ok(report) => {
            assert!(is_same_log || log.is_empty() || HOUSE.log.starts_with(log));
            // Also what has a right MAC is not what the log says. In rows of versions, who made it and when is protected by
            // the MAC alone.
            let is_logged = |key: &&str| key.starts_with("key/") || *key == "store";
            if is_same_log && changed.iter().any(is_logged) {
                assert!(!report.damaged.is_empty(), "{changed:?}");
            }
        }
        Err(error) => assert!(!is_same_log || !changed.is_empty(), "{error}"),
    }
    // A store that is dropped waits for its thread.
    std::thread::spawn(move || drop(store));
}

/// Uses a key in all ways, and changes it at the end.
fn use_all(store: &Store, name: &KeyName, signature: &[u8]) -> Result<(), StoreError> {
    let (who, input) = (somebody(), ToSign::message(MESSAGE));
    let signed = store.sign(&who, name, input)?;
    let newest = Some(signed.id.version());
    store.verify(&who, name, newest, input, &signed.signature)?;
    store.verify(&who, name, Some(Version::FIRST), input, signature)?;
    store.show(&who, name)?;
    let id = store.rotate(&who, name)?;
    store.disable(&who, &id)?;
    Ok(())
}
