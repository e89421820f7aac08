//! What each storage has to hold.

use alloc::sync::Arc;
use core::sync::atomic::{AtomicU32, Ordering};
use core::time::Duration;
use std::thread;

use pq_keystore::storage::{
    Append, Change, CommitError, Expected, LogEntry, LogHead, MAX_CHANGE_ENTRIES, MAX_CHANGE_ROWS,
    MAX_ENTRY_LEN, MAX_PAGE_LEN, MAX_PAGE_ROWS, MAX_VALUE_LEN, RowChange, RowKey, RowPrefix,
    Storage, StorageError, Write,
};
use pq_keystore::{KeyName, Version};

use crate::places::Place;

fn name(name: &str) -> KeyName {
    KeyName::new("t", "p", name).unwrap()
}

fn key(text: &str) -> RowKey {
    RowKey::key(&name(text))
}

fn row(key: &RowKey, expected: Expected, write: Write) -> RowChange {
    RowChange {
        key: key.clone(),
        expected,
        write,
    }
}

fn put(key: &RowKey, expected: Expected, value: &[u8]) -> RowChange {
    row(key, expected, Write::Put(value.to_vec()))
}

fn rows(rows: Vec<RowChange>) -> Change {
    Change { rows, append: None }
}

fn entries(after: LogHead, values: &[&[u8]]) -> Append {
    let entry = |(sequence, value): (u64, &&[u8])| LogEntry {
        sequence,
        hash: [sequence as u8; 32],
        value: value.to_vec(),
    };
    Append {
        after,
        entries: (after.sequence + 1..).zip(values).map(entry).collect(),
    }
}

fn log(append: &Append) -> Change {
    Change {
        rows: Vec::new(),
        append: Some(append.clone()),
    }
}

/// The revision and value of a row.
fn read(storage: &dyn Storage, key: &RowKey) -> Option<(u64, Vec<u8>)> {
    let snapshot = storage.get(core::slice::from_ref(key)).unwrap();
    let [row] = <[_; 1]>::try_from(snapshot.rows).unwrap();
    row.map(|row| (row.revision, row.value))
}

pub(crate) fn it_begins_empty(place: &impl Place) {
    let storage = place.open();
    let snapshot = storage.get(&[RowKey::store(), key("a")]).unwrap();
    assert_eq!(snapshot.rows, [None, None]);
    assert_eq!((snapshot.head, snapshot.revision), (LogHead::EMPTY, 0));
    assert_eq!(storage.get(&[]).unwrap().revision, 0);
    assert_eq!(storage.entries(0, 10).unwrap(), []);
    let page = storage.list(&RowPrefix::keys(), None, 10).unwrap();
    assert_eq!((page.rows, page.more), (vec![], false));
    assert!(!storage.description().is_empty());
}

pub(crate) fn rows_are_read_as_written(place: &impl Place) {
    let storage = place.open();
    let all: Vec<u8> = (0..=255).collect();
    let longest = vec![7; MAX_VALUE_LEN];
    let values = [("a", &b""[..]), ("b", b"\0"), ("c", &all), ("d", &longest)];
    let change = values.map(|(name, value)| put(&key(name), Expected::Absent, value));
    assert_eq!(storage.commit(&rows(change.into())).unwrap().revision, 1);
    drop(storage);
    let storage = place.open();
    for (name, value) in values {
        assert_eq!(read(&*storage, &key(name)), Some((1, value.to_vec())));
    }
    // in the order in which they are asked for, also twice
    let asked = [key("c"), key("x"), key("a"), key("c")];
    let found = storage.get(&asked).unwrap().rows;
    let found: Vec<_> = found
        .into_iter()
        .map(|row| row.map(|row| row.value))
        .collect();
    assert_eq!(found, [Some(all.clone()), None, Some(vec![]), Some(all)]);
}

pub(crate) fn a_change_is_made_or_nothing(place: &impl Place) {
    let storage = place.open();
    let (a, b) = (key("a"), key("b"));
    let first = storage
        .commit(&rows(vec![put(&a, Expected::Absent, b"1")]))
        .unwrap();
    let current = Expected::Revision(first.revision);
    let begun = entries(LogHead::EMPTY, &[b"entry"]);
    // Each of these contradicts one thing, and is right in all others.
    for (expected_a, expected_b, after) in [
        (Expected::Absent, Expected::Absent, LogHead::EMPTY),
        (
            Expected::Revision(first.revision + 1),
            Expected::Absent,
            LogHead::EMPTY,
        ),
        (current, Expected::Revision(first.revision), LogHead::EMPTY),
        (
            current,
            Expected::Absent,
            LogHead {
                sequence: 1,
                hash: [0; 32],
            },
        ),
        (
            current,
            Expected::Absent,
            LogHead {
                sequence: 0,
                hash: [1; 32],
            },
        ),
    ] {
        let refused = storage.commit(&Change {
            rows: vec![put(&b, expected_b, b"2"), put(&a, expected_a, b"2")],
            append: Some(entries(after, &[b"entry"])),
        });
        assert_eq!(refused, Err(CommitError::Conflict));
        assert_eq!(read(&*storage, &a), Some((1, b"1".to_vec())));
        let snapshot = storage.get(core::slice::from_ref(&b)).unwrap();
        assert_eq!(snapshot.rows, [None]);
        assert_eq!((snapshot.head, snapshot.revision), (LogHead::EMPTY, 1));
    }
    let made = storage.commit(&Change {
        rows: vec![
            put(&b, Expected::Absent, b"2"),
            row(&a, current, Write::Delete),
        ],
        append: Some(begun.clone()),
    });
    assert_eq!(made.unwrap().revision, 2);
    drop(storage);
    let storage = place.open();
    assert_eq!(read(&*storage, &a), None);
    assert_eq!(read(&*storage, &b), Some((2, b"2".to_vec())));
    assert_eq!(storage.get(&[]).unwrap().head, begun.head());
}

pub(crate) fn a_row_made_again_is_another(place: &impl Place) {
    let storage = place.open();
    let a = key("a");
    let made = |expected| storage.commit(&rows(vec![put(&a, expected, b"same")]));
    let first = Expected::Revision(made(Expected::Absent).unwrap().revision);
    storage
        .commit(&rows(vec![row(&a, first, Write::Delete)]))
        .unwrap();
    let second = Expected::Revision(made(Expected::Absent).unwrap().revision);
    assert_eq!(made(first), Err(CommitError::Conflict));
    made(second).unwrap();
}

pub(crate) fn a_row_relied_on_stays(place: &impl Place) {
    let storage = place.open();
    let (a, b) = (key("a"), key("b"));
    let first = storage
        .commit(&rows(vec![put(&a, Expected::Absent, b"1")]))
        .unwrap();
    let relying = |expected, on_b| {
        storage.commit(&rows(vec![
            row(&a, expected, Write::Keep),
            put(&b, on_b, b"2"),
        ]))
    };
    let current = Expected::Revision(first.revision);
    let second = relying(current, Expected::Absent).unwrap();
    assert_eq!(read(&*storage, &a), Some((first.revision, b"1".to_vec())));
    storage.commit(&rows(vec![put(&a, current, b"3")])).unwrap();
    let on_b = Expected::Revision(second.revision);
    assert_eq!(relying(current, on_b), Err(CommitError::Conflict));
    // What has to be absent can be relied on too.
    let absent = row(&key("c"), Expected::Absent, Write::Keep);
    storage.commit(&rows(vec![absent.clone()])).unwrap();
    storage
        .commit(&rows(vec![put(&key("c"), Expected::Absent, b"")]))
        .unwrap();
    assert_eq!(
        storage.commit(&rows(vec![absent])),
        Err(CommitError::Conflict)
    );
}

pub(crate) fn the_log_continues_where_it_ends(place: &impl Place) {
    let storage = place.open();
    let first = entries(LogHead::EMPTY, &[b"a", b"", b"c"]);
    storage.commit(&log(&first)).unwrap();
    assert_eq!(storage.commit(&log(&first)), Err(CommitError::Conflict));
    let second = entries(first.head(), &[b"d"]);
    storage.commit(&log(&second)).unwrap();
    // A change of rows alone doesn't care where the log ends.
    storage
        .commit(&rows(vec![put(&key("a"), Expected::Absent, b"")]))
        .unwrap();
    drop(storage);
    let storage = place.open();
    assert_eq!(storage.get(&[]).unwrap().head, second.head());
    let all = [first.entries, second.entries].concat();
    assert_eq!(storage.entries(1, 10).unwrap(), all);
}

pub(crate) fn pages_follow_each_other(place: &impl Place) {
    let storage = place.open();
    let names: Vec<String> = (0..25).map(|number| format!("n{number:02}")).collect();
    let change = names
        .iter()
        .map(|name| put(&key(name), Expected::Absent, name.as_bytes()));
    storage.commit(&rows(change.collect())).unwrap();
    // what doesn't belong: other kinds, other tenants
    let other = RowKey::key(&KeyName::new("t-2", "p", "n").unwrap());
    let version = RowKey::version(&name("n").at(Version::FIRST));
    let change = [other, version, RowKey::store()].map(|key| put(&key, Expected::Absent, b"x"));
    storage.commit(&rows(change.into())).unwrap();
    for limit in [1, 7, 25, 26] {
        let mut found = Vec::new();
        let mut after = None;
        loop {
            let page = storage
                .list(&RowPrefix::keys_of_tenant("t"), after.as_ref(), limit)
                .unwrap();
            assert!(page.rows.len() <= limit);
            let values = page.rows.iter().map(|(_, row)| row.value.clone());
            found.extend(values.map(|value| String::from_utf8(value).unwrap()));
            after = page.rows.last().map(|(key, _)| key.clone());
            if !page.more {
                break;
            }
            assert_eq!(page.rows.len(), limit);
        }
        assert_eq!(found, names);
    }
    assert_eq!(
        storage
            .list(&RowPrefix::keys(), None, 100)
            .unwrap()
            .rows
            .len(),
        26
    );
    let none = storage.list(&RowPrefix::keys(), None, 0).unwrap();
    assert_eq!((none.rows.len(), none.more), (0, true));
    // From outside the prefix, it begins at its first row or ends.
    let prefix = RowPrefix::keys_of_tenant("t");
    let before = storage
        .list(&prefix, Some(&"key/a".parse().unwrap()), 1)
        .unwrap();
    assert_eq!(before.rows[0].0, key("n00"));
    let behind = storage
        .list(&prefix, Some(&"key/u".parse().unwrap()), 1)
        .unwrap();
    assert_eq!((behind.rows.len(), behind.more), (0, false));
}

pub(crate) fn versions_are_listed_in_order(place: &impl Place) {
    let storage = place.open();
    let numbers = [1, 2, 9, 10, 11, 99, 100, u32::MAX];
    let version = |name: &str, number| {
        let name = KeyName::new("t", "p", name).unwrap();
        RowKey::version(&name.at(Version::new(number).unwrap()))
    };
    // The names of these keys are next to each other, as bytes.
    for name in ["a", "a-", "a.", "a1", "a_", "aa"] {
        let change = numbers.map(|number| put(&version(name, number), Expected::Absent, b""));
        storage.commit(&rows(change.into())).unwrap();
    }
    let page = storage
        .list(&RowPrefix::versions(&name("a")), None, 100)
        .unwrap();
    let found: Vec<_> = page.rows.into_iter().map(|(key, _)| key).collect();
    assert_eq!(found, numbers.map(|number| version("a", number)));
}

pub(crate) fn pages_of_the_log(place: &impl Place) {
    let storage = place.open();
    let mut head = LogHead::EMPTY;
    let longest = vec![1; MAX_ENTRY_LEN];
    let values = vec![&longest[..]; MAX_CHANGE_ENTRIES];
    for _ in 0..4 {
        let append = entries(head, &values);
        storage.commit(&log(&append)).unwrap();
        head = append.head();
    }
    let sequences = |from, limit| -> Vec<u64> {
        let page = storage.entries(from, limit).unwrap();
        page.iter().map(|entry| entry.sequence).collect()
    };
    assert_eq!(sequences(0, 2), [1, 2]);
    assert_eq!(sequences(5, 3), [5, 6, 7]);
    assert_eq!(sequences(head.sequence, 3), [head.sequence]);
    assert!(sequences(head.sequence + 1, 3).is_empty());
    assert!(sequences(u64::MAX, 3).is_empty());
    assert!(sequences(1, 0).is_empty());
    // as many as the bytes of a page allow
    assert_eq!(sequences(1, usize::MAX).len(), MAX_PAGE_LEN / MAX_ENTRY_LEN);
}

pub(crate) fn limits_are_held(place: &impl Place) {
    let storage = place.open();
    let number = |number: usize| key(&format!("n{number:04}"));
    let refused = |change: &Change| storage.commit(change).unwrap_err();
    let is_limit = |error| matches!(error, CommitError::Storage(StorageError::Limit(_)));
    let many = |count: usize, value: &[u8]| {
        let rows = (0..count).map(|n| put(&number(n), Expected::Absent, value));
        self::rows(rows.collect())
    };
    assert!(is_limit(refused(&many(MAX_CHANGE_ROWS + 1, b""))));
    assert!(is_limit(refused(&many(1, &vec![0; MAX_VALUE_LEN + 1]))));
    let entries_of = |values: &[&[u8]]| log(&entries(LogHead::EMPTY, values));
    assert!(is_limit(refused(&entries_of(&vec![
        &b""[..];
        MAX_CHANGE_ENTRIES + 1
    ]))));
    assert!(is_limit(refused(&entries_of(&[&vec![
        0;
        MAX_ENTRY_LEN + 1
    ]]))));
    let keys: Vec<_> = (0..=MAX_CHANGE_ROWS).map(number).collect();
    assert!(matches!(storage.get(&keys), Err(StorageError::Limit(_))));

    let is_malformed = |error| matches!(error, CommitError::Storage(StorageError::Malformed(_)));
    let twice = vec![
        put(&key("a"), Expected::Absent, b""),
        row(&key("b"), Expected::Absent, Write::Keep),
        row(&key("a"), Expected::Absent, Write::Keep),
    ];
    assert!(is_malformed(refused(&rows(twice))));
    let mut gap = entries(LogHead::EMPTY, &[b"", b""]);
    gap.entries[1].sequence = 3;
    assert!(is_malformed(refused(&log(&gap))));
    let last = LogHead {
        sequence: u64::MAX,
        hash: [0; 32],
    };
    let mut beyond = entries(LogHead::EMPTY, &[b""]);
    beyond.after = last;
    assert!(is_malformed(refused(&log(&beyond))));
    assert_eq!(storage.get(&[]).unwrap().revision, 0);

    // and the most is taken
    storage
        .commit(&many(MAX_CHANGE_ROWS, &vec![0; 5000]))
        .unwrap();
    assert_eq!(storage.get(&keys[1..]).unwrap().rows.len(), MAX_CHANGE_ROWS);
    let page = storage.list(&RowPrefix::keys(), None, usize::MAX).unwrap();
    assert_eq!(
        (page.rows.len(), page.more),
        (MAX_PAGE_LEN.div_ceil(5000), true)
    );
    assert!(page.rows.len() <= MAX_PAGE_ROWS);
    // a page by the number of rows
    for batch in 0..4 {
        let names = (0..MAX_CHANGE_ROWS).map(|n| key(&format!("s{batch}{n:04}")));
        let change = names.map(|key| put(&key, Expected::Absent, b""));
        storage.commit(&rows(change.collect())).unwrap();
    }
    let from = key("s");
    let page = storage
        .list(&RowPrefix::keys(), Some(&from), usize::MAX)
        .unwrap();
    assert_eq!((page.rows.len(), page.more), (MAX_PAGE_ROWS, true));
}

/// Several threads count in one row and append to the log, each of them trying again when another was faster.
pub(crate) fn one_of_many_wins(place: &impl Place) {
    const THREADS: u64 = 4;
    const EACH: u64 = 12;
    let storage = place.open();
    let conflicts = AtomicU32::new(0);
    let count = || {
        let counter = key("counter");
        let mut done = 0;
        while done < EACH {
            let snapshot = storage.get(core::slice::from_ref(&counter)).unwrap();
            let found = snapshot.rows[0].as_ref();
            let number = found.map_or(0, |row| {
                u64::from_be_bytes(row.value[..].try_into().unwrap())
            });
            assert_eq!(number, snapshot.head.sequence);
            let value = (number + 1).to_be_bytes();
            let made = storage.commit(&Change {
                rows: vec![put(&counter, Expected::unchanged(found), &value)],
                append: Some(entries(snapshot.head, &[&value])),
            });
            match made {
                Ok(_) => done += 1,
                Err(CommitError::Conflict) => {
                    conflicts.fetch_add(1, Ordering::Relaxed);
                }
                Err(error) => panic!("{error}"),
            }
        }
    };
    thread::scope(|scope| {
        for _ in 0..THREADS {
            scope.spawn(count);
        }
    });
    let snapshot = storage.get(&[key("counter")]).unwrap();
    let row = snapshot.rows[0].as_ref().unwrap();
    assert_eq!(row.value, (THREADS * EACH).to_be_bytes());
    assert_eq!(snapshot.head.sequence, THREADS * EACH);
    assert_eq!(snapshot.revision, THREADS * EACH);
}

pub(crate) fn a_waiting_thread_is_told(place: &impl Place) {
    let storage = place.open();
    let since = storage.get(&[]).unwrap().revision;
    let waiting: Arc<dyn Storage> = storage.clone();
    let waiter = thread::spawn(move || waiting.wait_for_change(since, Duration::from_secs(60)));
    storage
        .commit(&rows(vec![put(&key("a"), Expected::Absent, b"")]))
        .unwrap();
    assert_eq!(waiter.join().unwrap().unwrap(), since + 1);
    // what has happened is told at once
    assert_eq!(
        storage
            .wait_for_change(since, Duration::from_secs(60))
            .unwrap(),
        since + 1
    );
}

pub(crate) fn waiting_ends(place: &impl Place) {
    let storage = place.open();
    assert_eq!(storage.wait_for_change(0, Duration::ZERO).unwrap(), 0);
    assert_eq!(
        storage
            .wait_for_change(0, Duration::from_millis(10))
            .unwrap(),
        0
    );
}
