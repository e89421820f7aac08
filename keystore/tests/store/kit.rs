//! What the suites share: a store with an administrator and a user, and ways to look at its rows.

use alloc::sync::Arc;
use core::time::Duration;
use std::sync::Mutex;
use std::time::{SystemTime, UNIX_EPOCH};

use pq_keys::any::AnyAlgorithm;
use pq_keystore::audit::Outcome;
use pq_keystore::custody::TokenName;
use pq_keystore::policy::{Grants, Input, Policy, Principal, Role, Verb};
use pq_keystore::sealing::{Argon2Cost, Kek, PassphraseKek};
use pq_keystore::storage::{Change, Expected, Row, RowChange, RowKey, RowPrefix, Storage, Write};
use pq_keystore::{KeyId, KeyName, Store, StoreError, StoreOptions, Version};

use crate::places::Place;

/// Whoever administers the stores of tests.
pub(crate) fn admin() -> Principal {
    Principal::new("admin").unwrap()
}

/// Whoever uses their keys.
pub(crate) fn user() -> Principal {
    Principal::new("user").unwrap()
}

/// Whoever may do nothing.
pub(crate) fn stranger() -> Principal {
    Principal::new("stranger").unwrap()
}

pub(crate) fn kek(passphrase: &[u8]) -> PassphraseKek {
    PassphraseKek::new(passphrase).cost(Argon2Cost {
        memory: 64,
        passes: 1,
        lanes: 1,
    })
}

/// A clock that stands still until it is set, and what a store is opened with beside it.
#[derive(Clone)]
pub(crate) struct Clock {
    time: Arc<Mutex<Duration>>,
    options: StoreOptions,
}

impl Clock {
    pub(crate) fn new(options: StoreOptions) -> Self {
        Self {
            time: Arc::new(Mutex::new(Duration::from_secs(1_800_000_000))),
            options,
        }
    }

    pub(crate) fn now(&self) -> SystemTime {
        UNIX_EPOCH + *self.time.lock().unwrap()
    }

    pub(crate) fn advance(&self, time: Duration) {
        *self.time.lock().unwrap() += time;
    }

    pub(crate) fn set_back(&self, time: Duration) {
        *self.time.lock().unwrap() -= time;
    }

    pub(crate) fn options(&self) -> StoreOptions {
        let clock = self.time.clone();
        let now = move || -> SystemTime { UNIX_EPOCH + *clock.lock().unwrap() };
        self.options.clone().clock(now)
    }
}

/// A store in a place of its own.
pub(crate) struct Fixture {
    pub(crate) storage: Arc<dyn Storage>,
    pub(crate) store: Store,
    pub(crate) clock: Clock,
    /// In which token keys are made, if in any.
    pub(crate) token: Option<TokenName>,
    /// What stands for an algorithm here.
    stand_in: fn(&'static str) -> Option<&'static str>,
}

impl Fixture {
    pub(crate) fn new<P: Place>(place: &P) -> Self {
        Self::under(&kek(b"secret"), place)
    }

    /// A store under another KEK.
    pub(crate) fn under<P: Place>(kek: &dyn Kek, place: &P) -> Self {
        let (storage, clock) = (place.open(), Clock::new(place.options()));
        let store = Store::create(storage.clone(), kek, &admin(), clock.options());
        Self {
            storage,
            store: store.unwrap(),
            clock,
            token: place.token(),
            stand_in: P::algorithm,
        }
    }

    /// The store that is at a place.
    pub(crate) fn opened<P: Place>(place: &P) -> Self {
        let (storage, clock) = (place.open(), Clock::new(place.options()));
        let store = Store::open(storage.clone(), &kek(b"secret"), clock.options());
        Self {
            storage,
            store: store.unwrap(),
            clock,
            token: place.token(),
            stand_in: P::algorithm,
        }
    }

    /// The store, opened again over the same storage. What is in memory is gone.
    pub(crate) fn reopened(self) -> Self {
        let Self {
            storage,
            store,
            clock,
            token,
            stand_in,
        } = self;
        drop(store);
        let store = Store::open(storage.clone(), &kek(b"secret"), clock.options()).unwrap();
        Self {
            storage,
            store,
            clock,
            token,
            stand_in,
        }
    }

    /// What stands for an algorithm here, or `None` if there are no such keys.
    pub(crate) fn stand_in(&self, algorithm: &'static str) -> Option<&'static str> {
        (self.stand_in)(algorithm)
    }

    /// A new key, which the user may use.
    pub(crate) fn key(&self, text: &str, algorithm: &'static str) -> KeyName {
        self.key_with(text, algorithm, |_| {})
    }

    /// A new key with another policy.
    pub(crate) fn key_with(
        &self,
        text: &str,
        algorithm: &'static str,
        change: impl FnOnce(&mut Policy),
    ) -> KeyName {
        let mut policy = user_policy();
        change(&mut policy);
        let name = name(text);
        let algorithm = named(self.stand_in(algorithm).unwrap());
        let store = &self.store;
        let id = match &self.token {
            None => store.create_key(&admin(), &name, algorithm, &policy),
            Some(token) => store.create_key_in(&admin(), &name, algorithm, &policy, token),
        };
        let id = id.unwrap();
        assert_eq!(id, name.at(Version::FIRST));
        name
    }

    pub(crate) fn sign(&self, name: &KeyName, message: &[u8]) -> pq_keystore::Signed {
        self.store
            .sign(&user(), name, Input::message(message))
            .unwrap()
    }

    pub(crate) fn verify(
        &self,
        id: &KeyId,
        message: &[u8],
        signature: &[u8],
    ) -> Result<KeyId, StoreError> {
        let version = Some(id.version());
        self.store.verify(
            &user(),
            id.name(),
            version,
            Input::message(message),
            signature,
        )
    }

    pub(crate) fn row(&self, key: &RowKey) -> Row {
        let found = self.storage.get(core::slice::from_ref(key)).unwrap().rows;
        found.into_iter().next().flatten().unwrap()
    }

    /// Writes to the storage behind the store's back.
    pub(crate) fn write(&self, key: &RowKey, write: Write) {
        let found = self.storage.get(core::slice::from_ref(key)).unwrap().rows;
        let change = Change {
            rows: vec![RowChange {
                key: key.clone(),
                expected: Expected::unchanged(found[0].as_ref()),
                write,
            }],
            append: None,
        };
        self.storage.commit(&change).unwrap();
    }

    /// All rows of the storage, which are few.
    pub(crate) fn rows(&self) -> Vec<(RowKey, Row)> {
        let keys = [RowKey::kek(), RowKey::store(), RowKey::clock()];
        let mut rows: Vec<_> = keys
            .iter()
            .map(|key| (key.clone(), self.row(key)))
            .collect();
        rows.extend(
            self.storage
                .list(&RowPrefix::keys(), None, 1000)
                .unwrap()
                .rows,
        );
        for (key, _) in rows.clone() {
            if let Some(name) = key.as_str().strip_prefix("key/") {
                let prefix = RowPrefix::versions(&name.parse().unwrap());
                rows.extend(self.storage.list(&prefix, None, 1000).unwrap().rows);
            }
        }
        rows
    }
}

pub(crate) fn user_policy() -> Policy {
    let mut policy = Policy::default();
    policy.grants = Grants::new().grant(&user(), Role::User.verbs());
    policy
}

pub(crate) fn named(algorithm: &str) -> AnyAlgorithm {
    AnyAlgorithm::named(algorithm).unwrap()
}

pub(crate) fn name(text: &str) -> KeyName {
    KeyName::new("t", "p", text).unwrap()
}

pub(crate) fn version(number: u32) -> Version {
    Version::new(number).unwrap()
}

/// The code of a refusal.
pub(crate) fn code<T>(result: Result<T, StoreError>) -> &'static str {
    result.err().map_or("done", |error| error.code())
}

/// How often a verb was used by this log, in a way that succeeded.
pub(crate) fn counted(store: &Store, verb: Verb) -> u64 {
    let (mut counted, mut from) = (0, 1);
    loop {
        let entries = store.audit_log(&admin(), from, 1000).unwrap();
        let Some(last) = entries.last() else {
            return counted;
        };
        from = last.sequence + 1;
        let of = entries.iter();
        let of = of.filter(|entry| entry.verb == verb && entry.outcome == Outcome::Done);
        counted += of.map(|entry| entry.count).sum::<u64>();
    }
}
