//! Storages that are copied.

use alloc::sync::Arc;
use core::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use pq_keys::any::AnyAlgorithm;
use pq_keystore::policy::Policy;
use pq_keystore::storage::{
    Change, CommitError, Committed, CopyError, LogEntry, MemoryStorage, Storage, StorageError, copy,
};
use pq_keystore::{Store, StoreError, StoreOptions};

use crate::around::{Around, Behaviour};
use crate::kit::{Fixture, admin, kek};
use crate::places::{Memory, Place};

/// A storage in which somebody makes a key as soon as its log is read.
struct Busy {
    storage: Arc<dyn Storage>,
    store: Store,
    is_changed: AtomicBool,
}

impl Behaviour for Busy {
    fn within(&self) -> Arc<dyn Storage> {
        self.storage.clone()
    }

    fn entries(&self, from: u64, limit: usize) -> Result<Vec<LogEntry>, StorageError> {
        if !self.is_changed.swap(true, Ordering::Relaxed) {
            make(&self.store, "t/p/late");
        }
        self.storage.entries(from, limit)
    }
}

fn make(store: &Store, name: &str) {
    let algorithm = AnyAlgorithm::named("Ed25519").unwrap();
    store
        .create_key(
            &admin(),
            &name.parse().unwrap(),
            algorithm,
            &Policy::default(),
        )
        .unwrap();
}

/// More keys than one page and one commit have, and a log that is longer than one commit's.
#[test]
fn a_copy_is_the_same_store() {
    let fixture = Fixture::new(&Memory::new());
    for number in 0..300 {
        make(&fixture.store, &format!("t/p/{number:03}"));
    }
    let head = fixture.store.signed_head(&admin()).unwrap();
    let other: Arc<dyn Storage> = Arc::new(MemoryStorage::new());
    let copied = copy(&*fixture.storage, &*other).unwrap();
    // 128 rows of the index, three of the store, and two of each key.
    assert_eq!(copied.rows, 128 + 3 + 600);
    assert_eq!(copied.head, head.head);
    let store = Store::open(other.clone(), &kek(b"secret"), fixture.clock.options()).unwrap();
    let report = store.check(&admin(), &[head]).unwrap();
    assert_eq!((report.keys, report.versions), (300, 300));
    assert!(report.damaged.is_empty());
    // There is a store already.
    let twice = copy(&*fixture.storage, &*other);
    assert!(matches!(twice, Err(CopyError::NotEmpty(_))), "{twice:?}");
}

#[test]
fn a_storage_that_is_changed_meanwhile_gives_no_store() {
    let Fixture {
        storage,
        store,
        clock,
        ..
    } = Fixture::new(&Memory::new());
    let busy = Around(Busy {
        storage,
        store,
        is_changed: AtomicBool::new(false),
    });
    let other: Arc<dyn Storage> = Arc::new(MemoryStorage::new());
    let copied = copy(&busy, &*other);
    assert!(matches!(copied, Err(CopyError::Changed(_))), "{copied:?}");
    let opened = Store::open(other, &kek(b"secret"), clock.options());
    assert!(matches!(opened, Err(StoreError::Unfinished(_))));
}

/// A storage that fails after some commits.
struct Failing {
    storage: Arc<dyn Storage>,
    commits: AtomicUsize,
}

impl Behaviour for Failing {
    fn within(&self) -> Arc<dyn Storage> {
        self.storage.clone()
    }

    fn commit(&self, change: &Change) -> Result<Committed, CommitError> {
        match self.commits.fetch_sub(1, Ordering::Relaxed) {
            0 => panic!("the process ends here"),
            1 => Err(CommitError::Storage(StorageError::Limit("no more"))),
            _ => self.storage.commit(change),
        }
    }
}

/// Wherever a copy ended, what there is of it is called that, and the same copy goes on; another one takes nothing of it.
#[test]
fn an_interrupted_copy_goes_on() {
    let fixture = Fixture::new(&Memory::new());
    for number in 0..150 {
        make(&fixture.store, &format!("t/p/{number:03}"));
    }
    let head = fixture.store.signed_head(&admin()).unwrap();
    let other = Fixture::new(&Memory::new());
    let mut interrupted = 0;
    for commits in 2.. {
        let storage: Arc<dyn Storage> = Arc::new(MemoryStorage::new());
        let failing = Around(Failing {
            storage: storage.clone(),
            commits: AtomicUsize::new(commits),
        });
        if copy(&*fixture.storage, &failing).is_ok() {
            break;
        }
        interrupted += 1;
        let opened = Store::open(storage.clone(), &kek(b"secret"), fixture.clock.options());
        assert!(matches!(opened, Err(StoreError::Unfinished(_))));
        let made = Store::create(
            storage.clone(),
            &kek(b"secret"),
            &admin(),
            StoreOptions::default(),
        );
        assert!(matches!(made, Err(StoreError::Unfinished(_))));
        let mixed = copy(&*other.storage, &*storage);
        assert!(matches!(mixed, Err(CopyError::OtherCopy(_))), "{mixed:?}");
        let copied = copy(&*fixture.storage, &*storage).unwrap();
        assert_eq!((copied.rows, copied.head), (128 + 3 + 300, head.head));
        let store = Store::open(storage, &kek(b"secret"), fixture.clock.options()).unwrap();
        let report = store.check(&admin(), core::slice::from_ref(&head)).unwrap();
        assert!(report.damaged.is_empty() && report.keys == 150);
    }
    // rows, the log, and what makes it a store
    assert!(interrupted >= 3, "{interrupted}");
}
