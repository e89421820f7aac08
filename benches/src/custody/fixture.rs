//! What is signed, by which key, in which store.

use alloc::sync::Arc;
use core::error::Error;
use core::hint::black_box;

use pq_keys::any::AnyPrivateKey;
use pq_keys::{PrivateKey, SignatureAlgorithm, SigningKey, VerifyingKey};
use pq_keystore::policy::{Grants, Input, Policy, Principal, Role};
use pq_keystore::sealing::PassphraseKek;
use pq_keystore::storage::{MemoryStorage, RedbStorage, Storage};
use pq_keystore::{KeyName, Store, StoreOptions, VerifyRequest, Version};
use tempfile::TempDir;

use crate::schemes::inputs::bytes;

/// How many messages there are, as for ML-DSA elsewhere.
pub(super) const MESSAGES: usize = 256;

/// As long as what a TLS server signs.
pub(super) type Message = [u8; 130];

pub(super) fn messages() -> Vec<Message> {
    (0..MESSAGES).map(|index| bytes("message", index)).collect()
}

/// A key in both forms that operations take.
#[derive(Clone)]
pub(super) struct Key {
    pub(super) signing: SigningKey,
    /// Expanded, as a store keeps it.
    pub(super) verifying: VerifyingKey,
}

/// A message with its signature.
pub(super) type Signed = (Message, Vec<u8>);

impl Key {
    /// The first messages with their signatures.
    pub(super) fn signed(&self, number: usize) -> Result<Vec<Signed>, Box<dyn Error>> {
        let messages = messages().into_iter().take(number);
        messages
            .map(|message| Ok((message, self.signing.sign(&message)?)))
            .collect()
    }

    /// Signs a message.
    pub(super) fn sign(&self, message: &Message) {
        black_box(self.signing.sign(black_box(message))).expect("there is randomness");
    }

    pub(super) fn generate() -> Result<Self, Box<dyn Error>> {
        let signing = SigningKey::generate(SignatureAlgorithm::MlDsa65)?;
        let verifying = signing.verifying_key().expand();
        Ok(Self { signing, verifying })
    }
}

/// A store with the key in it.
#[derive(Clone)]
pub(super) struct Stored {
    store: Store,
    user: Principal,
    name: KeyName,
    /// With the storage's file, if it has one.
    _folder: Option<Arc<TempDir>>,
}

impl Stored {
    pub(super) fn in_memory(key: &Key) -> Result<Self, Box<dyn Error>> {
        Self::new(key, Arc::new(MemoryStorage::new()), None)
    }

    pub(super) fn in_redb(key: &Key) -> Result<Self, Box<dyn Error>> {
        let folder = tempfile::tempdir()?;
        let storage = RedbStorage::create(&folder.path().join("keys.redb"))?;
        Self::new(key, Arc::new(storage), Some(folder))
    }

    fn new(
        key: &Key,
        storage: Arc<dyn Storage>,
        folder: Option<TempDir>,
    ) -> Result<Self, Box<dyn Error>> {
        let (admin, user) = (Principal::new("admin")?, Principal::new("user")?);
        let kek = PassphraseKek::new(b"passphrase");
        let store = Store::create(storage, &kek, &admin, StoreOptions::default())?;
        let name: KeyName = "bench/signatures/key".parse()?;
        let mut policy = Policy::default();
        policy.grants = Grants::new().grant(&user, Role::User.verbs());
        let private = AnyPrivateKey::PostQuantum(PrivateKey::Signing(key.signing.clone()));
        store.import_key(&admin, &name, &private, &policy)?;
        Ok(Self {
            store,
            user,
            name,
            _folder: folder.map(Arc::new),
        })
    }

    /// Signs a message.
    pub(super) fn sign(&self, message: &Message) {
        let input = Input::message(black_box(message));
        let signed = self.store.sign(&self.user, &self.name, input);
        black_box(signed).expect("the key may be used");
    }

    /// Verifies what was signed by the key's first version.
    pub(super) fn verify(&self, signed: &Signed) {
        let VerifyRequest {
            key,
            version,
            input,
            signature,
        } = self.request(black_box(signed));
        let verified = self
            .store
            .verify(&self.user, key, version, input, signature);
        black_box(verified).expect("a valid signature");
    }

    /// The same, all in one call.
    pub(super) fn verify_batch(&self, signed: &[Signed]) {
        let requests = black_box(signed)
            .iter()
            .map(|signed| self.request(signed))
            .collect::<Vec<_>>();
        for verified in self.store.verify_batch(&self.user, &requests) {
            black_box(verified).expect("a valid signature");
        }
    }

    fn request<'a>(&'a self, (message, signature): &'a Signed) -> VerifyRequest<'a> {
        VerifyRequest {
            key: &self.name,
            version: Some(Version::FIRST),
            input: Input::message(message),
            signature,
        }
    }
}
