//! A store with a door, and short ways to ask it.

use alloc::sync::Arc;
use core::time::Duration;
use std::sync::Mutex;
use std::time::{SystemTime, UNIX_EPOCH};

use pq_keystore::door::{AccessList, Door, Request};
use pq_keystore::policy::{Principal, Verb, Verbs};
use pq_keystore::sealing::{Argon2Cost, PassphraseKek};
use pq_keystore::storage::{Change, Expected, MemoryStorage, RowChange, RowPrefix, Storage, Write};
use pq_keystore::{Scope, Store, StoreOptions};
use serde_json::Value;

/// The token of whoever may do everything.
pub(crate) const ROOT: &str = "root-token-0123456789";

/// The token of somebody who may do nothing.
pub(crate) const STRANGER: &str = "stranger-token-0123456789";

/// The certificate of whoever may do everything.
pub(crate) const CERTIFICATE: &[u8] = b"the DER of a certificate";

pub(crate) const NOW: u64 = 1_800_000_000;

/// A store in memory with a door.
pub(crate) struct House {
    pub(crate) store: Store,
    pub(crate) door: Arc<Door>,
    pub(crate) clock: Arc<Mutex<Duration>>,
}

fn kek() -> PassphraseKek {
    PassphraseKek::new(b"secret").cost(Argon2Cost {
        memory: 64,
        passes: 1,
        lanes: 1,
    })
}

pub(crate) fn principal(name: &str) -> Principal {
    Principal::new(name).unwrap()
}

impl House {
    pub(crate) fn new() -> Self {
        Self::with(&[])
    }

    /// With principals and what they may do with all keys. The token of each is its name and `-token`.
    pub(crate) fn with(principals: &[(&str, Verbs)]) -> Self {
        Self::in_storage(&Arc::new(MemoryStorage::new()), principals)
    }

    pub(crate) fn in_storage<S: Storage + 'static>(
        storage: &Arc<S>,
        principals: &[(&str, Verbs)],
    ) -> Self {
        let admin = principal("admin");
        let clock = Arc::new(Mutex::new(Duration::from_secs(NOW)));
        let options = options(&clock);
        let store = Store::create(storage.clone(), &kek(), &admin, options).unwrap();
        let mut grants = store.store_grants(&admin).unwrap();
        grants = grants.grant(&Scope::all(), &principal("root"), Verbs::all());
        for (name, verbs) in principals {
            grants = grants.grant(&Scope::all(), &principal(name), *verbs);
        }
        store.set_store_grants(&admin, &grants).unwrap();
        let door = door(&store, &clock, principals);
        Self { store, door, clock }
    }

    /// Two servers of one storage, as two processes would be.
    pub(crate) fn two() -> [Self; 2] {
        let storage = Arc::new(MemoryStorage::new());
        let first = Self::in_storage(&storage, &[]);
        let clock = first.clock.clone();
        let store = Store::open(storage, &kek(), options(&clock)).unwrap();
        let door = door(&store, &clock, &[]);
        [first, Self { store, door, clock }]
    }

    pub(crate) fn ask(&self, token: &str, method: &str, path: &str, body: &str) -> Answer {
        let (path, query) = match path.split_once('?') {
            Some((path, query)) => (path, Some(query)),
            None => (path, None),
        };
        let path = format!("/v1/transit/{path}");
        self.send(&Request {
            method,
            path: &path,
            query,
            vault_token: Some(token),
            body: body.as_bytes(),
            ..Request::default()
        })
    }

    pub(crate) fn send(&self, request: &Request<'_>) -> Answer {
        let response = self.door.answer(request);
        let body = match response.body.len() {
            0 => Value::Null,
            _ => serde_json::from_slice(&response.body).unwrap(),
        };
        Answer {
            status: response.status,
            body,
        }
    }

    pub(crate) fn post(&self, path: &str, body: &str) -> Answer {
        self.ask(ROOT, "POST", path, body)
    }

    pub(crate) fn get(&self, path: &str) -> Answer {
        self.ask(ROOT, "GET", path, "")
    }

    /// A new key of a type, which may be exported.
    pub(crate) fn create(&self, name: &str, key_type: &str) {
        let body = format!(r#"{{"type": {key_type:?}, "exportable": true}}"#);
        self.post(&format!("keys/{name}"), &body).expect(200);
    }

    /// A signature of `aGVsbG8=`.
    pub(crate) fn signature(&self, name: &str) -> String {
        let path = format!("sign/{name}");
        let signed = self.post(&path, r#"{"input": "aGVsbG8="}"#).expect(200);
        signed["data"]["signature"].as_str().unwrap().into()
    }

    /// Whether a signature of `aGVsbG8=` is valid.
    pub(crate) fn verifies(&self, name: &str, signature: &str) -> bool {
        let body = format!(r#"{{"input": "aGVsbG8=", "signature": {signature:?}}}"#);
        let verified = self.post(&format!("verify/{name}"), &body).expect(200);
        verified["data"]["valid"].as_bool().unwrap()
    }
}

fn options(clock: &Arc<Mutex<Duration>>) -> StoreOptions {
    let clock = clock.clone();
    StoreOptions::default().clock(move || -> SystemTime { UNIX_EPOCH + *clock.lock().unwrap() })
}

fn door(store: &Store, clock: &Arc<Mutex<Duration>>, principals: &[(&str, Verbs)]) -> Arc<Door> {
    let mut tokens = vec![
        ("root".to_owned(), ROOT.to_owned()),
        ("stranger".to_owned(), STRANGER.to_owned()),
    ];
    let named = principals
        .iter()
        .map(|(name, _)| ((*name).into(), format!("{name}-token")));
    tokens.extend(named);
    let mut text = String::new();
    for (name, token) in tokens {
        let digest = AccessList::digest(token.as_bytes());
        text += &format!("[[tokens]]\nsha256 = {digest:?}\nprincipal = {name:?}\n");
    }
    let digest = AccessList::digest(CERTIFICATE);
    text += &format!(
        "[[certificates]]\nsha256 = {digest:?}\nprincipal = \"root\"\nexpires = \"2027-01-15T08:01:00Z\"\n"
    );
    let access = AccessList::from_toml(&text).unwrap();
    let clock = clock.clone();
    Door::new(store.clone(), access)
        .mount("transit", "shop", "tokens")
        .unwrap()
        .clock(move || UNIX_EPOCH + *clock.lock().unwrap())
        .into()
}

/// What came back.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) body: Value,
}

impl Answer {
    #[track_caller]
    pub(crate) fn expect(self, status: u16) -> Value {
        assert_eq!(self.status, status, "{}", self.body);
        self.body
    }

    /// The error, of which there has to be one alone and nothing else.
    #[track_caller]
    pub(crate) fn error(self, status: u16) -> String {
        let body = self.expect(status);
        assert_eq!(body.as_object().unwrap().len(), 1, "{body}");
        let errors = body["errors"].as_array().unwrap();
        assert_eq!(errors.len(), 1, "{body}");
        errors[0].as_str().unwrap().into()
    }
}

/// A set of verbs.
pub(crate) fn grants(verbs: &[Verb]) -> Verbs {
    verbs.iter().copied().collect()
}

/// Changes the last byte of some rows behind the store's back, and waits until it is seen.
pub(crate) fn damage(storage: &MemoryStorage, rows: &[&str]) {
    let all = storage.list(&RowPrefix::all(), None, 1000).unwrap().rows;
    let all = all
        .into_iter()
        .filter(|(key, _)| rows.contains(&key.as_str()));
    let changes = all.map(|(key, row)| {
        let mut value = row.value.clone();
        *value.last_mut().unwrap() ^= 1;
        RowChange {
            key,
            expected: Expected::unchanged(Some(&row)),
            write: Write::Put(value),
        }
    });
    let change = Change {
        rows: changes.collect(),
        append: None,
    };
    assert_eq!(change.rows.len(), rows.len());
    storage.commit(&change).unwrap();
    std::thread::sleep(Duration::from_secs(2));
}
