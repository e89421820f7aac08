//! Rows that were changed, moved, put back or removed behind the store's back.

use pq_keystore::policy::{Input, Verb};
use pq_keystore::storage::{RowKey, Write};
use pq_keystore::{Scope, Store, StoreOptions};
use sha2::{Digest, Sha256};

use crate::kit::{Fixture, admin, code, kek, user, version};
use crate::places::Place;

const MESSAGE: &[u8] = b"message";

/// What signing says after a row was changed, in memory and from the storage.
fn sign(fixture: &Fixture, text: &str) -> &'static str {
    let name = crate::kit::name(text);
    code(fixture.store.sign(&user(), &name, Input::message(MESSAGE)))
}

pub(crate) fn changed_rows_are_refused(place: &impl Place) {
    let mut fixture = Fixture::new(place);
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

pub(crate) fn missing_rows_are_refused(place: &impl Place) {
    let mut fixture = Fixture::new(place);
    let key = fixture.key("k", "ML-DSA-44");
    fixture.key("other", "ML-DSA-44");
    let rows = [RowKey::key(&key), RowKey::version(&key.at(version(1)))];
    for row in rows {
        let value = fixture.row(&row).value;
        fixture.write(&row, Write::Delete);
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
    let fixture = Fixture::new(&crate::places::Memory::new());
    let small = fixture.key("small", "Ed25519");
    fixture.key("good", "Ed25519");
    let index = index_of(&RowKey::key(&small));
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
                assert_eq!(sign(&fixture, "good"), "done");
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

/// The number of the index's row where a row stands.
fn bucket_of(key: &RowKey) -> u8 {
    Sha256::digest(key.as_str())[31] % 128
}

fn index_of(key: &RowKey) -> RowKey {
    RowKey::index(bucket_of(key))
}

/// Whoever puts back a row together with its row of the index, or the operator's key of before, is noticed by the check, and
/// spoils what else stands there.
pub(crate) fn rows_put_back_with_their_index(place: &impl Place) {
    let mut fixture = Fixture::new(place);
    let key = fixture.key("k", "ML-DSA-44");
    let bucket = bucket_of(&RowKey::key(&key));
    let neighbour = (0..)
        .map(|number| format!("n{number}"))
        .find(|text| bucket_of(&RowKey::key(&crate::kit::name(text))) == bucket)
        .unwrap();
    fixture.key(&neighbour, "Ed25519");
    fixture.key("other", "Ed25519");
    let rows = [RowKey::key(&key), index_of(&RowKey::key(&key))];
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
    let change = fixture
        .store
        .rotate(&admin(), &crate::kit::name(&neighbour));
    change.unwrap();
    let current = rows.clone().map(|row| fixture.row(&row).value);
    put(&fixture, &rows, &backup);
    fixture = fixture.reopened();
    assert_eq!(sign(&fixture, &neighbour), "put-back");
    assert_eq!(sign(&fixture, "other"), "done");
    put(&fixture, &rows, &current);

    // The grants of before: the row of the store, and its index's.
    let mut rows = vec![RowKey::store(), index_of(&RowKey::store())];
    let backup: Vec<_> = rows.iter().map(|row| fixture.row(row).value).collect();
    let grants = fixture.store.store_grants(&admin()).unwrap();
    let more = grants.clone().grant(&Scope::all(), &user(), Verb::Create);
    fixture.store.set_store_grants(&admin(), &more).unwrap();
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
    rows.extend([RowKey::kek(), index_of(&RowKey::kek())]);
    let backup: Vec<_> = rows.iter().map(|row| fixture.row(row).value).collect();
    fixture.store.rewrap(&admin(), &kek(b"new")).unwrap();
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
