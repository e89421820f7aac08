//! A storage whose answers come late.

use alloc::sync::Arc;
use core::time::Duration;
use std::sync::Mutex;
use std::thread;

use pq_keystore::policy::Role;
use pq_keystore::storage::{Change, CommitError, Committed, MemoryStorage, Storage};
use pq_keystore::{Scope, Store, StoreOptions};

use crate::around::{Around, Behaviour};
use crate::kit::{admin, kek, user};

type Between = Box<dyn FnOnce() + Send>;

/// A storage where something happens between a commit and its answer, once.
struct Late {
    storage: Arc<MemoryStorage>,
    between: Mutex<Option<Between>>,
}

impl Behaviour for Late {
    fn within(&self) -> Arc<dyn Storage> {
        self.storage.clone()
    }

    fn commit(&self, change: &Change) -> Result<Committed, CommitError> {
        let committed = self.storage.commit(change);
        let between = self.between.lock().unwrap().take();
        if let Some(between) = between {
            between();
        }
        committed
    }
}

#[test]
fn the_grants_in_memory_are_those_that_were_written_last() {
    let storage = Arc::new(MemoryStorage::new());
    let options = StoreOptions::default();
    let other = Store::create(storage.clone(), &kek(b"secret"), &admin(), options.clone());
    let other = other.unwrap();
    let late = Arc::new(Around(Late {
        storage,
        between: Mutex::default(),
    }));
    let store = Store::open(late.clone(), &kek(b"secret"), options).unwrap();
    let before = store.store_grants(&admin()).unwrap();
    let first = before
        .clone()
        .grant(&Scope::all(), &user(), Role::User.verbs());
    *late.between.lock().unwrap() = Some(Box::new({
        let before = before.clone();
        move || {
            other.set_store_grants(&admin(), &before).unwrap();
            // The thread of the other store's sees it meanwhile.
            thread::sleep(Duration::from_secs(2));
        }
    }));
    store.set_store_grants(&admin(), &first).unwrap();
    thread::sleep(Duration::from_secs(2));
    assert_eq!(store.store_grants(&admin()).unwrap(), before);
}
