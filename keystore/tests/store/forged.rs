//! Rows with a right MAC that the store never wrote: what somebody can do who knows the store's key, or what a mistake of
//! the store would do. Each value is an encoding of something else.

use alloc::sync::Arc;

use pq_keystore::audit::{BrokenChain, Chain};
use pq_keystore::policy::Input;
use pq_keystore::storage::{
    Append, Change, Expected, LogEntry, LogHead, MemoryStorage, RowChange, RowKey, RowPrefix,
    Storage, Write,
};
use pq_keystore::{KeyName, Store, StoreError};
use sha2::{Digest, Sha256};

use crate::forging::{Forger, OpenKek, TAG_LEN};
use crate::kit::{Fixture, admin, code, user, version};
use crate::places::{Memory, Place};

/// A store whose key is known.
struct Forged {
    fixture: Fixture,
    kek: OpenKek,
    forger: Forger,
}

impl Forged {
    fn new() -> Self {
        let kek = OpenKek::default();
        let fixture = Fixture::under(&kek, &Memory::new());
        let forger = Forger::new(&fixture.store, &kek);
        Self {
            fixture,
            kek,
            forger,
        }
    }

    /// What a row says.
    fn record(&self, row: &RowKey) -> Vec<u8> {
        let mut value = self.fixture.row(row).value;
        value.truncate(value.len() - TAG_LEN);
        value
    }

    /// Writes a row as the store would.
    fn write(&self, row: &RowKey, record: &[u8]) {
        let value = self.forger.value(row, record);
        self.fixture.write(row, Write::Put(value));
    }

    /// The store anew.
    fn open(&self) -> Result<Store, StoreError> {
        let storage = self.fixture.storage.clone();
        Store::open(storage, &self.kek, self.fixture.clock.options())
    }

    fn sign(&self, key: &KeyName) -> Result<(), StoreError> {
        let store = self.open()?;
        store
            .sign(&user(), key, Input::message(b"message"))
            .map(drop)
    }
}

#[test]
fn rows_are_forged_as_the_store_writes_them() {
    let forged = Forged::new();
    let key = forged.fixture.key("k", "Ed25519");
    for row in [
        RowKey::key(&key),
        RowKey::version(&key.at(version(1))),
        RowKey::store(),
        RowKey::index(0),
    ] {
        let value = forged.fixture.row(&row).value;
        assert_eq!(forged.forger.value(&row, &forged.record(&row)), value);
    }
}

/// A private key is bound to its name, version, algorithm, public key, and whether it may be exported, beside the row's MAC.
#[test]
fn private_keys_are_bound() {
    let forged = Forged::new();
    let fixture = &forged.fixture;
    let exportable = |policy: &mut pq_keystore::policy::Policy| policy.exportable = true;
    let [a, b] = ["a", "b"].map(|text| fixture.key_with(text, "Ed25519", exportable));
    let kept = fixture.key("kept", "Ed25519");
    fixture.store.rotate(&admin(), &a).unwrap();
    let pkcs8 = fixture
        .store
        .export(&admin_of_export(fixture), &a.at(version(1)))
        .unwrap();
    // nonce, tag, and the length before them
    let sealed_len = pkcs8.len() + 24 + 16 + 4;
    let [a1, a2, b1, kept1] = [
        a.at(version(1)),
        a.at(version(2)),
        b.at(version(1)),
        kept.at(version(1)),
    ]
    .map(|id| RowKey::version(&id));
    let original = [&a1, &a2, &b1, &kept1].map(|row| forged.record(row));
    let is_refused = |key: &KeyName, row: &RowKey| {
        let refused = forged.sign(key).unwrap_err();
        assert!(
            ["damaged", "put-back"].contains(&refused.code()),
            "{refused}"
        );
        assert!(refused.to_string().contains(row.as_str()), "{refused}");
        assert_eq!(code(forged.sign(&kept)), "done");
        let store = forged.open().unwrap();
        assert_eq!(store.check(&admin(), &[]).unwrap().damaged.len(), 1);
    };
    // The whole record of another version or key, and its private key alone.
    for other in [&original[0], &original[2]] {
        forged.write(&a2, other);
        is_refused(&a, &a2);
        let own = &original[1];
        let (head, _) = own.split_at(own.len() - sealed_len);
        let (_, tail) = other.split_at(other.len() - sealed_len);
        forged.write(&a2, &[head, tail].concat());
        is_refused(&a, &a2);
        // and its public key
        let (own_tail, head) = (
            &own[own.len() - sealed_len..],
            &other[..other.len() - sealed_len],
        );
        forged.write(&a2, &[head, own_tail].concat());
        is_refused(&a, &a2);
    }
    forged.write(&a2, &original[1]);
    // A key that may not be exported: its version says that it may, and its row, too.
    let exportable_at = original[3].len() - sealed_len - 2;
    assert_eq!(original[3][exportable_at..][..2], [0, 1]);
    let mut changed = original[3].clone();
    changed[exportable_at] = 1;
    forged.write(&kept1, &changed);
    let store = forged.open().unwrap();
    assert_eq!(code(store.show(&user(), &kept)), "put-back");
    let row = RowKey::key(&kept);
    let record = forged.record(&row);
    let mut found = false;
    for at in 0..record.len() {
        let mut changed = record.clone();
        changed[at] ^= 1;
        forged.write(&row, &changed);
        let store = forged.open().unwrap();
        if let Ok(details) = store.show(&user(), &kept) {
            found = true;
            assert!(details.policy.exportable);
            let exported = store.export(&admin_of_export(fixture), &kept.at(version(1)));
            assert_eq!(code(exported), "damaged");
        }
    }
    assert!(found, "no byte says that a key may be exported");
}

/// Lets the administrator export, and returns it.
fn admin_of_export(fixture: &Fixture) -> pq_keystore::policy::Principal {
    use pq_keystore::policy::Verb;

    let grants = fixture.store.store_grants(&admin()).unwrap();
    let grants = grants.grant(&pq_keystore::Scope::all(), &admin(), Verb::Export);
    fixture.store.set_store_grants(&admin(), &grants).unwrap();
    admin()
}

/// Whatever byte of a record is another, with a right MAC: the key is refused, or the check says which row is not what the
/// log has; and the rest works.
#[test]
fn other_records_are_noticed() {
    let forged = Forged::new();
    let fixture = &forged.fixture;
    let key = fixture.key("k", "Ed25519");
    let good = fixture.key("good", "Ed25519");
    fixture.store.rotate(&admin(), &key).unwrap();
    fixture
        .store
        .disable(&admin(), &key.at(version(1)))
        .unwrap();
    let row = RowKey::key(&key);
    let record = forged.record(&row);
    let mut accepted = 0;
    for at in 0..record.len() {
        for change in [1, 0x80] {
            let mut changed = record.clone();
            changed[at] ^= change;
            forged.write(&row, &changed);
            let store = forged.open().unwrap();
            if let Err(error) = store.show(&admin(), &key) {
                assert!(
                    ["damaged", "put-back", "missing"].contains(&error.code()),
                    "{error}"
                );
            } else {
                accepted += 1;
            }
            let report = store.check(&admin(), &[]).unwrap();
            assert_eq!(report.damaged.len(), 1, "{at}");
            assert!(
                report.damaged[0].to_string().contains("/t/p/k"),
                "{at}: {:?}",
                report.damaged
            );
            store
                .sign(&user(), &good, Input::message(b"message"))
                .unwrap();
        }
    }
    assert!(accepted > 20, "{accepted}");
    // Shorter and longer ones.
    for changed in [
        &record[..record.len() - 1],
        &[&record[..], b"\0"].concat(),
        b"",
        b"\x01",
    ] {
        forged.write(&row, changed);
        let store = forged.open().unwrap();
        assert_eq!(code(store.show(&admin(), &key)), "damaged");
        drop(store);
        // Whether the user may do something with it can't be read.
        assert_eq!(code(forged.sign(&key)), "denied");
        assert_eq!(code(forged.sign(&good)), "done");
    }
    forged.write(&row, &record);
    assert_eq!(code(forged.sign(&key)), "done");
    // The store itself: its grants, its key, its number.
    let record = forged.record(&RowKey::store());
    let mut opened = 0;
    for at in (0..record.len()).filter(|at| *at < 200 || at % 50 == 0) {
        let mut changed = record.clone();
        changed[at] ^= 1;
        forged.write(&RowKey::store(), &changed);
        match forged.open() {
            Err(error) => assert!(
                ["damaged", "put-back", "missing"].contains(&error.code()),
                "{error}"
            ),
            Ok(store) => {
                opened += 1;
                match store.check(&admin(), &[]) {
                    Ok(report) => assert_eq!(report.damaged.len(), 1, "{at}"),
                    // The administrator has another name now.
                    Err(error) => assert_eq!(error.code(), "denied"),
                }
            }
        }
    }
    assert!(opened > 5, "{opened}");
    forged.write(&RowKey::store(), &record);
    assert!(
        forged
            .open()
            .unwrap()
            .check(&admin(), &[])
            .unwrap()
            .damaged
            .is_empty()
    );
}

/// Each bit of each entry of the log, and of its hash; an entry that is missing, one that stands twice, and two that are
/// swapped.
#[test]
fn other_logs_are_noticed() {
    let forged = Forged::new();
    let fixture = &forged.fixture;
    let key = fixture.key("k", "Ed25519");
    fixture
        .store
        .disable(&admin(), &key.at(version(1)))
        .unwrap();
    let refused = fixture.store.rotate(&user(), &key);
    assert_eq!(code(refused), "denied");
    fixture.store.signed_head(&admin()).unwrap();
    let log = fixture.storage.entries(1, 1000).unwrap();
    assert_eq!(log.len(), 4);
    let follow = |log: &[LogEntry]| {
        let mut chain = Chain::new(fixture.store.id());
        log.iter()
            .try_for_each(|entry| chain.follow(entry).map(drop))
    };
    follow(&log).unwrap();
    for number in 0..log.len() {
        for bit in 0..8 * log[number].value.len() {
            let mut changed = log.clone();
            changed[number].value[bit / 8] ^= 1 << (bit % 8);
            follow(&changed).unwrap_err();
        }
        for bit in 0..256 {
            let mut changed = log.clone();
            changed[number].hash[bit / 8] ^= 1 << (bit % 8);
            follow(&changed).unwrap_err();
        }
    }
    let rows = fixture
        .storage
        .list(&RowPrefix::all(), None, 1000)
        .unwrap()
        .rows;
    let check = |log: Vec<LogEntry>| {
        let storage = Arc::new(MemoryStorage::new());
        let put = |(key, row): &(RowKey, pq_keystore::storage::Row)| RowChange {
            key: key.clone(),
            expected: Expected::Absent,
            write: Write::Put(row.value.clone()),
        };
        let change = Change {
            rows: rows.iter().map(put).collect(),
            append: Some(Append {
                after: LogHead::EMPTY,
                entries: log,
            }),
        };
        storage.commit(&change).unwrap();
        let store = match Store::open(storage, &forged.kek, fixture.clock.options()) {
            Ok(store) => store,
            Err(error) => return error.code(),
        };
        // What it is about goes on.
        assert_eq!(store.show(&user(), &key).unwrap().versions.len(), 1);
        code(store.check(&admin(), &[]))
    };
    assert_eq!(check(log.clone()), "done");
    let renumbered = |mut log: Vec<LogEntry>| {
        for (entry, sequence) in log.iter_mut().zip(1..) {
            entry.sequence = sequence;
        }
        log
    };
    let mut changed = log.clone();
    changed[1].value[40] ^= 1;
    let missing = [&log[..1], &log[2..]].concat();
    let twice = [&log[..2], &log[1..]].concat();
    let mut swapped = log;
    swapped.swap(1, 2);
    for log in [
        changed,
        renumbered(missing),
        renumbered(twice),
        renumbered(swapped),
    ] {
        assert_eq!(check(log), "log-broken");
    }
}

/// The rows of a key and of the index, as they are now.
fn rows_of(fixture: &Fixture, key: &KeyName) -> Vec<(RowKey, Vec<u8>)> {
    let rows = (0..128).map(RowKey::index).chain([RowKey::key(key)]);
    rows.map(|row| (row.clone(), fixture.row(&row).value))
        .collect()
}

/// Puts older rows back, as whoever can write to the storage.
fn put_back(fixture: &Fixture, rows: Vec<(RowKey, Vec<u8>)>) {
    for (row, value) in rows {
        fixture.write(&row, Write::Put(value));
    }
}

/// Whoever can write to the storage puts back the rows of a version that was disabled, and adds an entry that says so, with its
/// hash: the hashes follow each other, and the store says which entry isn't its own.
#[test]
fn entries_of_others_are_refused() {
    let fixture = Fixture::new(&Memory::new());
    let (key, other) = (fixture.key("k", "Ed25519"), fixture.key("other", "Ed25519"));
    let before = rows_of(&fixture, &key);
    fixture
        .store
        .disable(&admin(), &key.at(version(1)))
        .unwrap();
    let kept = [fixture.store.signed_head(&admin()).unwrap()];
    put_back(&fixture, before);
    let head = kept[0].head;
    // The entry of the key's creation again, with the next number.
    let mut forged = fixture.storage.entries(2, 1).unwrap().remove(0);
    forged.sequence = head.sequence + 1;
    forged.value[17..25].copy_from_slice(&forged.sequence.to_be_bytes());
    let hashed = [b"pq-keystore log\0", &head.hash[..], &forged.value].concat();
    forged.hash = Sha256::digest(hashed).into();
    let append = Append {
        after: head,
        entries: vec![forged.clone()],
    };
    let change = Change {
        rows: Vec::new(),
        append: Some(append),
    };
    fixture.storage.commit(&change).unwrap();
    let mut chain = Chain::new(fixture.store.id());
    for entry in fixture.storage.entries(1, 1000).unwrap() {
        chain.follow(&entry).unwrap();
    }
    let is_named = |refused: Result<(), StoreError>| match refused {
        Err(StoreError::Log(error)) => assert_eq!(error, BrokenChain::Forged(forged.sequence)),
        other => panic!("{other:?}"),
    };
    let store = &fixture.store;
    is_named(store.check(&admin(), &kept).map(drop));
    is_named(store.audit_log(&admin(), forged.sequence, 1).map(drop));
    is_named(store.audit_log(&admin(), 1, 1000).map(drop));
    let open = || {
        Store::open(
            fixture.storage.clone(),
            &crate::kit::kek(b"secret"),
            fixture.clock.options(),
        )
    };
    is_named(open().map(drop));
    // Also after the store has gone on.
    store.rotate(&admin(), &other).unwrap();
    is_named(store.check(&admin(), &kept).map(drop));
    is_named(open().unwrap().check(&admin(), &kept).map(drop));
    let after = store.audit_log(&admin(), forged.sequence + 1, 1000);
    assert_eq!(after.unwrap()[0].key, Some(other));
}

/// The store goes on from rows that were put back, and so the newest row is what the log says: what came before isn't.
#[test]
fn changes_of_older_rows_are_noticed() {
    let fixture = Fixture::new(&Memory::new());
    let key = fixture.key("k", "Ed25519");
    let before = rows_of(&fixture, &key);
    let disable = || {
        let disabled = fixture.store.disable(&admin(), &key.at(version(1)));
        disabled.unwrap();
    };
    disable();
    put_back(&fixture, before);
    disable();
    let report = fixture.store.check(&admin(), &[]).unwrap();
    assert_eq!(report.damaged.len(), 1);
    assert_eq!(report.damaged[0].code(), "put-back");
    assert!(report.damaged[0].to_string().contains("t/p/k"));
}

/// A store that is full says so with a code of its own, and all that is in it goes on.
#[test]
fn a_full_store_says_so() {
    let forged = Forged::new();
    let fixture = &forged.fixture;
    let key = fixture.key("k", "Ed25519");
    for row in (0..128).map(RowKey::index) {
        // A format, the number of entries, and the entries in order.
        let record = forged.record(&row);
        let mut entries: Vec<Vec<u8>> = record[5..].chunks(24).map(Into::into).collect();
        let fillers = (0..2_700_u128).map(|number| [&number.to_be_bytes()[..], &[0; 8]].concat());
        let missing = 2_700 - entries.len();
        entries.extend(fillers.take(missing));
        entries.sort_unstable();
        let count = u32::try_from(entries.len()).unwrap().to_be_bytes();
        forged.write(&row, &[&record[..1], &count, &entries.concat()].concat());
    }
    let more = fixture.store.create_key(
        &admin(),
        &crate::kit::name("more"),
        crate::kit::named("Ed25519"),
        &crate::kit::user_policy(),
    );
    let refused = more.unwrap_err();
    assert_eq!(refused.code(), "limit");
    assert!(refused.to_string().contains("as many keys"), "{refused}");
    fixture.store.rotate(&admin(), &key).unwrap();
    fixture
        .store
        .rewrap(&admin(), &crate::kit::kek(b"new"))
        .unwrap();
}

/// The row of the wrapped key has a checksum that anybody can make: what it says is bound to what the KEK wraps.
#[test]
fn other_wrapped_keys_are_refused() {
    let fixture = Fixture::new(&Memory::new());
    let row = RowKey::kek();
    let mut record = fixture.row(&row).value;
    record.truncate(record.len() - 32);
    let open = |record: &[u8]| {
        let value = [record, &Sha256::digest(record)].concat();
        fixture.write(&row, Write::Put(value));
        let kek = crate::kit::kek(b"secret");
        code(Store::open(
            fixture.storage.clone(),
            &kek,
            fixture.clock.options(),
        ))
    };
    assert_eq!(open(&record), "done");
    for at in 0..record.len() {
        let mut changed = record.clone();
        changed[at] ^= 1;
        match at {
            0 => assert_eq!(open(&changed), "damaged"),
            // How often it was written, and the number of the store.
            1..25 => assert_eq!(open(&changed), "wrong-kek", "{at}"),
            _ => assert!(
                ["damaged", "wrong-kek", "kek"].contains(&open(&changed)),
                "{at}"
            ),
        }
    }
    assert_eq!(open(&record), "done");
}

/// A key has as many versions as its record takes, and no more: else nothing could read it any more.
#[test]
fn a_key_has_no_more_versions_than_its_record_takes() {
    const MOST: u32 = 4_096;

    let forged = Forged::new();
    let key = forged.fixture.key("k", "Ed25519");
    let row = RowKey::key(&key);
    let record = forged.record(&row);
    // It ends with how many versions there are, and the state of each.
    let head = record.strip_suffix(&[0, 0, 0, 1, 0]).unwrap();
    let states = vec![0; MOST as usize - 1];
    forged.write(&row, &[head, &(MOST - 1).to_be_bytes(), &states].concat());
    let store = forged.open().unwrap();
    let last = store.rotate(&admin(), &key).unwrap();
    assert_eq!(last, key.at(version(MOST)));
    assert_eq!(code(store.rotate(&admin(), &key)), "limit");
    drop(store);
    assert_eq!(code(forged.sign(&key)), "done");
}

/// The hash of an entry after the one with another hash.
fn hash_after(before: &[u8; 32], value: &[u8]) -> [u8; 32] {
    Sha256::digest([b"pq-keystore log\0", &before[..], value].concat()).into()
}

/// An entry that says that it is of another store or another place doesn't belong there, whatever its hash is.
#[test]
fn entries_of_another_place_are_refused() {
    let [one, other] = [(); 2].map(|()| Fixture::new(&Memory::new()));
    let log = one.storage.entries(1, 10).unwrap();
    let mut chain = Chain::new(other.store.id());
    assert_eq!(chain.follow(&log[0]), Err(BrokenChain::Misplaced(1)));
    one.key("k", "Ed25519");
    let log = one.storage.entries(1, 10).unwrap();
    let mut moved = log[1].clone();
    moved.sequence = 1;
    moved.hash = hash_after(&LogHead::EMPTY.hash, &moved.value);
    let mut chain = Chain::new(one.store.id());
    assert_eq!(chain.follow(&moved), Err(BrokenChain::Misplaced(1)));
    assert_eq!(chain.head(), LogHead::EMPTY);
}

/// A storage with the same contents, and the store in it.
fn copied(fixture: &Fixture) -> (Arc<dyn Storage>, Store) {
    let copied: Arc<dyn Storage> = Arc::new(MemoryStorage::new());
    pq_keystore::storage::copy(&*fixture.storage, &*copied).unwrap();
    let kek = crate::kit::kek(b"secret");
    let store = Store::open(copied.clone(), &kek, fixture.clock.options()).unwrap();
    (copied, store)
}

/// Of two copies of a store that both went on, each has entries that the store wrote, and none belongs into the other's log;
/// and each has a head that the other doesn't reach.
#[test]
fn entries_of_another_copy_are_refused() {
    let fixture = Fixture::new(&Memory::new());
    let key = fixture.key("k", "Ed25519");
    let (theirs, their_store) = copied(&fixture);
    let begin = fixture.storage.get(&[]).unwrap().head.sequence;
    let rotate = |store: &Store| store.rotate(&admin(), &key).map(drop).unwrap();
    rotate(&fixture.store);
    rotate(&their_store);
    let heads = [&fixture.store, &their_store].map(|store| store.signed_head(&admin()).unwrap());
    assert_eq!(heads[0].head.sequence, heads[1].head.sequence);
    let reached =
        |heads: &[pq_keystore::audit::SignedHead]| code(fixture.store.check(&admin(), heads));
    assert_eq!(reached(&heads[..1]), "done");
    let [own, other] = heads;
    for kept in [
        vec![other.clone()],
        vec![own.clone(), other.clone()],
        vec![other, own],
    ] {
        assert_eq!(reached(&kept), "head-not-reached");
    }
    rotate(&their_store);
    let after = fixture.storage.get(&[]).unwrap().head;
    assert_eq!(after.sequence, begin + 1);
    let mut spliced = theirs.entries(begin + 2, 1).unwrap().remove(0);
    spliced.hash = hash_after(&after.hash, &spliced.value);
    let change = Change {
        rows: Vec::new(),
        append: Some(Append {
            after,
            entries: vec![spliced],
        }),
    };
    fixture.storage.commit(&change).unwrap();
    match fixture.store.check(&admin(), &[]) {
        Err(StoreError::Log(error)) => assert_eq!(error, BrokenChain::Forged(begin + 2)),
        other => panic!("{other:?}"),
    }
}

/// Each row of the index is checked, also those in which no key stands.
#[test]
fn every_row_of_the_index_is_checked() {
    let fixture = Fixture::new(&Memory::new());
    fixture.key("k", "Ed25519");
    for bucket in 0..128 {
        let row = RowKey::index(bucket);
        let value = fixture.row(&row).value;
        let mut changed = value.clone();
        changed[2] ^= 1;
        fixture.write(&row, Write::Put(changed));
        let damaged = fixture.store.check(&admin(), &[]).unwrap().damaged;
        assert_eq!(damaged.len(), 1, "{damaged:?}");
        assert!(damaged[0].to_string().contains(row.as_str()), "{damaged:?}");
        fixture.write(&row, Write::Put(value));
    }
    assert!(
        fixture
            .store
            .check(&admin(), &[])
            .unwrap()
            .damaged
            .is_empty()
    );
}
