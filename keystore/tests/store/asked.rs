//! What the storage is asked for those who have no right.

use alloc::sync::Arc;
use core::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use pq_keystore::policy::{Input, Policy};
use pq_keystore::storage::{MemoryStorage, RowKey, RowPrefix, Snapshot, Storage, StorageError};
use pq_keystore::{KeyName, Store, StoreError, StoreOptions};

use crate::around::{Around, Behaviour};
use crate::kit::{admin, kek, name, named, user};

/// A storage that counts how often it is asked for keys of this test, and that may be away.
#[derive(Default)]
struct Counting {
    storage: Arc<MemoryStorage>,
    asked: AtomicUsize,
    is_away: AtomicBool,
}

impl Behaviour for Counting {
    fn within(&self) -> Arc<dyn Storage> {
        self.storage.clone()
    }

    fn reach(&self) -> Result<(), StorageError> {
        match self.is_away.load(Ordering::SeqCst) {
            true => Err(StorageError::Away {
                storage: self.storage.description(),
                reason: "test".into(),
            }),
            false => Ok(()),
        }
    }

    fn get(&self, keys: &[RowKey]) -> Result<Snapshot, StorageError> {
        // The store's thread reads those in memory, of which there are two, together.
        let mut of_keys = keys.iter().filter(|key| RowPrefix::keys().matches(key));
        let only = of_keys.next().filter(|_| of_keys.next().is_none());
        if only.is_some_and(|key| key.as_str().contains("asked-")) {
            self.asked.fetch_add(1, Ordering::SeqCst);
        }
        self.storage.get(keys)
    }
}

/// Neither how often the storage is asked nor what is said while it is away tells whether there is a key.
#[test]
fn whoever_has_no_right_is_answered_alike_whether_there_is_a_key() {
    let storage = Arc::new(Around(Counting::default()));
    let options = StoreOptions::default();
    let store = Store::create(storage.clone(), &kek(b"secret"), &admin(), options).unwrap();
    let there = name("asked-there");
    let absent = name("asked-absent");
    for key in [&there, &name("other")] {
        let made = store.create_key(&admin(), key, named("ed25519"), &Policy::default());
        made.unwrap();
    }
    let asks: [fn(&Store, &KeyName) -> StoreError; 4] = [
        |store, name| store.show(&user(), name).unwrap_err(),
        |store, name| store.sign(&user(), name, Input::message(b"x")).unwrap_err(),
        |store, name| {
            store
                .set_policy(&user(), name, &Policy::default())
                .unwrap_err()
        },
        |store, name| store.rotate(&user(), name).unwrap_err(),
    ];
    for (number, ask) in asks.iter().enumerate() {
        let tell = |name| {
            let before = storage.asked.load(Ordering::SeqCst);
            let code = ask(&store, name).code();
            (code, storage.asked.load(Ordering::SeqCst) - before)
        };
        let told = tell(&there);
        assert_eq!(told.0, "denied");
        assert!(told.1 > 0, "{number}");
        assert_eq!(told, tell(&absent), "{number}");
        assert_eq!(told, tell(&there), "{number}");
        storage.is_away.store(true, Ordering::SeqCst);
        assert_eq!(ask(&store, &there).code(), ask(&store, &absent).code());
        storage.is_away.store(false, Ordering::SeqCst);
    }
}
