//! More of everything than one page, one change or one look has: keys, versions and grants. And those at the limits.

use alloc::sync::Arc;
use core::sync::atomic::{AtomicBool, Ordering};
use core::time::Duration;
use std::sync::Mutex;
use std::thread;
use std::time::Instant;

use pq_keystore::policy::{Input, Policy, Principal, Verb};
use pq_keystore::storage::{MemoryStorage, RowKey, Snapshot, Storage, StorageError};
use pq_keystore::{KeyName, Scope, Store, StoreOptions, VersionState};

use crate::around::{Around, Behaviour};
use crate::kit::{Fixture, admin, code, kek, name, named, user, user_policy, version};
use crate::places::{Memory, Place};

/// More than the keys, or the versions, that are read at once.
const MANY: u32 = 130;

fn make(fixture: &Fixture, change: impl Fn(&mut Policy)) -> Vec<KeyName> {
    (0..MANY)
        .map(|number| fixture.key_with(&format!("k{number:03}"), "Ed25519", &change))
        .collect()
}

/// However many keys a store has in memory, it sees what others changed of each of them.
#[test]
fn changes_of_many_keys_are_seen() {
    let fixture = Fixture::new(&Memory::new());
    let keys = make(&fixture, |_| {});
    let storage = fixture.storage.clone();
    let other = Store::open(storage, &kek(b"secret"), fixture.clock.options()).unwrap();
    let sign = |key| code(other.sign(&user(), key, Input::message(b"message")));
    for key in &keys {
        assert_eq!(sign(key), "done");
    }
    for key in &keys {
        let id = key.at(version(1));
        fixture.store.disable(&admin(), &id).unwrap();
    }
    let started = Instant::now();
    for key in &keys {
        while sign(key) != "no-enabled-version" {
            assert!(started.elapsed() < Duration::from_secs(60), "{key}");
            thread::sleep(Duration::from_millis(20));
        }
    }
}

#[test]
fn many_keys_are_rotated_when_they_are_due() {
    let fixture = Fixture::new(&Memory::new());
    let day = Duration::from_secs(24 * 60 * 60);
    let keys = make(&fixture, |policy| policy.rotate_after = Some(day));
    fixture.clock.advance(day);
    let rotated = fixture.store.rotate_due(&admin()).unwrap();
    let rotated: Vec<_> = rotated
        .into_iter()
        .map(|rotated| rotated.result.unwrap())
        .collect();
    let expected: Vec<_> = keys.iter().map(|key| key.at(version(2))).collect();
    assert_eq!(rotated, expected);
}

/// A key with many versions is shown, attested, checked and trimmed with all of them.
#[test]
fn a_key_has_many_versions() {
    let fixture = Fixture::new(&Memory::new());
    let (store, key) = (&fixture.store, fixture.key("k", "Ed25519"));
    let all = 2 * MANY;
    for _ in 1..all {
        store.rotate(&admin(), &key).unwrap();
    }
    let numbers = || -> Vec<_> {
        let shown = store.show(&admin(), &key).unwrap().versions;
        let shown: Vec<_> = shown.iter().map(|found| found.version.get()).collect();
        let attested = store.attest(&admin(), &key).unwrap().versions;
        let attested: Vec<_> = attested.iter().map(|found| found.version.get()).collect();
        assert_eq!(shown, attested);
        let report = store.check(&admin(), &[]).unwrap();
        assert!(report.damaged.is_empty(), "{:?}", report.damaged);
        assert_eq!(report.versions, shown.len());
        shown
    };
    assert_eq!(numbers(), (1..=all).collect::<Vec<_>>());
    let mut policy = user_policy();
    policy.min_version = version(all - 2);
    store.set_policy(&admin(), &key, &policy).unwrap();
    store.trim(&admin(), &key, version(all - 2)).unwrap();
    assert_eq!(numbers(), [all - 2, all - 1, all]);
}

type Between = Box<dyn FnOnce() + Send>;

/// A storage where something happens after rows of versions were read, once.
struct Interrupted {
    storage: Arc<dyn Storage>,
    between: Mutex<Option<Between>>,
}

impl Behaviour for Interrupted {
    fn within(&self) -> Arc<dyn Storage> {
        self.storage.clone()
    }

    fn get(&self, keys: &[RowKey]) -> Result<Snapshot, StorageError> {
        let read = self.storage.get(keys);
        if keys.iter().any(|key| key.as_str().starts_with("version/"))
            && let Some(between) = self.between.lock().unwrap().take()
        {
            between();
        }
        read
    }
}

/// What is shown and attested of a key is of one moment, though it is read in parts.
#[test]
fn what_is_read_in_parts_is_of_one_moment() {
    let fixture = Fixture::new(&Memory::new());
    let key = fixture.key("k", "Ed25519");
    for _ in 1..MANY {
        fixture.store.rotate(&admin(), &key).unwrap();
    }
    let interrupted = Arc::new(Around(Interrupted {
        storage: fixture.storage.clone(),
        between: Mutex::default(),
    }));
    let options = fixture.clock.options();
    let store = Store::open(interrupted.clone(), &kek(b"secret"), options).unwrap();
    let states = |versions: &[VersionState]| {
        let disabled = |state: &&VersionState| **state == VersionState::Disabled;
        (versions.len(), versions.iter().filter(disabled).count())
    };
    for (number, is_attested) in [(1, true), (MANY, true), (2, false), (MANY - 1, false)] {
        let (other, id) = (fixture.store.clone(), key.at(version(number)));
        let disable = move || other.disable(&admin(), &id).unwrap();
        *interrupted.between.lock().unwrap() = Some(Box::new(disable));
        let before = fixture.storage.get(&[]).unwrap().head.sequence;
        let (head, found) = match is_attested {
            true => {
                let attested = store.attest(&admin(), &key).unwrap();
                let states = attested.versions.iter().map(|found| found.state);
                // The log of that moment has the attestation and the change.
                (attested.head.sequence - before, states.collect::<Vec<_>>())
            }
            false => {
                let shown = store.show(&admin(), &key).unwrap().versions;
                (2, shown.iter().map(|found| found.state).collect())
            }
        };
        assert!(interrupted.between.lock().unwrap().is_none());
        assert_eq!(head, 2);
        let now = fixture.store.show(&admin(), &key).unwrap().versions;
        let now: Vec<_> = now.iter().map(|found| found.state).collect();
        assert_eq!(states(&found), states(&now), "version {number}");
    }
}

/// A storage that can go away.
#[derive(Default)]
struct Leaving {
    storage: Arc<MemoryStorage>,
    is_away: AtomicBool,
}

impl Behaviour for Leaving {
    fn within(&self) -> Arc<dyn Storage> {
        self.storage.clone()
    }

    fn reach(&self) -> Result<(), StorageError> {
        match self.is_away.load(Ordering::Acquire) {
            true => Err(StorageError::Away {
                storage: self.storage.description(),
                reason: "nobody answers".into(),
            }),
            false => Ok(()),
        }
    }
}

/// As many keys are in memory as were asked for: those that were used last.
#[test]
fn the_keys_that_were_used_last_are_in_memory() {
    let storage = Arc::new(Around::<Leaving>::default());
    let options = StoreOptions::default().cached_keys(2);
    let store = Store::create(storage.clone(), &kek(b"secret"), &admin(), options).unwrap();
    for key in ["a", "b", "c"] {
        let made = store.create_key(&admin(), &name(key), named("Ed25519"), &user_policy());
        made.unwrap();
    }
    let sign = |key| code(store.sign(&user(), &name(key), Input::message(b"message")));
    // c came before a, and was used after it.
    for key in ["c", "a", "c", "b"] {
        assert_eq!(sign(key), "done");
    }
    storage.is_away.store(true, Ordering::Release);
    assert_eq!(["a", "b", "c"].map(sign), ["away", "done", "done"]);
}

/// Only the keys of those scopes are listed where somebody may list.
#[test]
fn keys_of_other_scopes_are_not_listed() {
    let fixture = Fixture::new(&Memory::new());
    let store = &fixture.store;
    let names = ["t/p/a", "t/p/b", "t/q/a", "u/p/a"];
    for text in names {
        let made = store.create_key(
            &admin(),
            &text.parse().unwrap(),
            named("Ed25519"),
            &Policy::default(),
        );
        made.unwrap();
    }
    let principal =
        |scope: &str| Principal::new(&format!("of-{}", scope.replace('/', "-"))).unwrap();
    let scopes = [
        ("*", &names[..]),
        ("t/*", &names[..3]),
        ("t/p/*", &names[..2]),
        ("u/*", &names[3..]),
        ("u/q/*", &[]),
    ];
    let mut grants = store.store_grants(&admin()).unwrap();
    for (scope, _) in scopes {
        let of = scope.parse::<Scope>().unwrap();
        grants = grants.grant(&of, &principal(scope), Verb::List);
    }
    store.set_store_grants(&admin(), &grants).unwrap();
    for (scope, expected) in scopes {
        for tenant in [None, Some("t"), Some("u")] {
            let page = store.list(&principal(scope), tenant, None, 100).unwrap();
            let found: Vec<_> = page.keys.iter().map(|key| key.name.to_string()).collect();
            let expected: Vec<_> = expected
                .iter()
                .filter(|name| tenant.is_none_or(|tenant| name.starts_with(tenant)))
                .collect();
            assert_eq!(
                found.iter().collect::<Vec<_>>(),
                expected,
                "{scope} {tenant:?}"
            );
        }
    }
}

/// A store takes no more grants than its record has room for, whoever they are for.
#[test]
fn grants_are_bounded() {
    let fixture = Fixture::new(&Memory::new());
    let store = &fixture.store;
    let begun = store.store_grants(&admin()).unwrap();
    let of_everybody = |grants: pq_keystore::StoreGrants, number: usize| {
        let scope = format!("t{number}/*").parse().unwrap();
        grants.grant_anyone(&scope, Verb::Show)
    };
    let of_one = |grants: pq_keystore::StoreGrants, number: usize| {
        let one = Principal::new(&format!("p{number}")).unwrap();
        grants.grant(&Scope::all(), &one, Verb::Show)
    };
    // The administrator is the first.
    for (count, expected) in [(127, "done"), (128, "policy"), (1_000, "policy")] {
        for grants in [
            (0..count).fold(begun.clone(), of_everybody),
            (0..count).fold(begun.clone(), of_one),
        ] {
            assert_eq!(code(store.set_store_grants(&admin(), &grants)), expected);
        }
    }
    let fixture = fixture.reopened();
    assert!(
        fixture
            .store
            .check(&admin(), &[])
            .unwrap()
            .damaged
            .is_empty()
    );
}
