//! What the door asks of a store beside its verbs.

use pq_keys::any::AnyAlgorithm;

use super::error::StoreError;
use super::{Rotated, RotationEnded, Store};
use crate::name::{KeyName, Version};
use crate::policy::{Policy, Principal, Verb};
use crate::record::{Origin, VersionState};

impl Store {
    /// Why the storage can't be used, as last seen, if trying again doesn't help.
    pub(crate) fn problem(&self) -> Option<String> {
        self.inner().problem()
    }

    /// Writes what was counted, which the store's thread does every five seconds.
    pub(crate) fn flush(&self) -> Result<(), StoreError> {
        self.inner().flush(true)
    }

    /// Rotates all keys that are due, by itself, until it is over.
    pub(crate) fn rotate_by_itself(
        &self,
        is_over: &dyn Fn() -> bool,
    ) -> Result<Vec<Rotated>, RotationEnded> {
        self.rotate_due_unless(&Principal::auto_rotate(), is_over)
    }

    /// The algorithm of a key with which a principal may do something.
    ///
    /// # Errors
    ///
    /// [`StoreError::Denied`]; [`StoreError::NotFound`] only to those who may.
    pub(crate) fn algorithm(
        &self,
        principal: &Principal,
        verb: Verb,
        name: &KeyName,
    ) -> Result<AnyAlgorithm, StoreError> {
        let key = self.inner().permitted(principal, verb, name)?;
        Ok(key.record.algorithm)
    }

    /// The policy and the versions of a key with which a principal may do something, the oldest first.
    ///
    /// # Errors
    ///
    /// Those of [`algorithm`](Self::algorithm).
    pub(crate) fn versions(
        &self,
        principal: &Principal,
        verb: Verb,
        name: &KeyName,
    ) -> Result<(Policy, Vec<(Version, VersionState)>), StoreError> {
        let key = self.inner().permitted(principal, verb, name)?;
        let mut versions: Vec<_> = key.record.newest_first().collect();
        versions.reverse();
        Ok((key.record.policy.clone(), versions))
    }

    /// Whether a version of a key with which a principal may do something was imported.
    ///
    /// # Errors
    ///
    /// Those of [`algorithm`](Self::algorithm).
    pub(crate) fn is_imported(
        &self,
        principal: &Principal,
        verb: Verb,
        name: &KeyName,
    ) -> Result<bool, StoreError> {
        let inner = self.inner();
        inner.permitted(principal, verb, name)?;
        let versions = inner.whole(name)?.versions;
        let mut origins = versions.iter().map(|(_, _, version)| version.origin);
        Ok(origins.any(|origin| origin == Origin::Imported))
    }

    /// Changes what a key's policy says. `change` gets the policy as it is, and the first and the newest version that are kept, and may be called
    /// again if others change the key at the same time.
    ///
    /// # Errors
    ///
    /// Those of `change` and of [`set_policy`](Self::set_policy).
    pub(crate) fn change_policy(
        &self,
        principal: &Principal,
        name: &KeyName,
        mut change: impl FnMut(&mut Policy, [Version; 2]) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        self.inner()
            .change_key(principal, Verb::SetPolicy, name, &[], |_, record, _, _| {
                let mut policy = record.policy.clone();
                change(&mut policy, [record.first, record.newest()])?;
                if policy.exportable != record.policy.exportable {
                    return Err(StoreError::ExportableChanged(name.clone()));
                }
                if let Some(problem) = policy.problem() {
                    return Err(StoreError::Policy(problem));
                }
                record.policy = policy;
                Ok((None, ()))
            })
    }
}
