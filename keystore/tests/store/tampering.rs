//! Rows that were changed, moved, put back or removed behind the store's back.

use pq_keystore::policy::{Input, Verb};
use pq_keystore::storage::{Row, RowKey, Write};
use pq_keystore::{KeyName, Scope, Store, StoreOptions};
use sha2::{Digest, Sha256};

use crate::kit::{Fixture, admin, code, kek, stranger, user, version};
use crate::places::Place;

const MESSAGE: &[u8] = b"message";

/// What signing says after a row was changed, in memory and from the storage.
fn sign(fixture: &Fixture, text: &str) -> &'static str {
    let name = crate::kit::name(text);
    code(fixture.store.sign(&user(), &name, Input::message(MESSAGE)))
}

/// A store where the user may list all keys, and so is told what is wrong with them.
fn told<P: Place>(place: &P) -> Fixture {
    let fixture = Fixture::new(place);
    let grants = fixture.store.store_grants(&admin()).unwrap();
    let grants = grants.grant(&Scope::all(), &user(), Verb::List);
    fixture.store.set_store_grants(&admin(), &grants).unwrap();
    fixture
}

pub(crate) fn changed_rows_are_refused(place: &impl Place) {
    let mut fixture = told(place);
    let bad = fixture.key("bad", "ML-DSA-44");
    fixture.key("good", "ML-DSA-44");
    for key in [RowKey::key(&bad), RowKey::version(&bad.at(version(1)))] {
        let value = fixture.row(&key).value;
        // each bit of some bytes, and one bit of each byte in long steps
        let bits = (0..8 * value.len())
            .filter(|bit| bit % 101 == 0 || *bit < 32 || *bit >= 8 * value.len() - 16);
        for bit in bits {
            let mut changed = value.clone();
            changed[bit / 8] ^= 1 << (bit % 8);
            fixture.write(&key, Write::Put(changed));
            fixture = fixture.reopened();
            let refused = fixture
                .store
                .sign(&user(), &bad, Input::message(MESSAGE))
                .unwrap_err();
            assert_eq!(refused.code(), "damaged", "{key} {bit}");
            assert!(refused.to_string().contains(key.as_str()), "{refused}");
            assert_eq!(sign(&fixture, "good"), "done");
        }
        for cut in [
            &value[..0],
            &value[..20],
            &value[..value.len() - 1],
            &[&value[..], b"\0"].concat(),
        ] {
            fixture.write(&key, Write::Put(cut.to_vec()));
            fixture = fixture.reopened();
            assert_eq!(sign(&fixture, "bad"), "damaged");
        }
        // The list says which, and has the others.
        let page = fixture.store.list(&admin(), None, None, 10).unwrap();
        let is_listed = key.as_str().starts_with("version");
        assert_eq!(page.keys.len() + page.damaged.len(), 2);
        assert_eq!(page.keys.len(), if is_listed { 2 } else { 1 });
        assert_eq!(fixture.store.check(&admin(), &[]).unwrap().damaged.len(), 1);
        fixture.write(&key, Write::Put(value));
        fixture = fixture.reopened();
        assert_eq!(sign(&fixture, "bad"), "done");
    }
    // The rows of the store itself: it doesn't open.
    let (storage, options) = (fixture.storage.clone(), fixture.clock.options());
    for (key, code_of) in [(RowKey::store(), "damaged"), (RowKey::kek(), "damaged")] {
        let value = fixture.row(&key).value;
        for bit in (0..8 * value.len()).filter(|bit| bit % 97 == 0) {
            let mut changed = value.clone();
            changed[bit / 8] ^= 1 << (bit % 8);
            fixture.write(&key, Write::Put(changed));
            let opened = Store::open(storage.clone(), &kek(b"secret"), options.clone());
            assert_eq!(code(opened), code_of, "{key} {bit}");
        }
        fixture.write(&key, Write::Put(value));
    }
    assert_eq!(sign(&fixture.reopened(), "good"), "done");
}

pub(crate) fn swapped_rows_are_refused(place: &impl Place) {
    let mut fixture = Fixture::new(place);
    let [a, b] = ["a", "b"].map(|text| fixture.key(text, "ML-DSA-44"));
    fixture.store.rotate(&admin(), &a).unwrap();
    let pairs = [
        (RowKey::key(&a), RowKey::key(&b)),
        (
            RowKey::version(&a.at(version(2))),
            RowKey::version(&b.at(version(1))),
        ),
        (
            RowKey::version(&a.at(version(1))),
            RowKey::version(&a.at(version(2))),
        ),
    ];
    for (one, other) in pairs {
        let [first, second] = [&one, &other].map(|key| fixture.row(key).value);
        fixture.write(&one, Write::Put(second.clone()));
        fixture.write(&other, Write::Put(first.clone()));
        fixture = fixture.reopened();
        assert_eq!(sign(&fixture, "a"), "damaged", "{one} {other}");
        fixture.write(&one, Write::Put(first));
        fixture.write(&other, Write::Put(second));
        fixture = fixture.reopened();
        assert_eq!((sign(&fixture, "a"), sign(&fixture, "b")), ("done", "done"));
    }
    // Rows of another store, with the same names.
    let other = Fixture::new(&crate::places::Memory::new());
    other.key("a", "ML-DSA-44");
    let key = RowKey::key(&a);
    let value = other.row(&key).value;
    let own = fixture.row(&key).value;
    fixture.write(&key, Write::Put(value));
    fixture = fixture.reopened();
    assert_eq!(
        (sign(&fixture, "a"), sign(&fixture, "b")),
        ("damaged", "done")
    );
    fixture.write(&key, Write::Put(own));
    assert_eq!(sign(&fixture.reopened(), "a"), "done");
}

pub(crate) fn older_rows_are_refused(place: &impl Place) {
    let mut fixture = Fixture::new(place);
    let key = fixture.key_with("k", "ML-DSA-44", |policy| {
        policy.destroy_after = core::time::Duration::ZERO;
    });
    fixture.key("other", "ML-DSA-44");
    let (id, row) = (key.at(version(1)), RowKey::key(&key));
    fixture.store.rotate(&admin(), &key).unwrap();
    let version_row = RowKey::version(&id);
    let alive = fixture.row(&version_row).value;
    let store = &fixture.store;
    let mut older = vec![fixture.row(&row).value];
    store.disable(&admin(), &id).unwrap();
    older.push(fixture.row(&row).value);
    store
        .schedule_destruction(&admin(), &id, core::time::Duration::ZERO)
        .unwrap();
    older.push(fixture.row(&row).value);
    store.destroy(&admin(), &id).unwrap();
    let newest = fixture.row(&row).value;
    // The state that it had before it was disabled, and so on.
    for value in older {
        fixture.write(&row, Write::Put(value));
        fixture = fixture.reopened();
        assert_eq!(
            (sign(&fixture, "k"), sign(&fixture, "other")),
            ("put-back", "done")
        );
        assert_eq!(code(fixture.store.rotate(&admin(), &key)), "put-back");
        let report = fixture.store.check(&admin(), &[]).unwrap();
        assert_eq!(report.damaged[0].code(), "put-back");
    }
    fixture.write(&row, Write::Put(newest));
    // The private key that was destroyed, from a backup.
    let destroyed = fixture.row(&version_row).value;
    fixture.write(&version_row, Write::Put(alive));
    fixture = fixture.reopened();
    let public = fixture.store.verify(
        &user(),
        &key,
        Some(version(1)),
        Input::message(MESSAGE),
        b"",
    );
    assert_eq!(code(public), "state");
    assert_eq!(code(fixture.store.show(&admin(), &key)), "put-back");
    assert_eq!(fixture.store.check(&admin(), &[]).unwrap().damaged.len(), 1);
    // Its newest version still signs.
    assert_eq!(sign(&fixture, "k"), "done");
    fixture.write(&version_row, Write::Put(destroyed));
    fixture = fixture.reopened();
    assert!(
        fixture
            .store
            .check(&admin(), &[])
            .unwrap()
            .damaged
            .is_empty()
    );
}

/// Without the row of the latest time, or with another one, no clock is believed, and all else goes on.
pub(crate) fn a_changed_clock_is_refused(place: &impl Place) {
    let mut fixture = told(place);
    let key = fixture.key_with("k", "ML-DSA-44", |policy| {
        policy.destroy_after = core::time::Duration::ZERO;
    });
    let (id, row) = (key.at(version(1)), RowKey::clock());
    let older = fixture.row(&row).value;
    fixture.clock.advance(core::time::Duration::from_secs(100));
    fixture.store.rotate(&admin(), &key).unwrap();
    let newest = fixture.row(&row).value;
    assert_ne!(older, newest);
    let mut flipped = newest.clone();
    flipped[9] ^= 1;
    for (write, expected) in [
        (Write::Put(older), "put-back"),
        (Write::Put(flipped), "damaged"),
        (Write::Put(Vec::new()), "damaged"),
        (Write::Delete, "missing"),
    ] {
        fixture.write(&row, write);
        fixture = fixture.reopened();
        let scheduled =
            fixture
                .store
                .schedule_destruction(&admin(), &id, core::time::Duration::ZERO);
        assert_eq!(code(scheduled), expected);
        assert_eq!(code(fixture.store.confirm_time(&admin())), expected);
        fixture.store.rotate(&admin(), &key).unwrap();
        assert_eq!(sign(&fixture, "k"), "done");
        let report = fixture.store.check(&admin(), &[]).unwrap();
        assert_eq!(report.damaged.len(), 1);
        assert_eq!(report.damaged[0].code(), expected);
    }
    fixture.write(&row, Write::Put(newest));
    fixture = fixture.reopened();
    fixture
        .store
        .schedule_destruction(&admin(), &id, core::time::Duration::ZERO)
        .unwrap();
}

pub(crate) fn missing_rows_are_refused(place: &impl Place) {
    let mut fixture = told(place);
    let key = fixture.key("k", "ML-DSA-44");
    fixture.key("other", "ML-DSA-44");
    let rows = [RowKey::key(&key), RowKey::version(&key.at(version(1)))];
    for row in rows {
        let value = fixture.row(&row).value;
        fixture.write(&row, Write::Delete);
        // A list lacks it, and the index doesn't.
        assert_eq!(fixture.store.indexed_keys(&admin()).unwrap(), Some(2));
        assert_eq!(fixture.store.indexed_keys(&stranger()).unwrap(), None);
        fixture = fixture.reopened();
        // It is not as if there were no key, and no other takes its place.
        assert_eq!(
            (sign(&fixture, "k"), sign(&fixture, "other")),
            ("missing", "done")
        );
        let again = fixture.store.create_key(
            &admin(),
            &key,
            crate::kit::named("ML-DSA-44"),
            &crate::kit::user_policy(),
        );
        assert_ne!(code(again), "done");
        assert_eq!(
            fixture.store.check(&admin(), &[]).unwrap().damaged[0].code(),
            "missing"
        );
        fixture.write(&row, Write::Put(value));
    }
    let value = fixture.row(&RowKey::kek()).value;
    fixture.write(&RowKey::kek(), Write::Delete);
    let opened = Store::open(
        fixture.storage.clone(),
        &kek(b"secret"),
        StoreOptions::default(),
    );
    assert_eq!(code(opened), "missing");
    fixture.write(&RowKey::kek(), Write::Put(value));
    assert_eq!(sign(&fixture.reopened(), "k"), "done");
}

pub(crate) fn another_kek_is_refused(place: &impl Place) {
    let fixture = Fixture::new(place);
    let open = |passphrase: &[u8]| {
        code(Store::open(
            fixture.storage.clone(),
            &kek(passphrase),
            StoreOptions::default(),
        ))
    };
    assert_eq!(
        (open(b"other"), open(b""), open(b"secret")),
        ("wrong-kek", "wrong-kek", "done")
    );
    let again = Store::create(
        fixture.storage.clone(),
        &kek(b"x"),
        &admin(),
        StoreOptions::default(),
    );
    assert_eq!(code(again), "store-exists");
    let empty = crate::places::Memory::new().open();
    assert_eq!(
        code(Store::open(empty, &kek(b"secret"), StoreOptions::default())),
        "no-store"
    );
}

pub(crate) fn rewrapping_touches_no_key(place: &impl Place) {
    let fixture = Fixture::new(place);
    fixture.key("k", "ML-DSA-44");
    let before = fixture.rows();
    let old = fixture.row(&RowKey::kek()).value;
    assert_eq!(code(fixture.store.rewrap(&user(), &kek(b"new"))), "denied");
    fixture.store.rewrap(&admin(), &kek(b"new")).unwrap();
    let after = fixture.rows();
    for ((key, before), (_, after)) in before.iter().zip(&after) {
        let is_of_store = [RowKey::kek(), RowKey::store()].contains(key);
        assert_eq!(before == after, !is_of_store, "{key}");
    }
    let open = |passphrase: &[u8]| {
        Store::open(
            fixture.storage.clone(),
            &kek(passphrase),
            StoreOptions::default(),
        )
    };
    assert_eq!(code(open(b"secret")), "wrong-kek");
    let name = crate::kit::name("k");
    open(b"new")
        .unwrap()
        .sign(&user(), &name, Input::message(MESSAGE))
        .unwrap();
    // The old row with the old passphrase is one that was put back.
    fixture.write(&RowKey::kek(), Write::Put(old));
    assert_eq!(code(open(b"secret")), "put-back");
}

/// Each bit of each kind of row, as far as rows are small: what is wrong is said, and which row, and the rest works. It is
/// the same code for each storage, and memory is fast.
#[test]
fn every_bit_is_covered() {
    let fixture = told(&crate::places::Memory::new());
    let small = fixture.key("small", "Ed25519");
    let index = index_of(&fixture, &RowKey::key(&small));
    let good = key_beside(&fixture, "good", &index, false);
    let rows = [
        RowKey::key(&small),
        RowKey::version(&small.at(version(1))),
        index,
    ];
    for key in rows {
        let value = fixture.row(&key).value;
        for bit in 0..8 * value.len() {
            let mut changed = value.clone();
            changed[bit / 8] ^= 1 << (bit % 8);
            fixture.write(&key, Write::Put(changed));
            let refused = fixture.store.show(&user(), &small).unwrap_err();
            assert_eq!(refused.code(), "damaged", "{key} {bit}");
            assert!(refused.to_string().contains(key.as_str()), "{refused}");
            if bit % 61 == 0 {
                assert_eq!(sign(&fixture, good.name()), "done");
                assert_eq!(fixture.store.check(&admin(), &[]).unwrap().damaged.len(), 1);
            }
        }
        fixture.write(&key, Write::Put(value));
        fixture.store.show(&user(), &small).unwrap();
    }
    let (storage, options) = (fixture.storage.clone(), fixture.clock.options());
    let key = RowKey::kek();
    let value = fixture.row(&key).value;
    for bit in 0..8 * value.len() {
        let mut changed = value.clone();
        changed[bit / 8] ^= 1 << (bit % 8);
        fixture.write(&key, Write::Put(changed));
        let opened = Store::open(storage.clone(), &kek(b"secret"), options.clone());
        assert_eq!(code(opened), "damaged", "{key} {bit}");
    }
    fixture.write(&key, Write::Put(value));
    assert!(
        fixture
            .store
            .check(&admin(), &[])
            .unwrap()
            .damaged
            .is_empty()
    );
    assert_eq!(sign(&fixture.reopened(), "small"), "done");
}

/// All rows of the index, and others.
fn with_index(fixture: &Fixture, rows: &[RowKey]) -> Vec<(RowKey, Row)> {
    let keys: Vec<_> = rows
        .iter()
        .cloned()
        .chain((0..128).map(RowKey::index))
        .collect();
    let found = fixture.storage.get(&keys).unwrap().rows;
    keys.into_iter()
        .zip(found)
        .map(|(key, row)| (key, row.unwrap()))
        .collect()
}

/// The row of the index that was written last together with this row: its name doesn't say which one it is.
fn index_of(fixture: &Fixture, row: &RowKey) -> RowKey {
    let revision = fixture.row(row).revision;
    let rows = with_index(fixture, &[]);
    let mut found = rows.into_iter().filter(|(_, row)| row.revision == revision);
    found.next().unwrap().0
}

/// A new key whose row stands in this row of the index, or in another one.
fn key_beside(fixture: &Fixture, text: &str, index: &RowKey, beside: bool) -> KeyName {
    let mut names = (0..).map(|number| fixture.key(&format!("{text}{number}"), "Ed25519"));
    let found = names.find(|name| (index_of(fixture, &RowKey::key(name)) == *index) == beside);
    found.unwrap()
}

/// Also rows of the index in which no key stands, where the next key would.
#[test]
fn each_row_of_the_index_is_checked() {
    let fixture = Fixture::new(&crate::places::Memory::new());
    for (key, row) in with_index(&fixture, &[]) {
        let mut changed = row.value.clone();
        changed[3] ^= 1;
        for (write, expected) in [(Write::Put(changed), "damaged"), (Write::Delete, "missing")] {
            fixture.write(&key, write);
            let found = fixture.store.check(&admin(), &[]).unwrap().damaged;
            let codes: Vec<_> = found.iter().map(|error| error.code()).collect();
            assert_eq!(codes, [expected], "{key}");
            assert!(found[0].to_string().contains(key.as_str()), "{found:?}");
        }
        fixture.write(&key, Write::Put(row.value));
    }
    let report = fixture.store.check(&admin(), &[]).unwrap();
    assert!(report.damaged.is_empty());
}

/// Whoever may choose names can't choose where their rows stand: names whose hashes are alike stand all over the index.
#[test]
fn nobody_fills_one_row_of_the_index() {
    let fixture = Fixture::new(&crate::places::Memory::new());
    let is_aimed = |name: &KeyName| Sha256::digest(RowKey::key(name).as_str())[31] % 128 == 0;
    let names = (0..)
        .map(|number| format!("n{number}"))
        .filter(|text| is_aimed(&crate::kit::name(text)));
    let mut found: Vec<_> = names
        .take(16)
        .map(|text| index_of(&fixture, &RowKey::key(&fixture.key(&text, "Ed25519"))))
        .collect();
    found.sort_unstable();
    found.dedup();
    // Five or fewer of 128 are found by 16 keys less than once in 10^15 times.
    assert!(found.len() > 5, "{found:?}");
}

/// Whoever puts back a row together with its row of the index, or the operator's key of before, is noticed by the check, and
/// spoils what else stands there.
pub(crate) fn rows_put_back_with_their_index(place: &impl Place) {
    let mut fixture = Fixture::new(place);
    let key = fixture.key("k", "ML-DSA-44");
    let index = index_of(&fixture, &RowKey::key(&key));
    let other = key_beside(&fixture, "other", &index, false);
    let neighbour = key_beside(&fixture, "n", &index, true);
    let rows = [RowKey::key(&key), index];
    let backup = rows.clone().map(|row| fixture.row(&row).value);
    fixture
        .store
        .disable(&admin(), &key.at(version(1)))
        .unwrap();
    let current = rows.clone().map(|row| fixture.row(&row).value);
    let put = |fixture: &Fixture, rows: &[RowKey], values: &[Vec<u8>]| {
        for (row, value) in rows.iter().zip(values) {
            fixture.write(row, Write::Put(value.clone()));
        }
    };
    put(&fixture, &rows, &backup);
    fixture = fixture.reopened();
    // The key signs again, as it did when the backup was made.
    assert_eq!(sign(&fixture, "k"), "done");
    let report = fixture.store.check(&admin(), &[]).unwrap();
    assert_eq!(report.damaged.len(), 1);
    assert_eq!(report.damaged[0].code(), "put-back");
    assert!(report.damaged[0].to_string().contains(rows[0].as_str()));
    put(&fixture, &rows, &current);
    fixture = fixture.reopened();
    assert_eq!(sign(&fixture, "k"), "no-enabled-version");
    // A neighbour that was changed since the backup is spoilt at once.
    fixture.store.rotate(&admin(), &neighbour).unwrap();
    let current = rows.clone().map(|row| fixture.row(&row).value);
    put(&fixture, &rows, &backup);
    fixture = fixture.reopened();
    assert_eq!(sign(&fixture, neighbour.name()), "put-back");
    assert_eq!(sign(&fixture, other.name()), "done");
    put(&fixture, &rows, &current);

    // The grants of before: the row of the store, and its index's.
    let before = with_index(&fixture, &[]);
    let store_row = fixture.row(&RowKey::store()).value;
    let grants = fixture.store.store_grants(&admin()).unwrap();
    let more = grants.clone().grant(&Scope::all(), &user(), Verb::Create);
    fixture.store.set_store_grants(&admin(), &more).unwrap();
    let mut rows = vec![RowKey::store(), index_of(&fixture, &RowKey::store())];
    let index_row = before.into_iter().find(|(key, _)| *key == rows[1]).unwrap();
    let backup = [store_row, index_row.1.value];
    let current: Vec<_> = rows.iter().map(|row| fixture.row(row).value).collect();
    put(&fixture, &rows[..1], &backup);
    let opened = Store::open(
        fixture.storage.clone(),
        &kek(b"secret"),
        fixture.clock.options(),
    );
    assert_eq!(code(opened), "put-back");
    put(&fixture, &rows, &backup);
    fixture = fixture.reopened();
    assert_eq!(fixture.store.store_grants(&admin()).unwrap(), grants);
    let report = fixture.store.check(&admin(), &[]).unwrap();
    assert_eq!(report.damaged[0].code(), "put-back");
    assert!(report.damaged[0].to_string().contains("store"));
    put(&fixture, &rows, &current);
    fixture = fixture.reopened();
    assert!(
        fixture
            .store
            .check(&admin(), &[])
            .unwrap()
            .damaged
            .is_empty()
    );

    // The operator's key of before.
    let before = with_index(&fixture, &[RowKey::store(), RowKey::kek()]);
    fixture.store.rewrap(&admin(), &kek(b"new")).unwrap();
    let after = with_index(&fixture, &[RowKey::store(), RowKey::kek()]);
    let changed = before.into_iter().zip(after);
    let changed = changed.filter(|((_, before), (_, after))| before != after);
    // Those of the store first, and then those of the operator's key, which may stand in the same row of the index.
    let mut changed: Vec<_> = changed.map(|((key, row), _)| (key, row.value)).collect();
    changed.sort_by_key(|(key, _)| !rows.contains(key));
    let (keys, backup): (Vec<_>, Vec<_>) = changed.into_iter().unzip();
    rows = keys;
    put(&fixture, &rows[2..], &backup[2..]);
    let open = |fixture: &Fixture| {
        Store::open(
            fixture.storage.clone(),
            &kek(b"secret"),
            fixture.clock.options(),
        )
    };
    assert_eq!(code(open(&fixture)), "put-back");
    put(&fixture, &rows, &backup);
    let report = open(&fixture).unwrap().check(&admin(), &[]).unwrap();
    assert_eq!(report.damaged[0].code(), "put-back");
}
