//! A store of keys, whose rows are taken out, changed, and put into a storage again.

use std::collections::BTreeSet;
use std::sync::{Arc, LazyLock};

use pq_keys::any::{AnyAlgorithm, AnyPrivateKey, AnyPublicKey, AnySigningKey};
use pq_keystore::custody::{ObjectId, Token, TokenError, TokenInput, TokenName, TokenSerial};
use pq_keystore::policy::{Grants, Input, Policy, Principal, Role};
use pq_keystore::storage::{
    Append, Change, Expected, LogEntry, LogHead, MemoryStorage, RowChange, RowKey, RowPrefix,
    Storage, Write,
};
use pq_keystore::{KeyName, Store, StoreError, StoreOptions, Version};
use zeroize::Zeroizing;

use forging::{Forger, OpenKek};

// The store's own tests forge rows, too.
#[path = "../../keystore/tests/store/forging.rs"]
mod forging;

pub const MESSAGE: &[u8] = b"message";

/// The store as it was made: with three keys, whose rows stand in different rows of the index, and of which one has a
/// version in a token.
pub static HOUSE: LazyLock<House> = LazyLock::new(|| {
    loop {
        // Which rows of the index they have, a secret of the store says.
        if let Some(house) = House::new().expect("a store in memory") {
            return house;
        }
    }
});

pub struct House {
    /// All rows, and those of keys and versions first.
    pub rows: Vec<(RowKey, Vec<u8>)>,
    /// The log, which has some entries of each kind.
    pub log: Vec<LogEntry>,
    pub keys: [KeyName; 3],
    /// A signature by the first version of each key.
    pub signatures: [Vec<u8>; 3],
    kek: OpenKek,
    forger: Forger,
    token: Arc<Drawer>,
}

/// A token with one key of Ed25519, which it has made each time. So it keeps nothing of what runs make.
struct Drawer(AnyPrivateKey);

impl Token for Drawer {
    fn generate(
        &self,
        algorithm: AnyAlgorithm,
        _: &ObjectId,
        _: &str,
    ) -> Result<AnyPublicKey, TokenError> {
        assert_eq!(algorithm, self.0.algorithm());
        Ok(self.0.public_half())
    }

    fn sign(&self, request: &TokenInput<'_>) -> Result<Vec<u8>, TokenError> {
        let Input::Message { message, .. } = request.input else {
            panic!("keys of Ed25519 sign messages");
        };
        let key = AnySigningKey::try_from(self.0.clone()).expect("a key that signs");
        Ok(key.sign(message).expect("a signature"))
    }

    fn decapsulate(&self, object: &ObjectId, _: &[u8]) -> Result<Zeroizing<[u8; 32]>, TokenError> {
        Err(TokenError::NoObject(*object))
    }

    fn destroy(&self, _: &ObjectId) -> Result<(), TokenError> {
        Ok(())
    }

    fn objects(&self, _: [u8; 16]) -> Result<Vec<ObjectId>, TokenError> {
        Ok(Vec::new())
    }

    fn private_keys(&self, _: &ObjectId) -> Result<usize, TokenError> {
        Ok(1)
    }

    fn serial(&self) -> Result<Option<TokenSerial>, TokenError> {
        Ok(TokenSerial::new("1"))
    }

    fn description(&self) -> String {
        "a drawer".into()
    }
}

/// The options of the store, which has a token.
fn with_token(token: &Arc<Drawer>) -> StoreOptions {
    StoreOptions::default().token(drawer(), token.clone())
}

fn drawer() -> TokenName {
    "drawer".parse().expect("a name")
}

/// Whoever may do everything.
pub fn somebody() -> Principal {
    Principal::new("somebody").expect("a name")
}

impl House {
    /// `None` if two keys stand in one row of the index.
    fn new() -> Result<Option<Self>, StoreError> {
        let storage = Arc::new(MemoryStorage::new());
        let (kek, who) = (OpenKek::default(), somebody());
        let ed25519 = AnyAlgorithm::named("Ed25519").expect("known");
        let token = Arc::new(Drawer(AnyPrivateKey::generate(ed25519)?));
        let store = Store::create(storage.clone(), &kek, &who, with_token(&token))?;
        let keys = ["a", "b", "c"].map(|name| KeyName::new("t", "p", name).expect("a name"));
        let mut policy = Policy::default();
        policy.destroy_after = core::time::Duration::ZERO;
        policy.grants = Grants::new().grant(&who, Role::User.verbs());
        let mut signatures = [const { Vec::new() }; 3];
        let mut index_rows = BTreeSet::new();
        for ((name, algorithm), signature) in keys
            .iter()
            .zip(["ML-DSA-44", "Ed25519", "Ed25519"])
            .zip(&mut signatures)
        {
            let algorithm = AnyAlgorithm::named(algorithm).expect("known");
            let before = storage.list(&RowPrefix::all(), None, 1000)?.rows;
            store.create_key(&who, name, algorithm, &policy)?;
            let after = storage.list(&RowPrefix::all(), None, 1000)?.rows;
            let changed = after.into_iter().filter(|row| !before.contains(row));
            let changed = changed.map(|(key, _)| key);
            index_rows.extend(changed.filter(|key| key.as_str().starts_with("index/")));
            *signature = store.sign(&who, name, Input::message(MESSAGE))?.signature;
            match name == &keys[1] {
                true => store.rotate_to(&who, name, Some(&drawer()))?,
                false => store.rotate(&who, name)?,
            };
        }
        let old = keys[2].at(Version::FIRST);
        store.schedule_destruction(&who, &old, core::time::Duration::ZERO)?;
        store.destroy(&who, &old)?;
        // An entry of a refusal, and counts.
        let stranger = Principal::new("stranger").expect("a name");
        let refused = store.rotate(&stranger, &keys[0]);
        assert!(matches!(refused, Err(StoreError::Denied { .. })));
        store.audit_log(&who, 1, 1)?;
        if index_rows.len() < keys.len() {
            return Ok(None);
        }
        let forger = Forger::new(&store, &kek);
        drop(store);
        let is_of_key = |key: &RowKey| key.as_str().contains("/t/p/");
        let mut rows = storage.list(&RowPrefix::all(), None, 1000)?.rows;
        rows.sort_by_key(|(key, _)| !is_of_key(key));
        Ok(Some(Self {
            rows: rows
                .into_iter()
                .map(|(key, row)| (key, row.value))
                .collect(),
            log: storage.entries(1, 1000)?,
            keys,
            signatures,
            kek,
            forger,
            token,
        }))
    }

    /// Another value of a row: without its MAC, changed, and with the right one.
    pub fn forged(
        &self,
        key: &RowKey,
        value: &[u8],
        change: impl FnOnce(&[u8]) -> Vec<u8>,
    ) -> Vec<u8> {
        let (record, _) = value.split_at(value.len() - forging::TAG_LEN);
        self.forger.value(key, &change(record))
    }

    /// A storage with these rows and this log, as if they had been written at once.
    pub fn storage(&self, rows: &[(RowKey, Vec<u8>)], log: &[LogEntry]) -> Arc<MemoryStorage> {
        let storage = Arc::new(MemoryStorage::new());
        let put = |(key, value): &(RowKey, Vec<u8>)| RowChange {
            key: key.clone(),
            expected: Expected::Absent,
            write: Write::Put(value.clone()),
        };
        let change = Change {
            rows: rows.iter().map(put).collect(),
            append: Some(Append {
                after: LogHead::EMPTY,
                entries: log.to_vec(),
            }),
        };
        storage.commit(&change).expect("an empty storage");
        storage
    }

    /// Opens the store in a storage.
    pub fn open(&self, storage: Arc<MemoryStorage>) -> Result<Store, StoreError> {
        Store::open(storage, &self.kek, with_token(&self.token))
    }
}
