//! Which keys there are, and what they are.

use pq_keys::any::{AnyAlgorithm, AnyPublicKey};

use super::Store;
use super::error::{Damage, StoreError};
use super::inner::Inner;
use crate::custody::{TokenName, TokenSerial};
use crate::name::{KeyName, Version};
use crate::policy::{Policy, Principal, Verb};
use crate::record::{KeyRecord, Origin, VersionRecord, VersionState};
use crate::storage::{LogHead, RowKey, RowPrefix};

/// The most keys in a page: with their rows of the index, what a storage gives at once.
const MAX_PAGE: usize = 100;

/// How many rows of versions are read at once.
const VERSIONS_AT_ONCE: usize = 100;

/// How often a key is read again that changes while it is read in parts.
const TRIES: usize = 50;

/// Some of the keys of a store.
#[derive(Debug)]
#[non_exhaustive]
pub struct KeyPage {
    /// The keys, ordered by name.
    pub keys: Vec<KeySummary>,
    /// What is wrong with others that should be among them.
    pub damaged: Vec<StoreError>,
    /// Where the next page begins: after this key, if there is one.
    pub next: Option<KeyName>,
}

/// A key, in short.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct KeySummary {
    /// The name.
    pub name: KeyName,
    /// The algorithm of all its versions.
    pub algorithm: AnyAlgorithm,
    /// The newest version.
    pub newest: Version,
    /// The state of that version.
    pub state: VersionState,
    /// When the key was created, in milliseconds since 1970.
    pub created: u64,
    /// When the newest version was made.
    pub rotated: u64,
    /// Whether it is due for rotation; not by a clock that is [wrong](Store::check_time), by which everything may be.
    pub is_due: bool,
}

/// A key with its versions.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct KeyDetails {
    /// The name.
    pub name: KeyName,
    /// The algorithm of all its versions.
    pub algorithm: AnyAlgorithm,
    /// The policy.
    pub policy: Policy,
    /// When it was created, in milliseconds since 1970.
    pub created: u64,
    /// When the newest version was made.
    pub rotated: u64,
    /// Whether it is due for rotation; not by a clock that is [wrong](Store::check_time), by which everything may be.
    pub is_due: bool,
    /// In which token new versions are made, if in any.
    pub token: Option<TokenName>,
    /// The versions that are kept, the oldest first.
    pub versions: Vec<VersionDetails>,
}

/// A version of a key.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct VersionDetails {
    /// The number.
    pub version: Version,
    /// The state.
    pub state: VersionState,
    /// When it was made, in milliseconds since 1970.
    pub created: u64,
    /// Who made it.
    pub by: Principal,
    /// Where the private key was made.
    pub origin: Origin,
    /// In which token the private key is, or was until it was destroyed; `None` if it is sealed in the store.
    pub token: Option<TokenName>,
    /// The serial number of that token; `None` if it tells none, or the version is of before it was noted.
    pub token_serial: Option<TokenSerial>,
    /// The public key.
    pub public_key: AnyPublicKey,
}

impl Store {
    /// A page of the keys that the principal may list, of one tenant or of all, after a name: at most 100, ordered by name. A
    /// page may be empty although others follow. Keys that are damaged don't keep the others from being listed.
    ///
    /// # Errors
    ///
    /// [`StoreError::Denied`] if the store grants the principal no [`Verb::List`] at all, and those of the storage.
    pub fn list(
        &self,
        principal: &Principal,
        tenant: Option<&str>,
        after: Option<&KeyName>,
        limit: usize,
    ) -> Result<KeyPage, StoreError> {
        let inner = self.inner();
        let grants = inner.grants();
        let mut own = grants.scopes().map(|(_, grants)| grants);
        if !own.any(|grants| grants.permits(principal, Verb::List)) {
            return Err(inner.denied(principal, Verb::List, None));
        }
        let mut names = inner.names(tenant, after.map(RowKey::key).as_ref(), limit)?;
        names
            .names
            .retain(|name| grants.permits(principal, Verb::List, name));
        let rows: Vec<_> = names.names.iter().map(RowKey::key).collect();
        let rows = inner.table.read(&rows)?;
        let now = inner.time();
        let mut page = KeyPage {
            keys: Vec::new(),
            damaged: names.damaged,
            next: names.next,
        };
        for name in &names.names {
            match rows.key(name) {
                Ok(Some(record)) => page.keys.push(summary(name, &record, now)),
                Ok(None) => {}
                Err(error) => page.damaged.push(error),
            }
        }
        Ok(page)
    }

    /// How many keys the store has, by its index: whoever then [lists](Self::list) fewer knows that rows of keys were deleted, which
    /// [`check`](Self::check) names. `None` if rows of the index are damaged, or the principal may not list all keys.
    ///
    /// # Errors
    ///
    /// Those of the storage.
    pub fn indexed_keys(&self, principal: &Principal) -> Result<Option<u64>, StoreError> {
        let inner = self.inner();
        match inner.grants().permits_all(principal, Verb::List) {
            true => inner.table.indexed_keys(),
            false => Ok(None),
        }
    }

    /// A key with its versions and public keys.
    ///
    /// # Errors
    ///
    /// [`StoreError::Denied`], [`StoreError::NotFound`], [`StoreError::Damaged`] if a version of it is, and those of the
    /// storage.
    pub fn show(&self, principal: &Principal, name: &KeyName) -> Result<KeyDetails, StoreError> {
        let inner = self.inner();
        inner.permitted(principal, Verb::Show, name)?;
        let Whole {
            record, versions, ..
        } = inner.whole(name)?;
        let version = |(version, state, found): (Version, VersionState, VersionRecord)| {
            Ok(VersionDetails {
                version,
                state,
                created: found.created,
                by: found.by,
                origin: found.origin,
                token: found.private.in_token().map(|place| place.token.clone()),
                token_serial: found
                    .private
                    .in_token()
                    .and_then(|place| place.serial.clone()),
                public_key: AnyPublicKey::from_spki_der(&found.spki)?,
            })
        };
        Ok(KeyDetails {
            name: name.clone(),
            algorithm: record.algorithm,
            created: record.created,
            rotated: record.rotated,
            is_due: inner.time().is_some_and(|now| record.is_due(now)),
            token: record.token,
            versions: versions
                .into_iter()
                .map(version)
                .collect::<Result<_, StoreError>>()?,
            policy: record.policy,
        })
    }
}

fn summary(name: &KeyName, record: &KeyRecord, now: Option<u64>) -> KeySummary {
    let newest = record.newest();
    KeySummary {
        name: name.clone(),
        algorithm: record.algorithm,
        newest,
        state: record.state(newest).unwrap_or(VersionState::Disabled),
        created: record.created,
        rotated: record.rotated,
        is_due: now.is_some_and(|now| record.is_due(now)),
    }
}

/// A key with all its versions, the oldest first, and the head of the log, of one moment.
pub(super) struct Whole {
    pub(super) record: KeyRecord,
    pub(super) versions: Vec<(Version, VersionState, VersionRecord)>,
    pub(super) head: LogHead,
}

/// The names of some keys.
pub(super) struct Names {
    pub(super) names: Vec<KeyName>,
    /// Rows whose keys name no key.
    pub(super) damaged: Vec<StoreError>,
    /// The last of these rows, if there are more after it.
    pub(super) next: Option<KeyName>,
}

impl Inner {
    /// The names of keys after a row, as the storage has them.
    pub(super) fn names(
        &self,
        tenant: Option<&str>,
        after: Option<&RowKey>,
        limit: usize,
    ) -> Result<Names, StoreError> {
        let prefix = tenant.map_or_else(RowPrefix::keys, RowPrefix::keys_of_tenant);
        let mut names = Names {
            names: Vec::new(),
            damaged: Vec::new(),
            next: None,
        };
        let mut after = after.cloned();
        loop {
            let page =
                self.table
                    .storage
                    .list(&prefix, after.as_ref(), limit.clamp(1, MAX_PAGE))?;
            for (row, _) in &page.rows {
                match row.as_str().strip_prefix("key/").map(str::parse) {
                    Some(Ok(name)) => names.names.push(name),
                    _ => names
                        .damaged
                        .push(StoreError::damaged(row, Damage::Unauthentic)),
                }
            }
            // A page ends with a key, or all rows end: rows that name no key hide none.
            names.next = names.names.last().filter(|_| page.more).cloned();
            if names.next.is_some() || !page.more {
                return Ok(names);
            }
            after = page.rows.last().map(|(row, _)| row.clone());
        }
    }

    /// Whether a principal may do something with a key.
    pub(super) fn may(
        &self,
        principal: &Principal,
        verb: Verb,
        name: &KeyName,
        record: &KeyRecord,
    ) -> bool {
        record.permits(principal, verb) || self.grants().permits(principal, verb, name)
    }

    /// A key with all its versions, and the head of the log, of one moment.
    pub(super) fn whole(&self, name: &KeyName) -> Result<Whole, StoreError> {
        let row = RowKey::key(name);
        'again: for _ in 0..TRIES {
            let rows = self.table.read(core::slice::from_ref(&row))?;
            let not_found = || StoreError::NotFound(name.clone());
            let record = rows.key(name)?.ok_or_else(not_found)?;
            let (revision, mut head) = (rows.row_revision(&row), rows.head);
            let mut states: Vec<_> = record.newest_first().collect();
            states.reverse();
            let mut versions = Vec::with_capacity(states.len());
            for states in states.chunks(VERSIONS_AT_ONCE) {
                let mut wanted = vec![row.clone()];
                wanted.extend(
                    states
                        .iter()
                        .map(|(version, _)| RowKey::version(&name.at(*version))),
                );
                let rows = self.table.read(&wanted)?;
                if rows.row_revision(&row) != revision {
                    continue 'again;
                }
                head = rows.head;
                for (version, state) in states {
                    let found = rows.version(&name.at(*version), &record)?;
                    versions.push((*version, *state, found));
                }
            }
            return Ok(Whole {
                record,
                versions,
                head,
            });
        }
        Err(StoreError::Contended)
    }
}
