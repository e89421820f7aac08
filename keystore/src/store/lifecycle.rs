//! Keys are created, imported, rotated, given another policy, and exported.

use pq_keys::PrivateKey;
use pq_keys::any::{AnyAlgorithm, AnyPrivateKey, Readable};
use pq_keys::signing::Mode;
use zeroize::Zeroizing;

use super::Store;
use super::commit::Plan;
use super::error::StoreError;
use super::held::HeldKey;
use super::inner::Inner;
use super::making::{NOT_FROM_TOKENS, NewKey, When, check_same, require_enabled};
use super::rows::{Draft, Rows};
use super::showing::Names;
use super::using::{check_minimum, check_not_below};
use crate::audit::{Act, Event};
use crate::custody::TokenName;
use crate::name::{KeyId, KeyName, Version};
use crate::policy::{Policy, Principal, Verb};
use crate::record::KeyRecord;
use crate::storage::RowKey;

/// How many keys one page of a search for due keys has.
const PAGE: usize = 100;

/// What became of a key that was due for rotation.
#[derive(Debug)]
#[non_exhaustive]
pub struct Rotated {
    /// The key.
    pub key: KeyName,
    /// Its new version, or why there is none.
    pub result: Result<KeyId, StoreError>,
}

/// A look for keys that are due ended before all were looked at.
#[derive(Debug, thiserror::Error)]
#[error("{error}")]
#[non_exhaustive]
pub struct RotationEnded {
    /// What became of the keys that were due until then.
    pub rotated: Vec<Rotated>,
    /// Why it ended.
    pub error: Box<StoreError>,
}

impl Store {
    /// Makes a new key, with one version.
    ///
    /// # Errors
    ///
    /// [`StoreError::Denied`] if the store doesn't grant [`Verb::Create`] with such a name, [`StoreError::Exists`],
    /// [`StoreError::Policy`] if the policy can't be like this, [`StoreError::Algorithm`] for keys that only agree on
    /// secrets, and those of the storage.
    pub fn create_key(
        &self,
        principal: &Principal,
        name: &KeyName,
        algorithm: AnyAlgorithm,
        policy: &Policy,
    ) -> Result<KeyId, StoreError> {
        self.inner().measured(Verb::Create, name, || {
            let inner = self.inner();
            inner.permitted_new(principal, Verb::Create, name)?;
            check_algorithm(algorithm)?;
            let key = AnyPrivateKey::generate(algorithm)?;
            inner.add_key(principal, Verb::Create, name, &NewKey::Here(&key), policy)
        })
    }

    /// Makes a new key in a token that the store was [given](crate::StoreOptions::token). Its private key never leaves the
    /// token, and those of later versions are made there, too.
    ///
    /// # Errors
    ///
    /// As [`create_key`](Self::create_key); [`StoreError::Policy`] if the policy permits exports; and [`StoreError::Token`] if
    /// the token isn't given, or makes no such key.
    pub fn create_key_in(
        &self,
        principal: &Principal,
        name: &KeyName,
        algorithm: AnyAlgorithm,
        policy: &Policy,
        token: &TokenName,
    ) -> Result<KeyId, StoreError> {
        self.inner().measured(Verb::Create, name, || {
            let inner = self.inner();
            inner.permitted_new(principal, Verb::Create, name)?;
            check_algorithm(algorithm)?;
            inner.check_new_in_token(name, policy)?;
            inner.made_in_token(token, algorithm, name, |made| {
                let key = NewKey::InToken(made);
                inner.add_key(principal, Verb::Create, name, &key, policy)
            })
        })
    }

    /// Puts a private key that was made elsewhere into the store, as the first version of a new key. Whoever had it before
    /// may still have it.
    ///
    /// # Errors
    ///
    /// As [`create_key`](Self::create_key), with [`Verb::Import`]; [`StoreError::Key`] if the parts of the key don't
    /// belong together.
    pub fn import_key(
        &self,
        principal: &Principal,
        name: &KeyName,
        key: &AnyPrivateKey,
        policy: &Policy,
    ) -> Result<KeyId, StoreError> {
        self.inner().measured(Verb::Import, name, || {
            let inner = self.inner();
            inner.permitted_new(principal, Verb::Import, name)?;
            check_import(key)?;
            inner.add_key(principal, Verb::Import, name, &NewKey::Here(key), policy)
        })
    }

    /// Puts a private key that was made elsewhere into the store, as the newest version of a key of the same algorithm.
    ///
    /// # Errors
    ///
    /// As [`import_key`](Self::import_key), and [`StoreError::NotFound`]; [`StoreError::Policy`] for a key whose versions are made
    /// in a token.
    pub fn import_version(
        &self,
        principal: &Principal,
        name: &KeyName,
        key: &AnyPrivateKey,
    ) -> Result<KeyId, StoreError> {
        self.inner().measured(Verb::Import, name, || {
            self.inner().permitted(principal, Verb::Import, name)?;
            check_import(key)?;
            let key = NewKey::Here(key);
            self.inner()
                .add_version(principal, Verb::Import, name, &key, None, When::Now)
        })
    }

    /// Puts a private key that was made elsewhere into a token, as the first version of a new key: ML-DSA and ML-KEM by their
    /// seeds (`CKA_SEED`), and ECDSA. The store keeps nothing of it, and later versions are made in the token. Whoever had it
    /// before may still have it; [`Origin::Imported`](crate::Origin::Imported) says so.
    ///
    /// The key is tried out in the token before there is such a version.
    ///
    /// # Errors
    ///
    /// As [`create_key_in`](Self::create_key_in), with [`Verb::Import`]; [`StoreError::Token`] also if the token takes no such
    /// key, or ML-DSA or ML-KEM comes without its seed; [`StoreError::Key`] if the parts of the key don't belong together.
    pub fn import_key_in(
        &self,
        principal: &Principal,
        name: &KeyName,
        key: &AnyPrivateKey,
        policy: &Policy,
        token: &TokenName,
    ) -> Result<KeyId, StoreError> {
        self.inner().measured(Verb::Import, name, || {
            let inner = self.inner();
            inner.permitted_new(principal, Verb::Import, name)?;
            check_import(key)?;
            inner.check_new_in_token(name, policy)?;
            inner.put_in_token(token, key, name, |made| {
                let key = NewKey::InToken(made);
                inner.add_key(principal, Verb::Import, name, &key, policy)
            })
        })
    }

    /// Puts a private key that was made elsewhere into a token, as the newest version of a key of the same algorithm. From
    /// then on, its versions are made there.
    ///
    /// # Errors
    ///
    /// As [`import_key_in`](Self::import_key_in), and [`StoreError::NotFound`].
    pub fn import_version_in(
        &self,
        principal: &Principal,
        name: &KeyName,
        key: &AnyPrivateKey,
        token: &TokenName,
    ) -> Result<KeyId, StoreError> {
        self.inner().measured(Verb::Import, name, || {
            let inner = self.inner();
            let record = &inner.permitted(principal, Verb::Import, name)?.record;
            check_import(key)?;
            // What stands in the way anyhow leaves no key in the token.
            check_same(record.algorithm, key.algorithm())?;
            if record.policy.exportable {
                return Err(StoreError::Policy(NOT_FROM_TOKENS));
            }
            inner.check_place(name, record)?;
            inner.put_in_token(token, key, name, |made| {
                let key = NewKey::InToken(made);
                inner.add_version(principal, Verb::Import, name, &key, Some(token), When::Now)
            })
        })
    }

    /// Makes a new version, which signs from now on, where that before it was made. Those before it still verify and
    /// decapsulate.
    ///
    /// # Errors
    ///
    /// [`StoreError::Denied`], [`StoreError::NotFound`], [`StoreError::Limit`] if the key has 4,096 versions,
    /// [`StoreError::Token`] if its token makes none, and those of the storage.
    pub fn rotate(&self, principal: &Principal, name: &KeyName) -> Result<KeyId, StoreError> {
        self.inner().rotate_in_place(principal, name, When::Now)
    }

    /// Makes a new version in this token, or in the store, and those after it, too. So a key moves to a token: versions of before
    /// stay where they are, until they are destroyed.
    ///
    /// # Errors
    ///
    /// As [`rotate`](Self::rotate), and [`StoreError::Policy`] if the key may be exported and the place is a token.
    pub fn rotate_to(
        &self,
        principal: &Principal,
        name: &KeyName,
        token: Option<&TokenName>,
    ) -> Result<KeyId, StoreError> {
        self.inner().measured(Verb::Rotate, name, || {
            let inner = self.inner();
            inner.permitted(principal, Verb::Rotate, name)?;
            inner.rotate(principal, name, token, When::Now)
        })
    }

    /// Rotates all keys whose newest version is older than their policy wants, as far as the principal may rotate them,
    /// and others haven't meanwhile. Returns what became of each of them.
    ///
    /// # Errors
    ///
    /// If the keys can't be listed; [`StoreError::ClockBehind`] and [`StoreError::ClockAhead`] if the first one seems to be due
    /// by such a clock, and then none is rotated. What was done before comes [with the error](RotationEnded).
    pub fn rotate_due(&self, principal: &Principal) -> Result<Vec<Rotated>, RotationEnded> {
        self.rotate_due_unless(principal, &|| false)
    }

    /// The same, which ends between two keys if it is over.
    pub(super) fn rotate_due_unless(
        &self,
        principal: &Principal,
        is_over: &dyn Fn() -> bool,
    ) -> Result<Vec<Rotated>, RotationEnded> {
        let mut rotated = Vec::new();
        match self.look_for_due(principal, is_over, &mut rotated) {
            Ok(()) => Ok(rotated),
            Err(error) => Err(RotationEnded {
                rotated,
                error: error.into(),
            }),
        }
    }

    /// The same, which tells of each key at once.
    fn look_for_due(
        &self,
        principal: &Principal,
        is_over: &dyn Fn() -> bool,
        rotated: &mut Vec<Rotated>,
    ) -> Result<(), StoreError> {
        let inner = self.inner();
        // A store in which nothing changes for long, but keys are looked at, knows the time.
        inner.note_time_alone();
        let mut is_clock_checked = false;
        let mut after = None;
        loop {
            // A row that names no key has nothing to rotate.
            let Names { names, next, .. } = inner.names(None, after.as_ref(), PAGE)?;
            // Not by the cache, which has what is in use.
            let rows: Vec<_> = names.iter().map(RowKey::key).collect();
            let rows = inner.table.read(&rows)?;
            for name in names {
                if is_over() {
                    return Ok(());
                }
                let is_due = match rows.key(&name) {
                    Ok(Some(record)) => {
                        record.is_due(inner.options.now())
                            && inner.may(principal, Verb::Rotate, &name, &record)
                    }
                    Ok(None) => false,
                    Err(error) => {
                        match inner.told(principal, Verb::Rotate, &name, error) {
                            StoreError::Denied { .. } => {}
                            error => rotated.push(Rotated {
                                key: name,
                                result: Err(error),
                            }),
                        }
                        continue;
                    }
                };
                if is_due {
                    // By a wrong clock nobody knows what is due. The server comes again soon, and would make all these keys for
                    // nothing each time.
                    if !is_clock_checked || principal.is_auto_rotate() {
                        inner.check_clock(inner.options.now())?;
                        is_clock_checked = true;
                    }
                    match inner.rotate_in_place(principal, &name, When::Due) {
                        // Others have rotated it meanwhile.
                        Err(StoreError::NotDue(_)) => {}
                        result => rotated.push(Rotated { key: name, result }),
                    }
                }
            }
            match next {
                Some(next) => after = Some(RowKey::key(&next)),
                None => return Ok(()),
            }
        }
    }

    /// Changes the policy of a key.
    ///
    /// # Errors
    ///
    /// [`StoreError::Denied`], [`StoreError::NotFound`], [`StoreError::Policy`] if it can't be like this, and
    /// [`StoreError::ExportableChanged`].
    pub fn set_policy(
        &self,
        principal: &Principal,
        name: &KeyName,
        policy: &Policy,
    ) -> Result<(), StoreError> {
        self.inner()
            .change_key(principal, Verb::SetPolicy, name, &[], |_, record, _, _| {
                if let Some(problem) = policy.problem_for(record.newest()) {
                    return Err(StoreError::Policy(problem));
                }
                if record.policy.exportable != policy.exportable {
                    return Err(StoreError::ExportableChanged(name.clone()));
                }
                record.policy = policy.clone();
                Ok((None, ()))
            })
    }

    /// Takes the private key of a version out of the store, as PKCS#8. The log says so before the key is given out.
    ///
    /// # Errors
    ///
    /// [`StoreError::NotExportable`] unless the key's policy permitted it at its creation, [`StoreError::State`] unless the
    /// version is enabled, [`StoreError::BelowMinimum`] if it is older than the policy permits, as in Vault,
    /// [`StoreError::Denied`], and those of the storage.
    pub fn export(
        &self,
        principal: &Principal,
        id: &KeyId,
    ) -> Result<Zeroizing<Vec<u8>>, StoreError> {
        self.inner().measured(Verb::Export, id.name(), || {
            let (inner, name) = (self.inner(), id.name());
            let key = inner.permitted(principal, Verb::Export, name)?;
            if !key.record.policy.exportable {
                return Err(StoreError::NotExportable(name.clone()));
            }
            check_minimum(&key, id.version())?;
            let private = inner.private(&key, id.version(), Verb::Export)?;
            let HeldKey::Here(private) = &*private else {
                return Err(StoreError::NotExportable(name.clone()));
            };
            let exported = private.to_pkcs8_der()?;
            // The state that the key was read in has to be the current one.
            inner.change_key(principal, Verb::Export, name, &[], |_, record, _, _| {
                require_enabled(record, id, Verb::Export)?;
                check_not_below(id, record.policy.min_version)?;
                Ok((Some(id.version()), ()))
            })?;
            Ok(exported)
        })
    }
}

/// Keys that agree on secrets have no verb here.
fn check_algorithm(algorithm: AnyAlgorithm) -> Result<(), StoreError> {
    match algorithm {
        AnyAlgorithm::Agreement(_) => Err(StoreError::Algorithm {
            algorithm,
            what: "sign or encapsulate, so the store has no use for it",
        }),
        _ => Ok(()),
    }
}

/// Checks a key that comes from elsewhere.
fn check_import(key: &AnyPrivateKey) -> Result<(), StoreError> {
    let algorithm = key.algorithm();
    check_algorithm(algorithm)?;
    let is_hash_slh_dsa = match key {
        AnyPrivateKey::PostQuantum(PrivateKey::Signing(key)) => {
            key.verifying_key().mode() == Mode::PreHash
        }
        _ => false,
    };
    if is_hash_slh_dsa {
        return Err(StoreError::Algorithm {
            algorithm,
            what: "be bound to a pre-hash here; give digests to a key of SLH-DSA instead",
        });
    }
    Ok(key.check()?)
}

impl Inner {
    /// Checks what stands in the way of a new key in a token anyhow, so that none is left there.
    fn check_new_in_token(&self, name: &KeyName, policy: &Policy) -> Result<(), StoreError> {
        if policy.exportable {
            return Err(StoreError::Policy(NOT_FROM_TOKENS));
        }
        if let Some(problem) = policy.problem_for(Version::FIRST) {
            return Err(StoreError::Policy(problem));
        }
        match self.key(name)? {
            Some(_) => Err(StoreError::Exists(name.clone())),
            None => Ok(()),
        }
    }

    /// Makes a new version where that before it was made.
    fn rotate_in_place(
        &self,
        principal: &Principal,
        name: &KeyName,
        when: When,
    ) -> Result<KeyId, StoreError> {
        self.measured(Verb::Rotate, name, || {
            let key = self.permitted(principal, Verb::Rotate, name)?;
            self.rotate(principal, name, key.record.token.as_ref(), when)
        })
    }

    /// Changes a key, if the principal may: `decide` gets the key's record to be changed, and says which version the log
    /// names.
    pub(super) fn change_key<T>(
        &self,
        principal: &Principal,
        act: impl Into<Act>,
        name: &KeyName,
        versions: &[Version],
        mut decide: impl FnMut(
            &Rows<'_>,
            &mut KeyRecord,
            &mut Draft<'_>,
            u64,
        ) -> Result<(Option<Version>, T), StoreError>,
    ) -> Result<T, StoreError> {
        let act = act.into();
        let verb = act.verb;
        let (store, key_row) = (RowKey::store(), RowKey::key(name));
        let mut wanted = vec![store.clone(), key_row.clone()];
        wanted.extend(
            versions
                .iter()
                .map(|version| RowKey::version(&name.at(*version))),
        );
        let changed = self.commit(&wanted, |rows, now| {
            let grants = rows.store()?.grants;
            let found = rows.key(name);
            let found = found.map_err(|error| self.told(principal, verb, name, error))?;
            let own = found.as_ref();
            let is_permitted = own.is_some_and(|own| own.permits(principal, verb))
                || grants.permits(principal, verb, name);
            let mut record = match found {
                _ if !is_permitted => return Err(self.denied(principal, verb, Some(name))),
                Some(record) => record,
                None => return Err(StoreError::NotFound(name.clone())),
            };
            if record.is_deleted() && matches!(verb, Verb::Rotate | Verb::Import | Verb::SetPolicy)
            {
                return Err(StoreError::Deleted(name.clone()));
            }
            let mut draft = rows.change();
            draft.rely_on(&store);
            let (version, value) = decide(rows, &mut record, &mut draft, now)?;
            record.serial = record.serial.saturating_add(1);
            draft.set_serial(&key_row, record.serial)?;
            let row = draft.put(&key_row, record.encode());
            let event = Event::done(principal, act).with(name, version);
            Ok(Plan {
                rows: draft.finish(),
                events: vec![event.leaving(rows.value(&key_row), &row)],
                value: (value, record),
            })
        });
        match changed {
            Ok(((value, record), revision)) => {
                self.keep_written(name, record, revision);
                Ok(value)
            }
            Err(error) => {
                self.reload(name);
                Err(error)
            }
        }
    }
}
