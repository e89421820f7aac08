//! What a request of somebody who is known has, under a mount.

use super::refusal::Refusal;
use crate::name::KeyName;
use crate::policy::{Policy, Principal, Verb};
use crate::store::{Store, StoreError};

/// A prefix of paths, and the keys that are there.
pub(super) struct Mount {
    pub(super) path: String,
    pub(super) tenant: String,
    pub(super) purpose: String,
}

/// A request of somebody who is known, under a mount.
pub(super) struct Call<'a> {
    pub(super) store: &'a Store,
    /// The policy of new keys.
    pub(super) template: &'a Policy,
    pub(super) mount: &'a Mount,
    pub(super) principal: &'a Principal,
    pub(super) query: Option<&'a str>,
    pub(super) body: &'a [u8],
    /// Whether nobody waits for the answer any more.
    pub(super) is_gone: &'a (dyn Fn() -> bool + Sync),
}

impl Call<'_> {
    /// The key that the mount has under a name.
    pub(super) fn name(&self, name: &str) -> Result<KeyName, Refusal> {
        KeyName::new(&self.mount.tenant, &self.mount.purpose, name)
            .map_err(|error| Refusal::bad(error.to_string()))
    }

    /// Ends what takes long if nobody waits for it.
    pub(super) fn check_client(&self) -> Result<(), Refusal> {
        match (self.is_gone)() {
            true => Err(Refusal::gone()),
            false => Ok(()),
        }
    }

    /// Checks the right to something before anything else is looked at.
    pub(super) fn require(&self, verb: Verb, name: &KeyName) -> Result<(), Refusal> {
        match self.store.algorithm(self.principal, verb, name) {
            // That there is no such key is told by what wanted to use it.
            Ok(_) | Err(StoreError::NotFound(_)) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }
}
