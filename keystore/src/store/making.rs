//! New versions of keys: made here or in a token, and committed.

use alloc::sync::Arc;

use pq_keys::SubjectKey;
use pq_keys::any::{AnyAlgorithm, AnyPrivateKey};

use super::commit::Plan;
use super::error::StoreError;
use super::held::HeldKey;
use super::inner::Inner;
use super::rows::Rows;
use super::tokens::MadeInToken;
use crate::audit::Event;
use crate::custody::TokenName;
use crate::name::{KeyId, KeyName, Version};
use crate::policy::{Policy, Principal, Verb};
use crate::record::{KeyRecord, Origin, PrivatePart, VersionRecord, VersionState};
use crate::sealing::Bound;
use crate::storage::RowKey;

pub(super) const NOT_FROM_TOKENS: &str = "a key that may be exported is neither made in a token nor imported into one, since it gives out no private key";

/// A key has no place for another version.
const FULL: StoreError = StoreError::Limit(
    "a key has at most 4,096 versions; raise its min-version, and trim those before it",
);

/// The private key of a new version.
pub(super) enum NewKey<'a> {
    /// To be sealed in the store.
    Here(&'a AnyPrivateKey),
    InToken(&'a MadeInToken),
}

impl NewKey<'_> {
    fn algorithm(&self) -> AnyAlgorithm {
        match self {
            Self::Here(key) => key.algorithm(),
            Self::InToken(made) => made.public.algorithm(),
        }
    }

    fn spki(&self) -> Vec<u8> {
        match self {
            Self::Here(key) => key.spki().to_vec(),
            Self::InToken(made) => made.public.to_spki_der().into(),
        }
    }

    fn token(&self) -> Option<&TokenName> {
        match self {
            Self::Here(_) => None,
            Self::InToken(made) => Some(&made.place.token),
        }
    }

    /// Checks that nobody has removed it from its token since it was made there.
    fn check_kept(&self, rows: &Rows<'_>) -> Result<(), StoreError> {
        match self {
            Self::Here(_) => Ok(()),
            Self::InToken(made) => made.check_kept(rows),
        }
    }
}

/// When a key gets a new version.
#[derive(Clone, Copy, Eq, PartialEq)]
pub(super) enum When {
    Now,
    /// If it is due yet when it would get one: others may have rotated it.
    Due,
}

/// The state of a version that has to be enabled.
pub(super) fn require_enabled(
    record: &KeyRecord,
    id: &KeyId,
    verb: Verb,
) -> Result<(), StoreError> {
    match record.state(id.version()) {
        Some(VersionState::Enabled) => Ok(()),
        Some(state) => Err(StoreError::State {
            id: id.clone(),
            state,
            verb,
        }),
        None => Err(StoreError::VersionNotFound(id.clone())),
    }
}

/// All versions of a key are of one algorithm.
pub(super) fn check_same(key: AnyAlgorithm, version: AnyAlgorithm) -> Result<(), StoreError> {
    match key == version {
        true => Ok(()),
        false => Err(StoreError::Algorithm {
            algorithm: version,
            what: "be a version of a key of another algorithm",
        }),
    }
}

impl Inner {
    /// Makes a new version in this token, or in the store.
    pub(super) fn rotate(
        &self,
        principal: &Principal,
        name: &KeyName,
        token: Option<&TokenName>,
        when: When,
    ) -> Result<KeyId, StoreError> {
        let record = &self.permitted(principal, Verb::Rotate, name)?.record;
        // Its token would make one for nothing.
        if record.is_deleted() {
            return Err(StoreError::Deleted(name.clone()));
        }
        match token {
            None => {
                let key = AnyPrivateKey::generate(record.algorithm)?;
                self.add_version(
                    principal,
                    Verb::Rotate,
                    name,
                    &NewKey::Here(&key),
                    None,
                    when,
                )
            }
            Some(token) => {
                self.check_place(name, record)?;
                self.made_in_token(token, record.algorithm, name, |made| {
                    let key = NewKey::InToken(made);
                    self.add_version(principal, Verb::Rotate, name, &key, Some(token), when)
                })
            }
        }
    }

    /// Checks that a key has a place for another version, before a token makes or takes one for nothing.
    pub(super) fn check_place(&self, name: &KeyName, record: &KeyRecord) -> Result<(), StoreError> {
        if record.next_version().is_some() {
            return Ok(());
        }
        // Others may have removed some since it was read.
        let rows = self.table.read(&[RowKey::key(name)])?;
        match rows.key(name)? {
            Some(record) if record.next_version().is_none() => Err(FULL),
            _ => Ok(()),
        }
    }

    /// The record of a new version, with its private key sealed.
    fn new_version(
        &self,
        id: &KeyId,
        key: &NewKey<'_>,
        principal: &Principal,
        verb: Verb,
        exportable: bool,
        now: u64,
    ) -> Result<VersionRecord, StoreError> {
        let row = RowKey::version(id);
        let spki = key.spki();
        let private = match key {
            NewKey::Here(private) => {
                let bound = Bound {
                    row: row.as_str(),
                    algorithm: key.algorithm().name(),
                    spki: &spki,
                    exportable,
                };
                let sealed = self.table.sealer.seal(&bound, &private.to_pkcs8_der()?)?;
                PrivatePart::Sealed(Some(sealed))
            }
            NewKey::InToken(made) => PrivatePart::InToken {
                place: made.place.clone(),
                is_destroyed: false,
            },
        };
        Ok(VersionRecord {
            algorithm: key.algorithm(),
            spki,
            created: now,
            by: principal.clone(),
            origin: match verb {
                Verb::Import => Origin::Imported,
                _ => Origin::Generated,
            },
            exportable,
            private,
        })
    }

    /// Adds a key with one version.
    pub(super) fn add_key(
        &self,
        principal: &Principal,
        verb: Verb,
        name: &KeyName,
        key: &NewKey<'_>,
        policy: &Policy,
    ) -> Result<KeyId, StoreError> {
        if let Some(problem) = policy.problem_for(Version::FIRST) {
            return Err(StoreError::Policy(problem));
        }
        let id = name.at(Version::FIRST);
        let (store, key_row, version_row) =
            (RowKey::store(), RowKey::key(name), RowKey::version(&id));
        let wanted = [store.clone(), key_row.clone(), version_row.clone()];
        let (record, revision) = self.commit(&wanted, |rows, now| {
            if !rows.store()?.grants.permits(principal, verb, name) {
                return Err(self.denied(principal, verb, Some(name)));
            }
            match rows.key(name)? {
                Some(key) if key.is_deleted() => return Err(StoreError::Deleted(name.clone())),
                Some(_) => return Err(StoreError::Exists(name.clone())),
                None => {}
            }
            key.check_kept(rows)?;
            let record = KeyRecord {
                serial: 1,
                algorithm: key.algorithm(),
                policy: policy.clone(),
                created: now,
                rotated: now,
                first: Version::FIRST,
                states: vec![VersionState::Enabled],
                token: key.token().cloned(),
            };
            let version = self.new_version(&id, key, principal, verb, policy.exportable, now)?;
            let mut draft = rows.change();
            draft.rely_on(&store);
            draft.set_serial(&key_row, record.serial)?;
            draft.put(&version_row, version.encode());
            let row = draft.put(&key_row, record.encode());
            let event = Event::done(principal, verb).with(name, Some(id.version()));
            Ok(Plan {
                rows: draft.finish(),
                events: vec![event.leaving(None, &row)],
                value: record,
            })
        })?;
        self.keep_written(name, record, revision);
        Ok(id)
    }

    /// Adds a version to a key. From then on, versions are made in this token, or in the store.
    pub(super) fn add_version(
        &self,
        principal: &Principal,
        verb: Verb,
        name: &KeyName,
        key: &NewKey<'_>,
        token: Option<&TokenName>,
        when: When,
    ) -> Result<KeyId, StoreError> {
        let is_in_use = self.cache.get(name).is_some_and(|key| key.is_in_use());
        let id = self.change_key(principal, verb, name, &[], |rows, record, draft, now| {
            if when == When::Due || principal.is_auto_rotate() {
                if !record.is_due(now) {
                    return Err(StoreError::NotDue(name.clone()));
                }
                // By a wrong clock everything is due.
                self.check_clock(now)?;
            }
            key.check_kept(rows)?;
            if verb == Verb::Import && record.token.is_some() && token.is_none() {
                return Err(StoreError::Policy(
                    "versions of this key are in a token, and are made or imported there",
                ));
            }
            if token.is_some() && record.policy.exportable {
                return Err(StoreError::Policy(NOT_FROM_TOKENS));
            }
            record.token = token.cloned();
            check_same(record.algorithm, key.algorithm())?;
            let version = record.next_version().ok_or(FULL)?;
            let id = name.at(version);
            let exportable = record.policy.exportable;
            let new = self.new_version(&id, key, principal, verb, exportable, now)?;
            draft.put_new(&RowKey::version(&id), new.encode());
            record.states.push(VersionState::Enabled);
            record.rotated = now;
            Ok((Some(version), id))
        })?;
        // A key in use goes on without the storage.
        if let NewKey::Here(key) = key
            && let Some(kept) = self.cache.get(name).filter(|_| is_in_use)
            && require_enabled(&kept.record, &id, verb).is_ok()
        {
            let key = HeldKey::Here((*key).clone());
            kept.keep_private(id.version(), &Arc::new(key));
        }
        Ok(id)
    }
}
