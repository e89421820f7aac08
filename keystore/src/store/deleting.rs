//! Keys are deleted: all versions at once, for good.

use super::Store;
use super::error::StoreError;
use super::inner::Inner;
use super::states::{check_time_of_destruction, erase};
use super::tokens::PlaceInToken;
use crate::audit::Deed;
use crate::name::{KeyName, Version};
use crate::policy::{Principal, Verb};
use crate::record::{KeyRecord, VersionState};

/// How many private keys are erased in one change. All states change in the first.
const ERASED_AT_ONCE: usize = 100;

/// How often a key is looked at that gets new versions meanwhile.
const MAX_ROUNDS: usize = 200;

impl Store {
    /// Deletes a key, as Vault does: the private keys of all versions are erased, and their signatures no longer verify. The
    /// name is not used again. What refuses this does so before anything was changed.
    ///
    /// Done again, it removes from tokens what they didn't remove before.
    ///
    /// # Errors
    ///
    /// [`StoreError::Policy`] if the key's policy wants some time before a destruction, [`StoreError::NotYet`] if that of a
    /// version is scheduled for later, [`StoreError::ClockBehind`] and [`StoreError::ClockAhead`],
    /// [`StoreError::LeftInToken`] if it is deleted, but a token didn't remove a private key, [`StoreError::Denied`] unless the
    /// principal may disable, schedule and destroy, and those of the storage.
    pub fn delete(&self, principal: &Principal, name: &KeyName) -> Result<(), StoreError> {
        let inner = self.inner();
        for verb in [Verb::Disable, Verb::Schedule, Verb::Destroy] {
            inner.permitted(principal, verb, name)?;
        }
        let mut left = Vec::new();
        for _ in 0..MAX_ROUNDS {
            let (_, record) = inner.table.read_key(name, &[])?;
            if record.is_deleted() {
                // Nobody comes back to those after the first that isn't removed, so all are tried.
                let removed = match left.is_empty() {
                    true => inner.left_in_tokens(name, &record)?,
                    false => left,
                };
                let removed = removed.iter().map(|left| inner.remove_from_token(left));
                return removed.fold(Ok(()), Result::and);
            }
            let whole = record.newest_first();
            let whole = whole.filter(|(_, state)| state.has_private_key());
            let erased: Vec<Version> = whole
                .map(|(version, _)| version)
                .take(ERASED_AT_ONCE)
                .collect();
            left.extend(inner.delete_some(principal, name, &erased)?);
        }
        Err(StoreError::Contended)
    }
}

impl Inner {
    /// Makes all versions of no use, and erases the private keys of some. Returns those that are yet to be removed from tokens.
    fn delete_some(
        &self,
        principal: &Principal,
        name: &KeyName,
        erased: &[Version],
    ) -> Result<Vec<PlaceInToken>, StoreError> {
        self.change_key(
            principal,
            Deed::Delete,
            name,
            erased,
            |rows, record, draft, now| {
                if !record.policy.destroy_after.is_zero() {
                    return Err(StoreError::Policy("deletion is not allowed for this key"));
                }
                let all: Vec<_> = record.newest_first().collect();
                for (version, state) in &all {
                    if let VersionState::DestroyScheduled { at, .. } = *state {
                        check_time_of_destruction(&name.at(*version), at, now)?;
                    }
                }
                self.check_clock(now)?;
                let mut left = Vec::new();
                for (version, state) in all {
                    // Meanwhile somebody else may have destroyed it.
                    if state.has_private_key() && erased.contains(&version) {
                        left.extend(erase(rows, record, draft, &name.at(version), false)?);
                        continue;
                    }
                    let next = match state.has_private_key() {
                        true => VersionState::DestroyScheduled {
                            at: now,
                            verifies: false,
                        },
                        false => VersionState::Destroyed { verifies: false },
                    };
                    if let Some(state) = record.state_mut(version) {
                        *state = next;
                    }
                }
                Ok((None, left))
            },
        )
    }

    /// Where versions of a key that was deleted had private keys in tokens, which may not have removed them.
    fn left_in_tokens(
        &self,
        name: &KeyName,
        record: &KeyRecord,
    ) -> Result<Vec<PlaceInToken>, StoreError> {
        let mut left = Vec::new();
        let versions = record.newest_first().map(|(version, _)| version);
        let versions: Vec<_> = versions.collect();
        for some in versions.chunks(ERASED_AT_ONCE) {
            let (rows, record) = self.table.read_key(name, some)?;
            for version in some {
                // What a damaged row had in a token is an orphan.
                if let Ok(found) = rows.version(&name.at(*version), &record) {
                    left.extend(PlaceInToken::of(&found.private));
                }
            }
        }
        Ok(left)
    }
}
