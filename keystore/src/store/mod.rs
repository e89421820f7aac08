//! The store: its keys, and what principals do with them.
//!
//! It uses all other rooms but `signer`.

#[cfg(feature = "door")]
mod at_hand;
mod attesting;
mod batch;
mod cache;
mod checking;
mod clock;
mod commit;
mod deleting;
#[cfg(feature = "door")]
mod door;
mod error;
mod held;
#[cfg(feature = "door")]
mod importing;
mod inner;
mod lifecycle;
mod loading;
mod log_check;
mod making;
mod measuring;
mod opening;
mod options;
mod rows;
mod showing;
mod signatures;
mod states;
mod tokens;
mod uses;
mod using;
mod verifying;
mod visible;
mod worker;

use alloc::sync::Arc;

pub use self::attesting::{Attestation, AttestedVersion, InvalidAttestation, KeyPlace};
pub use self::batch::{SignRequest, VerifyRequest};
pub use self::checking::CheckReport;
pub use self::error::{Damage, StoreError};
pub use self::lifecycle::{Rotated, RotationEnded};
#[cfg(feature = "metrics")]
pub use self::measuring::{DURATION_BUCKETS, OPERATION_DURATION, OPERATIONS};
pub use self::options::StoreOptions;
pub use self::showing::{KeyDetails, KeyPage, KeySummary, VersionDetails};
pub use self::tokens::Orphan;
pub use self::using::{Encapsulated, Signed};
pub use self::visible::visible_damage;

use self::worker::Worker;

/// A store of keys in a [`Storage`](crate::storage::Storage).
///
/// Clones are the same store. Each method does one thing for a [`Principal`](crate::policy::Principal), whom the caller has
/// authenticated, and first asks the policy of the key and the grants of the store. All of it blocks; signing and verifying
/// don't wait for the storage once a key is in memory, unless its policy says that each use is audited.
///
/// When the last clone is dropped, the counts of uses are written.
///
/// ```
/// use std::sync::Arc;
///
/// use pq_keys::any::AnyAlgorithm;
/// use pq_keystore::policy::{Grants, Input, Policy, Principal, Role};
/// use pq_keystore::sealing::PassphraseKek;
/// use pq_keystore::storage::MemoryStorage;
/// use pq_keystore::{KeyName, Store, StoreOptions};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let admin = Principal::new("admin")?;
/// let ci = Principal::new("ci")?;
/// let kek = PassphraseKek::new(b"correct horse battery staple");
/// # let kek = kek.cost(pq_keystore::sealing::Argon2Cost { memory: 64, passes: 1, lanes: 1 });
/// let storage = Arc::new(MemoryStorage::new());
/// let store = Store::create(storage, &kek, &admin, StoreOptions::default())?;
///
/// let name: KeyName = "shop/releases/installer".parse()?;
/// let algorithm = AnyAlgorithm::named("ML-DSA-65").ok_or("no such algorithm")?;
/// let mut policy = Policy::default();
/// policy.grants = Grants::new().grant(&ci, Role::User.verbs());
/// store.create_key(&admin, &name, algorithm, &policy)?;
///
/// let signed = store.sign(&ci, &name, Input::message(b"installer 1.0"))?;
/// store.rotate(&admin, &name)?;
/// let version = Some(signed.id.version());
/// store.verify(&ci, &name, version, Input::message(b"installer 1.0"), &signed.signature)?;
/// assert_eq!(signed.id.to_string(), "shop/releases/installer#1");
/// assert_eq!(store.sign(&admin, &name, Input::message(b"x")).unwrap_err().code(), "denied");
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Store(Arc<Worker>);

impl core::fmt::Debug for Store {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Store").finish_non_exhaustive()
    }
}
