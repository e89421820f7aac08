//! The CA's own keys, which are certified for nothing else: whoever uses one of them elsewhere, such as in a server, gives
//! the CA away.

use alloc::collections::BTreeMap;

use pq_ca::folder::Role;
use pq_ca::ledger::KeyHash;
use pq_keys::SubjectKey;

use super::opened::CaFolder;
use crate::failure::Failure;

/// The keys of the root and of all that issue or issued, and the halves of composite ones.
pub(super) struct OwnKeys(BTreeMap<KeyHash, Role>);

impl OwnKeys {
    /// Of a CA, one of whose keys signs.
    pub(super) fn of(folder: &CaFolder, signing: Role) -> Result<Self, Failure> {
        let own = |role| Ok::<_, Failure>((role, folder.certificate(role)?));
        let mut certificates = vec![own(Role::Root)?, own(signing)?];
        // The certificate of a key that issued once may be lost, which keeps nobody from issuing.
        certificates.extend(folder.issuing_keys().unwrap_or_default());
        let mut keys = BTreeMap::new();
        for (role, certificate) in &certificates {
            for key in KeyHash::all_of(certificate)? {
                keys.entry(key).or_insert(*role);
            }
        }
        Ok(Self(keys))
    }

    /// Refuses a key that is one of them.
    pub(super) fn refuse(&self, key: &(impl SubjectKey + ?Sized)) -> Result<(), Failure> {
        self.refuse_any(KeyHash::all_of(key)?)
    }

    /// The same for the digests of a key and its halves.
    pub(super) fn refuse_any(
        &self,
        keys: impl IntoIterator<Item = KeyHash>,
    ) -> Result<(), Failure> {
        let own = keys.into_iter().find_map(|key| self.0.get(&key));
        own.map_or(Ok(()), |role| Err(Failure::OwnKeyOfCa(role.name().into())))
    }
}
