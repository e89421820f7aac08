//! A key of a store as a `Signer`: what issues certificates and signs documents takes it like any other key.

// This room uses `name`, `policy` and `store`.

use core::fmt;

use pq_keys::pki_types::SubjectPublicKeyInfoDer;
use pq_keys::spki::AlgorithmIdentifierOwned;
use pq_keys::{SignError, Signer, SubjectKey};

use crate::name::{KeyId, KeyName};
use crate::policy::{Input, Principal};
use crate::store::{Store, StoreError};

/// One version of a key in a store, which signs for pq-x509, pq-cms, pq-jose and pq-ssh. The private key stays in the store.
///
/// A signer has one public key, so it stays with its version when the key is rotated: make [another](Self::newest) for the
/// new version. It signs as long as its version is enabled.
///
/// ```
/// use std::sync::Arc;
///
/// use pq_keys::Signer;
/// use pq_keys::any::{AnyAlgorithm, AnyPublicKey};
/// use pq_keystore::policy::{Grants, Policy, Principal, Verb};
/// # use pq_keystore::sealing::{Argon2Cost, PassphraseKek};
/// # use pq_keystore::storage::MemoryStorage;
/// use pq_keystore::{KeyName, Store, StoreOptions, StoredSigner};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let kek = PassphraseKek::new(b"x").cost(Argon2Cost { memory: 64, passes: 1, lanes: 1 });
/// # let storage = Arc::new(MemoryStorage::new());
/// let (admin, ca) = (Principal::new("admin")?, Principal::new("ca")?);
/// # let store = Store::create(storage, &kek, &admin, StoreOptions::default())?;
/// let name: KeyName = "shop/pki/root".parse()?;
/// let mut policy = Policy::default();
/// policy.grants = Grants::new().grant(&ca, Verb::Sign);
/// let algorithm = AnyAlgorithm::named("ML-DSA-87").ok_or("no such algorithm")?;
/// store.create_key(&admin, &name, algorithm, &policy)?;
///
/// let signer = StoredSigner::newest(&store, &ca, &name)?;
/// let signature = signer.sign(b"message")?;
/// let public = AnyPublicKey::from_spki_der(&pq_keys::SubjectKey::spki(&signer))?;
/// public.verify(b"message", &signature)?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct StoredSigner {
    store: Store,
    principal: Principal,
    id: KeyId,
    spki: Vec<u8>,
    algorithm: AlgorithmIdentifierOwned,
}

impl StoredSigner {
    /// The newest enabled version of a key, which signs for this principal.
    ///
    /// # Errors
    ///
    /// Those of [`Store::sign`]; [`StoreError::Key`] if the key is none that signs.
    pub fn newest(
        store: &Store,
        principal: &Principal,
        name: &KeyName,
    ) -> Result<Self, StoreError> {
        let (id, spki, algorithm) = store.signing_version(principal, name)?;
        Ok(Self {
            store: store.clone(),
            principal: principal.clone(),
            id,
            spki,
            algorithm,
        })
    }

    /// One version of a key, which signs for this principal.
    ///
    /// # Errors
    ///
    /// Those of [`Store::sign_by`]; [`StoreError::Key`] if the key is none that signs.
    pub fn at(store: &Store, principal: &Principal, id: &KeyId) -> Result<Self, StoreError> {
        let (spki, algorithm) = store.version_that_signs(principal, id)?;
        Ok(Self {
            store: store.clone(),
            principal: principal.clone(),
            id: id.clone(),
            spki,
            algorithm,
        })
    }

    /// The version with this public key, for which there is a certificate: a rotation changes nothing until there is one for
    /// the new version.
    ///
    /// # Errors
    ///
    /// [`StoreError::NoVersionWithKey`], and those of [`at`](Self::at).
    pub fn with_public_key(
        store: &Store,
        principal: &Principal,
        name: &KeyName,
        spki: &SubjectPublicKeyInfoDer<'_>,
    ) -> Result<Self, StoreError> {
        let id = store.version_with_key(principal, name, spki)?;
        Self::at(store, principal, &id)
    }

    /// Which version it is.
    pub fn id(&self) -> &KeyId {
        &self.id
    }
}

impl fmt::Debug for StoredSigner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("StoredSigner").field(&self.id).finish()
    }
}

impl SubjectKey for StoredSigner {
    fn spki(&self) -> SubjectPublicKeyInfoDer<'_> {
        self.spki.as_slice().into()
    }
}

impl Signer for StoredSigner {
    fn signature_algorithm(&self) -> AlgorithmIdentifierOwned {
        self.algorithm.clone()
    }

    fn sign(&self, message: &[u8]) -> Result<Vec<u8>, SignError> {
        let input = Input::message(message);
        let signed = self.store.sign_by(&self.principal, &self.id, input);
        let signed = signed.map_err(|error| match error.retry() {
            true => SignError::transient(error),
            false => SignError::new(error),
        });
        Ok(signed?.signature)
    }
}
