//! Versions are disabled, enabled, destroyed and removed.

use core::time::Duration;

use super::Store;
use super::error::StoreError;
use super::inner::Inner;
use super::rows::{Draft, Rows};
use super::tokens::PlaceInToken;
use crate::audit::{Act, Deed};
use crate::name::{KeyId, KeyName, Version};
use crate::policy::{Principal, Verb};
use crate::record::{KeyRecord, VersionState};
use crate::storage::RowKey;

/// How many versions are removed at once.
const REMOVED_AT_ONCE: usize = 100;

impl Store {
    /// Disables a version: it signs, decapsulates and verifies nothing any more. Of one that is to be destroyed or was
    /// destroyed, its signatures no longer verify.
    ///
    /// # Errors
    ///
    /// [`StoreError::State`] if it is disabled already, [`StoreError::VersionNotFound`], [`StoreError::Denied`], and those
    /// of the storage.
    pub fn disable(&self, principal: &Principal, id: &KeyId) -> Result<(), StoreError> {
        self.inner()
            .set_state(principal, Verb::Disable, id, |state, _| {
                Some(match state {
                    VersionState::Enabled => VersionState::Disabled,
                    VersionState::DestroyScheduled { at, verifies: true } => {
                        VersionState::DestroyScheduled {
                            at,
                            verifies: false,
                        }
                    }
                    VersionState::Destroyed { verifies: true } => {
                        VersionState::Destroyed { verifies: false }
                    }
                    _ => return None,
                })
            })
    }

    /// Enables a version that was disabled.
    ///
    /// # Errors
    ///
    /// [`StoreError::State`] if it is in another state, and those of [`disable`](Self::disable).
    pub fn enable(&self, principal: &Principal, id: &KeyId) -> Result<(), StoreError> {
        self.inner()
            .set_state(principal, Verb::Enable, id, |state, _| {
                (state == VersionState::Disabled).then_some(VersionState::Enabled)
            })
    }

    /// Schedules the destruction of a version for this time from now. Its private key is used for nothing from now on.
    ///
    /// # Errors
    ///
    /// [`StoreError::Policy`] if the key's policy wants a longer time; [`StoreError::ClockBehind`] and [`StoreError::ClockAhead`];
    /// [`StoreError::State`] unless it is enabled or disabled; and those of [`disable`](Self::disable).
    pub fn schedule_destruction(
        &self,
        principal: &Principal,
        id: &KeyId,
        after: Duration,
    ) -> Result<(), StoreError> {
        let (name, version) = (id.name(), id.version());
        self.inner().change_key(
            principal,
            Deed::ScheduleDestruction,
            name,
            &[],
            |_, record, _, now| {
                if after < record.policy.destroy_after {
                    return Err(StoreError::Policy(
                        "the key's policy wants a longer time before a destruction",
                    ));
                }
                let after = u64::try_from(after.as_millis()).unwrap_or(u64::MAX);
                let state = record.state_mut(version);
                let state = state.ok_or_else(|| StoreError::VersionNotFound(id.clone()))?;
                if !matches!(state, VersionState::Enabled | VersionState::Disabled) {
                    return Err(in_state(id, *state, Verb::Schedule));
                }
                self.inner().check_clock(now)?;
                *state = VersionState::DestroyScheduled {
                    at: now.saturating_add(after),
                    verifies: state.verifies(),
                };
                Ok((Some(version), ()))
            },
        )
    }

    /// Cancels a scheduled destruction. The version is disabled afterwards.
    ///
    /// # Errors
    ///
    /// [`StoreError::State`] unless it is scheduled, and those of [`disable`](Self::disable).
    pub fn cancel_destruction(&self, principal: &Principal, id: &KeyId) -> Result<(), StoreError> {
        self.inner().set_state(
            principal,
            Deed::CancelDestruction,
            id,
            |state, _| match state {
                VersionState::DestroyScheduled { .. } => Some(VersionState::Disabled),
                _ => None,
            },
        )
    }

    /// Destroys a version whose time has come: its private key is erased from its row, its public key is kept. Signatures
    /// verify as before.
    ///
    /// Backups may still have the private key, sealed, and a storage may have it in pages that it no longer uses.
    ///
    /// # Errors
    ///
    /// [`StoreError::NotYet`] before that time by the clock, [`StoreError::ClockBehind`] and
    /// [`StoreError::ClockAhead`], [`StoreError::State`] unless it is scheduled, and those of [`disable`](Self::disable).
    /// [`StoreError::LeftInToken`] if it is destroyed, but its token didn't remove the private key, as it was away, or has no
    /// such key: then destroying it again, with the token that has it, removes it there.
    pub fn destroy(&self, principal: &Principal, id: &KeyId) -> Result<(), StoreError> {
        let inner = self.inner();
        match inner.destroy_version(principal, id) {
            Ok(Some(left)) => inner.remove_from_token(&left),
            Ok(None) => Ok(()),
            Err(error) => inner.destroy_again(id, error),
        }
    }

    /// Removes all versions before this one, with their public keys. They are of no use any more: each was destroyed, or is
    /// older than the policy's minimum; of those, the private keys are erased at once, whatever the policy says about
    /// destructions, as Vault does.
    ///
    /// # Errors
    ///
    /// [`StoreError::State`] if a version is of use, [`StoreError::VersionNotFound`] if the key has no version `before`,
    /// [`StoreError::LeftInToken`] if a token didn't remove private keys: then their versions are destroyed and stay, and doing
    /// it again removes them; and those of [`disable`](Self::disable). Versions may have been removed before an error.
    pub fn trim(
        &self,
        principal: &Principal,
        name: &KeyName,
        before: Version,
    ) -> Result<(), StoreError> {
        let inner = self.inner();
        loop {
            let record = &inner.permitted(principal, Verb::Destroy, name)?.record;
            let first = record.first;
            let id = name.at(before);
            if record.state(before).is_none() && before != first {
                return Err(StoreError::VersionNotFound(id));
            }
            let old = (first.get()..before.get()).filter_map(Version::new);
            let old: Vec<Version> = old.take(REMOVED_AT_ONCE).collect();
            if old.is_empty() {
                return Ok(());
            }
            // What tokens don't remove, the rows still say where it is.
            inner.clear_tokens(principal, name, &old)?;
            inner.change_key(principal, Deed::Trim, name, &old, |_, record, draft, _| {
                if record.first != first {
                    return Err(StoreError::Contended);
                }
                for version in &old {
                    check_of_no_use(name, *version, record)?;
                    draft.delete(&RowKey::version(&name.at(*version)));
                }
                record.states.drain(..old.len());
                let last = old.last().and_then(|version| version.next());
                record.first = last.ok_or(StoreError::Contended)?;
                Ok((Some(record.first), ()))
            })?;
        }
    }
}

/// Checks that a version may be removed: it was destroyed, or is older than the policy's minimum.
fn check_of_no_use(name: &KeyName, version: Version, record: &KeyRecord) -> Result<(), StoreError> {
    let id = name.at(version);
    match record.state(version) {
        None => Err(StoreError::VersionNotFound(id)),
        Some(state) if state.has_private_key() && version >= record.policy.min_version => {
            Err(in_state(&id, state, Verb::Destroy))
        }
        Some(_) => Ok(()),
    }
}

impl Inner {
    /// Destroys the private keys that versions which are of no use have in tokens.
    fn clear_tokens(
        &self,
        principal: &Principal,
        name: &KeyName,
        old: &[Version],
    ) -> Result<(), StoreError> {
        let (rows, record) = self.table.read_key(name, old)?;
        let (mut there, mut left) = (Vec::new(), Vec::new());
        for version in old {
            // A damaged row doesn't keep the others from being removed: what it had in a token is an orphan.
            if let Ok(found) = rows.version(&name.at(*version), &record)
                && found.private.in_token().is_some()
            {
                if found.private.exists() {
                    there.push(*version);
                }
                left.extend(PlaceInToken::of(&found.private));
            }
        }
        if !there.is_empty() {
            self.change_key(
                principal,
                Deed::Destroy,
                name,
                &there,
                |rows, record, draft, _| {
                    for version in &there {
                        check_of_no_use(name, *version, record)?;
                        let id = name.at(*version);
                        let state = record.state(*version);
                        let state = state.ok_or_else(|| StoreError::VersionNotFound(id.clone()))?;
                        if state.has_private_key() {
                            erase(rows, record, draft, &id, state.verifies())?;
                        }
                    }
                    Ok((None, ()))
                },
            )?;
        }
        // All are tried, and the error is the first.
        let removed = left.iter().map(|left| self.remove_from_token(left));
        removed.fold(Ok(()), Result::and)
    }
}

impl Inner {
    /// Destroys a version in the storage, and returns where its private key is yet to be removed.
    fn destroy_version(
        &self,
        principal: &Principal,
        id: &KeyId,
    ) -> Result<Option<PlaceInToken>, StoreError> {
        let (name, version) = (id.name(), id.version());
        self.change_key(
            principal,
            Deed::Destroy,
            name,
            &[version],
            |rows, record, draft, now| {
                let state = record.state(version);
                let state = state.ok_or_else(|| StoreError::VersionNotFound(id.clone()))?;
                let (at, verifies) = match state {
                    VersionState::DestroyScheduled { at, verifies } => (at, verifies),
                    state => return Err(in_state(id, state, Verb::Destroy)),
                };
                self.check_clock(now)?;
                check_time_of_destruction(id, at, now)?;
                let left = erase(rows, record, draft, id, verifies)?;
                Ok((Some(version), left))
            },
        )
    }
}

/// Erases the private key of a version in the storage. Returns where a token is yet to remove it.
pub(super) fn erase(
    rows: &Rows<'_>,
    record: &mut KeyRecord,
    draft: &mut Draft<'_>,
    id: &KeyId,
    verifies: bool,
) -> Result<Option<PlaceInToken>, StoreError> {
    let mut found = rows.version(id, record)?;
    let left = PlaceInToken::of(&found.private);
    found.private = found.private.destroyed();
    draft.put(&RowKey::version(id), found.encode());
    let state = record.state_mut(id.version());
    let state = state.ok_or_else(|| StoreError::VersionNotFound(id.clone()))?;
    *state = VersionState::Destroyed { verifies };
    Ok(left)
}

/// Checks that the time has come for which the destruction of a version is scheduled.
pub(super) fn check_time_of_destruction(id: &KeyId, at: u64, now: u64) -> Result<(), StoreError> {
    match now < at {
        true => Err(StoreError::NotYet {
            id: id.clone(),
            seconds: (at - now).div_ceil(1000),
        }),
        false => Ok(()),
    }
}

fn in_state(id: &KeyId, state: VersionState, verb: Verb) -> StoreError {
    StoreError::State {
        id: id.clone(),
        state,
        verb,
    }
}

impl Inner {
    /// Changes the state of a version; `next` says to which one, if any.
    fn set_state(
        &self,
        principal: &Principal,
        act: impl Into<Act>,
        id: &KeyId,
        next: impl Fn(VersionState, u64) -> Option<VersionState>,
    ) -> Result<(), StoreError> {
        let (name, version, act) = (id.name(), id.version(), act.into());
        self.change_key(principal, act, name, &[], |_, record, _, now| {
            let state = record.state_mut(version);
            let state = state.ok_or_else(|| StoreError::VersionNotFound(id.clone()))?;
            *state = next(*state, now).ok_or_else(|| in_state(id, *state, act.verb))?;
            Ok((Some(version), ()))
        })
    }
}
