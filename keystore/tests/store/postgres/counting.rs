//! Rows that are counted up, with an entry in the log each time: what is lost or made twice is seen.

use alloc::collections::BTreeMap;

use pq_keystore::KeyName;
use pq_keystore::storage::{
    Append, Change, CommitError, Committed, Expected, LogEntry, LogHead, RowChange, RowKey,
    RowPrefix, Storage, Write,
};

/// A row that one thread counts up, or several do.
pub(super) struct Counter {
    name: String,
    key: RowKey,
    /// How often this one was told that it has counted.
    pub(super) acknowledged: u64,
}

impl Counter {
    pub(super) fn new(name: &str) -> Self {
        Self {
            name: name.into(),
            key: RowKey::key(&KeyName::new("t", "p", name).unwrap()),
            acknowledged: 0,
        }
    }

    /// The number in the row.
    pub(super) fn read(&self, storage: &impl Storage) -> Result<u64, CommitError> {
        let snapshot = storage.get(core::slice::from_ref(&self.key))?;
        Ok(number(snapshot.rows[0].as_ref().map(|row| &row.value[..])))
    }

    /// Counts up by one, once.
    pub(super) fn count(&mut self, storage: &impl Storage) -> Result<Committed, CommitError> {
        let snapshot = storage.get(core::slice::from_ref(&self.key))?;
        let found = snapshot.rows[0].as_ref();
        let next = number(found.map(|row| &row.value[..])) + 1;
        let head = snapshot.head;
        let entry = LogEntry {
            sequence: head.sequence + 1,
            hash: follow(&head),
            value: format!("{}={next}", self.name).into(),
        };
        let made = storage.commit(&Change {
            rows: vec![RowChange {
                key: self.key.clone(),
                expected: Expected::unchanged(found),
                write: Write::Put(next.to_be_bytes().into()),
            }],
            append: Some(Append {
                after: head,
                entries: vec![entry],
            }),
        })?;
        self.acknowledged += 1;
        Ok(made)
    }
}

fn number(value: Option<&[u8]>) -> u64 {
    value.map_or(0, |value| u64::from_be_bytes(value.try_into().unwrap()))
}

/// Something that depends on all entries before.
fn follow(head: &LogHead) -> [u8; 32] {
    let mut hash = head.hash;
    hash.rotate_left(1);
    hash[0] = hash[0].wrapping_mul(5).wrapping_add(head.sequence as u8);
    hash[1] = hash[1].wrapping_add(head.sequence as u8);
    hash
}

/// Checks that the log has no gap, that each row was counted up one by one, and that nothing else was committed. Returns
/// how often.
pub(super) fn check(storage: &impl Storage) -> u64 {
    let mut counted: BTreeMap<String, u64> = BTreeMap::new();
    let mut head = LogHead::EMPTY;
    loop {
        let page = storage.entries(head.sequence + 1, 100).unwrap();
        if page.is_empty() {
            break;
        }
        for entry in page {
            assert_eq!(entry.sequence, head.sequence + 1);
            assert_eq!(entry.hash, follow(&head));
            let text = String::from_utf8(entry.value).unwrap();
            let (name, number) = text.split_once('=').unwrap();
            let before = counted.entry(name.into()).or_default();
            *before += 1;
            assert_eq!(number.parse(), Ok(*before));
            head = LogHead {
                sequence: entry.sequence,
                hash: entry.hash,
            };
        }
    }
    let snapshot = storage.get(&[]).unwrap();
    assert_eq!((snapshot.head, snapshot.revision), (head, head.sequence));
    let page = storage.list(&RowPrefix::keys(), None, 1_000).unwrap();
    let rows = page.rows.iter().map(|(key, row)| {
        let name = key.as_str().rsplit('/').next().unwrap();
        (name.to_owned(), number(Some(&row.value)))
    });
    assert_eq!(rows.collect::<BTreeMap<_, _>>(), counted);
    head.sequence
}
