//! The file of a storage: who may open it, and what becomes of a damaged one.

use std::fs;

use pq_keystore::Store;
use pq_keystore::policy::Input;
use pq_keystore::storage::{RedbStorage, StorageError};

use crate::kit::{Fixture, admin, kek, name, user};
use crate::places::{Place, Redb};

#[test]
fn one_at_a_time() {
    let place = Redb::new();
    let storage = place.open();
    let second = RedbStorage::open(&place.path());
    assert!(matches!(second, Err(StorageError::InUse { .. })));
    drop(storage);
    place.open();
    let again = RedbStorage::create(&place.path());
    assert!(matches!(again, Err(StorageError::NotOpened { .. })));
    place.open();
}

#[cfg(unix)]
#[test]
fn nobody_else_may_read_it() {
    use std::os::unix::fs::PermissionsExt;

    let place = Redb::new();
    let mode = fs::metadata(place.path()).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    // and nothing is left beside it
    let folder = place.path().parent().unwrap().to_path_buf();
    assert_eq!(fs::read_dir(folder).unwrap().count(), 1);
}

#[test]
fn what_is_no_store_is_refused() {
    let place = Redb::new();
    let bytes = fs::read(place.path()).unwrap();
    let open = || RedbStorage::open(&place.path()).map(drop);
    for len in [0, 1, 100, 4095, 4096, bytes.len() / 2, bytes.len() - 1] {
        fs::write(place.path(), &bytes[..len]).unwrap();
        assert!(matches!(open(), Err(StorageError::Damaged { .. })), "{len}");
    }
    fs::write(place.path(), vec![b'x'; bytes.len()]).unwrap();
    assert!(matches!(open(), Err(StorageError::NotAStorage { .. })));
    fs::write(place.path(), &bytes).unwrap();
    open().unwrap();
    let missing = RedbStorage::open(&place.path().with_extension("missing"));
    assert!(matches!(missing, Err(StorageError::NotOpened { .. })));
}

/// Whatever byte of the file is changed, the store says so or has what it had: no key signs in the place of another.
#[test]
fn a_changed_byte_is_noticed_or_means_nothing() {
    let place = Redb::new();
    let fixture = Fixture::new(&place);
    let key = fixture.key("k", "ML-DSA-44");
    let public = fixture
        .store
        .show(&user(), &key)
        .unwrap()
        .versions
        .remove(0)
        .public_key;
    drop(fixture);
    let bytes = fs::read(place.path()).unwrap();
    let used: Vec<usize> = (0..bytes.len()).filter(|at| bytes[*at] != 0).collect();
    let mut signed = 0;
    for at in used.iter().step_by(used.len() / 150 + 1) {
        let mut changed = bytes.clone();
        changed[*at] ^= 0x10;
        fs::write(place.path(), &changed).unwrap();
        let Ok(storage) = RedbStorage::open(&place.path()) else {
            continue;
        };
        let opened = Store::open(
            alloc::sync::Arc::new(storage),
            &kek(b"secret"),
            Default::default(),
        );
        let Ok(store) = opened else {
            continue;
        };
        if let Ok(made) = store.sign(&user(), &name("k"), Input::message(b"message")) {
            public.verify(b"message", &made.signature).unwrap();
            signed += 1;
        }
        if let Ok(report) = store.check(&admin(), &[]) {
            assert!(report.keys <= 1);
        }
    }
    assert!(signed > 0);
}
