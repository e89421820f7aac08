//! Storages whose contents are replaced under a store that is open: by an older copy, by one that went another way since,
//! and by another store.

use alloc::sync::Arc;
use core::time::Duration;
use std::sync::RwLock;
use std::thread;
use std::time::Instant;

use pq_keystore::policy::{Grants, Input, Role};
use pq_keystore::storage::{MemoryStorage, RowKey, Storage, copy};
use pq_keystore::{Scope, Store, StoreOptions};

use crate::around::{Around, Behaviour};
use crate::kit::{admin, code, kek, name, named, stranger, user, user_policy, version};

/// A storage whose contents can be replaced.
#[derive(Default)]
struct Contents(RwLock<Arc<MemoryStorage>>);

type Replaceable = Around<Contents>;

impl Contents {
    fn now(&self) -> Arc<MemoryStorage> {
        self.0.read().unwrap().clone()
    }

    fn replace(&self, other: Arc<MemoryStorage>) {
        *self.0.write().unwrap() = other;
    }

    fn copied(&self) -> Arc<MemoryStorage> {
        let copied = Arc::new(MemoryStorage::new());
        copy(&*self.now(), &*copied).unwrap();
        copied
    }
}

impl Behaviour for Contents {
    fn within(&self) -> Arc<dyn Storage> {
        self.now()
    }
}

fn opened(storage: Arc<dyn Storage>) -> Store {
    Store::open(storage, &kek(b"secret"), StoreOptions::default()).unwrap()
}

/// A store with a key that the user may use.
fn created(storage: Arc<dyn Storage>) -> Store {
    let options = StoreOptions::default();
    let store = Store::create(storage, &kek(b"secret"), &admin(), options).unwrap();
    make(&store, "key");
    store
}

fn make(store: &Store, text: &str) {
    let algorithm = named("Ed25519");
    let made = store.create_key(&admin(), &name(text), algorithm, &user_policy());
    made.unwrap();
}

fn sign(store: &Store) -> &'static str {
    code(store.sign(&user(), &name("key"), Input::message(b"message")))
}

/// Waits until something is so, as the thread of a store brings it about.
fn soon(what: &str, mut is_so: impl FnMut() -> bool) {
    let started = Instant::now();
    while !is_so() {
        assert!(started.elapsed() < Duration::from_secs(20), "{what}");
        thread::sleep(Duration::from_millis(20));
    }
}

/// Commits so often that the revisions of a storage are above those of others.
fn go_on(store: &Store, times: usize) {
    for number in 0..times {
        make(store, &format!("other-{number}"));
    }
}

#[test]
fn keys_of_a_copy_with_lower_revisions_are_those_of_the_copy() {
    let storage = Arc::new(Replaceable::default());
    let store = created(storage.clone());
    go_on(&store, 20);
    // The key's row gets a high revision, too.
    let policy = user_policy();
    store.set_policy(&admin(), &name("key"), &policy).unwrap();
    assert_eq!(sign(&store), "done");
    let restored = storage.copied();
    let there = opened(restored.clone());
    there
        .disable(&admin(), &name("key").at(version(1)))
        .unwrap();
    drop(there);
    storage.replace(restored);
    soon("the disabled version is refused", || sign(&store) != "done");
    assert_eq!(sign(&store), "no-enabled-version");
    // What is changed from now on is seen, too.
    store.enable(&admin(), &name("key").at(version(1))).unwrap();
    assert_eq!(sign(&store), "done");
    let there = opened(storage.now());
    let mut policy = user_policy();
    policy.grants = Grants::new();
    there.set_policy(&admin(), &name("key"), &policy).unwrap();
    soon("the revoked grant is refused", || sign(&store) == "denied");
}

#[test]
fn keys_of_a_copy_with_higher_revisions_are_those_of_the_copy() {
    let storage = Arc::new(Replaceable::default());
    let store = created(storage.clone());
    let copied = storage.copied();
    let there = opened(copied.clone());
    there
        .disable(&admin(), &name("key").at(version(1)))
        .unwrap();
    go_on(&there, 40);
    drop(there);
    // Here the key's row has a higher revision than there, and the storage a lower one.
    go_on(&store, 10);
    let policy = user_policy();
    store.set_policy(&admin(), &name("key"), &policy).unwrap();
    assert_eq!(sign(&store), "done");
    let head = |storage: &MemoryStorage| storage.get(&[]).unwrap();
    assert!(head(&copied).revision > head(&storage.now()).revision);
    storage.replace(copied);
    soon("the disabled version is refused", || sign(&store) != "done");
    assert_eq!(sign(&store), "no-enabled-version");
}

/// It has the same log, in which others went on.
#[test]
fn keys_of_a_copy_that_went_on_are_those_of_the_copy() {
    let storage = Arc::new(Replaceable::default());
    let store = created(storage.clone());
    go_on(&store, 10);
    let policy = user_policy();
    store.set_policy(&admin(), &name("key"), &policy).unwrap();
    assert_eq!(sign(&store), "done");
    // Its use is in the log.
    store.audit_log(&admin(), 1, 1).unwrap();
    let copied = storage.copied();
    let there = opened(copied.clone());
    let id = name("key").at(version(1));
    there.disable(&admin(), &id).unwrap();
    let row = |storage: &MemoryStorage| {
        let found = storage.get(&[RowKey::key(&name("key"))]).unwrap();
        (found.revision, found.rows[0].as_ref().unwrap().revision)
    };
    // The storage has a higher revision than before, and the key's row a lower one.
    let before = row(&storage.now());
    for number in 0..30 {
        make(&there, &format!("more-{number}"));
    }
    let now = row(&copied);
    assert!(now.0 > before.0 && now.1 < before.1, "{now:?} {before:?}");
    drop(there);
    storage.replace(copied);
    soon("the disabled version is refused", || sign(&store) != "done");
    assert_eq!(sign(&store), "no-enabled-version");
}

#[test]
fn grants_of_a_copy_are_those_of_the_copy() {
    let storage = Arc::new(Replaceable::default());
    let store = created(storage.clone());
    make(&store, "granted");
    let copied = storage.copied();
    let grants = store.store_grants(&admin()).unwrap();
    let more = grants.grant(&Scope::all(), &user(), Role::User.verbs());
    store.set_store_grants(&admin(), &more).unwrap();
    let mut policy = user_policy();
    policy.grants = Grants::new();
    store.set_policy(&admin(), &name("key"), &policy).unwrap();
    assert_eq!(sign(&store), "done");
    let there = opened(copied.clone());
    there.set_policy(&admin(), &name("key"), &policy).unwrap();
    drop(there);
    storage.replace(copied);
    soon("the grant is gone", || sign(&store) == "denied");
}

#[test]
fn nothing_is_written_into_another_store() {
    let storage = Arc::new(Replaceable::default());
    let store = created(storage.clone());
    assert_eq!(sign(&store), "done");
    let other = Arc::new(MemoryStorage::new());
    drop(created(other.clone()));
    let before = other.get(&[]).unwrap();
    storage.replace(other.clone());
    // Uses and refusals are counted, and not written there.
    sign(&store);
    let signed = store.sign(&stranger(), &name("key"), Input::message(b"message"));
    assert_ne!(code(signed), "done");
    let algorithm = named("Ed25519");
    let made = store.create_key(&admin(), &name("new"), algorithm, &user_policy());
    assert_eq!(code(made), "other-store");
    assert_eq!(code(store.audit_log(&admin(), 1, 1)), "other-store");
    drop(store);
    assert_eq!(other.get(&[]).unwrap(), before);
    opened(other).check(&admin(), &[]).unwrap();
}
