//! Stores are created, opened, and put under another key.

use alloc::collections::BTreeMap;
use alloc::sync::Arc;
use core::slice;

use pq_keys::any::{AnyAlgorithm, AnyPrivateKey, AnyPublicKey, AnySigningKey, Readable};
use pq_keys::{SignatureAlgorithm, SubjectKey, random};

use super::Store;
use super::cache::Made;
use super::commit::Plan;
use super::error::{Damage, StoreError};
use super::inner::Inner;
use super::options::StoreOptions;
use super::rows::{Draft, Rows, Table, of_rows, place_of};
use super::worker::Worker;
use crate::audit::{Deed, Event};
use crate::policy::{Principal, Role, Verb};
use crate::record::{BUCKETS, ClockRecord, IndexRecord, Scope, StoreGrants, StoreRecord};
use crate::sealing::{Bound, Kek, KekRecord, Sealer, new_store_key};
use crate::storage::{
    Append, Change, CommitError, Expected, LogHead, RowChange, RowKey, RowPrefix, Storage, Write,
};

/// The rows without which nothing is a store.
fn of_store() -> [RowKey; 2] {
    [RowKey::kek(), RowKey::store()]
}

/// What a storage without a store has instead.
fn none_in(storage: &dyn Storage) -> Result<StoreError, StoreError> {
    let has_log = storage.get(&[])?.head != LogHead::EMPTY;
    let is_empty = !has_log && storage.list(&RowPrefix::all(), None, 1)?.rows.is_empty();
    Ok(match is_empty {
        true => StoreError::NoStore(storage.description()),
        false => StoreError::Unfinished(storage.description()),
    })
}

/// Why there is no room for a new store.
fn taken_by(storage: &dyn Storage) -> Result<StoreError, StoreError> {
    let rows = storage.get(&of_store())?.rows;
    Ok(match rows.iter().any(Option::is_some) {
        true => StoreError::StoreExists(storage.description()),
        false => StoreError::Unfinished(storage.description()),
    })
}

/// What signs attestations and heads of the log.
const OWN_ALGORITHM: SignatureAlgorithm = SignatureAlgorithm::MlDsa65;

impl Store {
    /// Creates a store in a storage that has none. The principal gets the rights of an
    /// [administrator](Role::Administrator).
    ///
    /// # Errors
    ///
    /// [`StoreError::StoreExists`] if there is one already, [`StoreError::Unfinished`] if a copy of one was begun there, and others if the storage can't be written or the key of the
    /// store not be wrapped.
    pub fn create(
        storage: Arc<dyn Storage>,
        kek: &dyn Kek,
        administrator: &Principal,
        options: StoreOptions,
    ) -> Result<Self, StoreError> {
        let mut id = [0; 16];
        random::fill(&mut id)?;
        let sealer = Sealer::new(id, new_store_key()?);
        let key = AnyPrivateKey::generate(OWN_ALGORITHM.into())?;
        let spki = key.spki().to_vec();
        let sealed = sealer.seal(&own_bound(&spki), &key.to_pkcs8_der()?)?;
        let now = options.now();
        let wrapped = KekRecord::wrap(kek, 1, id, sealer.store_key())?;
        let grants =
            StoreGrants::new().grant(&Scope::all(), administrator, Role::Administrator.verbs());
        let record = StoreRecord {
            serial: 1,
            kek: wrapped.serial,
            id,
            created: now,
            grants,
            spki,
            sealed,
        };
        let store_row = sealer.authenticate(RowKey::store().as_str(), record.encode());
        let event = Event::done(administrator, Deed::Init).leaving(None, &store_row);
        let entry = event.entry_after(&sealer, &LogHead::EMPTY, id, now)?;
        let mut values = first_index(&sealer);
        values.push((RowKey::kek(), wrapped.encode()));
        let clock = ClockRecord {
            serial: 1,
            latest: now,
        };
        let clock = sealer.authenticate(RowKey::clock().as_str(), clock.encode());
        values.push((RowKey::clock(), clock));
        values.push((RowKey::store(), store_row));
        let row = |(key, value)| RowChange {
            key,
            expected: Expected::Absent,
            write: Write::Put(value),
        };
        let change = Change {
            append: Some(Append {
                after: LogHead::EMPTY,
                entries: vec![entry],
            }),
            ..of_rows(values.into_iter().map(row).collect())
        };
        match storage.commit(&change) {
            Ok(_) => {}
            Err(CommitError::Conflict) => return Err(taken_by(&*storage)?),
            Err(CommitError::Storage(error)) => return Err(error.into()),
            Err(error @ CommitError::OutcomeUnknown { .. }) => {
                return Err(StoreError::OutcomeUnknown(error.to_string()));
            }
        }
        Self::open(storage, kek, options)
    }

    /// Opens a store.
    ///
    /// # Errors
    ///
    /// [`StoreError::NoStore`] if there is none, [`StoreError::Unfinished`] if it was not copied wholly, [`StoreError::Kek`] if its key can't be unwrapped,
    /// [`StoreError::Damaged`] if the rows of the store itself aren't as they were written, [`StoreError::Log`] if the last
    /// entry of the audit log isn't one that the store wrote, and others if the storage can't
    /// be read.
    pub fn open(
        storage: Arc<dyn Storage>,
        kek: &dyn Kek,
        options: StoreOptions,
    ) -> Result<Self, StoreError> {
        let row = RowKey::kek();
        let found = storage.get(&of_store())?.rows;
        let [wrapped, store] = <[_; 2]>::try_from(found).unwrap_or_default();
        let wrapped = match (wrapped, store) {
            (Some(wrapped), _) => wrapped,
            (None, Some(_)) => return Err(StoreError::damaged(row, Damage::Missing)),
            (None, None) => return Err(none_in(&*storage)?),
        };
        let wrapped = KekRecord::decode(&wrapped.value)
            .map_err(|error| StoreError::damaged(&row, Damage::Record(error)))?;
        let sealer = Sealer::new(wrapped.store, wrapped.unwrap(kek)?);
        let table = Table {
            storage,
            sealer,
            store: wrapped.store,
            epoch: Arc::default(),
        };
        let rows = table.read(&[RowKey::store(), row.clone()])?;
        rows.check_serial(&row, wrapped.serial)?;
        let (written, record) = rows.store_written()?;
        // What others add from now on, a check reads.
        let head = rows.head;
        drop(rows);
        table.entries(head.sequence, 1)?;
        if record.kek != wrapped.serial {
            return Err(StoreError::damaged(&row, Damage::PutBack));
        }
        let own_key = own_key(&table, &record)?;
        let inner = Inner::new(table, options, own_key, (written, record.grants));
        Ok(Self(Arc::new(Worker::start(inner)?)))
    }

    /// Puts the store under another key. It touches no key of the store, and takes as long with many as with one.
    ///
    /// The storage's backups are still under the key before.
    ///
    /// # Errors
    ///
    /// If the principal may not [administer](Verb::Administer) the store, or the new key doesn't wrap.
    pub fn rewrap(&self, principal: &Principal, kek: &dyn Kek) -> Result<(), StoreError> {
        let inner = self.inner();
        let key = RowKey::kek();
        let store_key = inner.table.sealer.store_key();
        let written = inner.administer(
            principal,
            Deed::Rewrap,
            slice::from_ref(&key),
            |rows, record| {
                let value = rows.value(&key);
                let value = value.ok_or_else(|| StoreError::damaged(&key, Damage::Missing))?;
                let before = KekRecord::decode(value)
                    .map_err(|error| StoreError::damaged(&key, Damage::Record(error)))?;
                rows.check_serial(&key, before.serial)?;
                let serial = before.serial.saturating_add(1);
                let wrapped = KekRecord::wrap(kek, serial, inner.table.store, store_key)?;
                record.kek = serial;
                let mut draft = rows.change();
                draft.put_plain(&key, wrapped.encode());
                draft.set_serial(&key, serial)?;
                Ok(draft)
            },
        );
        written.map(drop)
    }

    /// Who may do what in the store.
    ///
    /// # Errors
    ///
    /// If the principal may not [administer](Verb::Administer) the store.
    pub fn store_grants(&self, principal: &Principal) -> Result<StoreGrants, StoreError> {
        let inner = self.inner();
        let grants = inner.grants();
        inner.check_store_right(&grants, principal, Verb::Administer)?;
        Ok((*grants).clone())
    }

    /// Changes who may do what in the store.
    ///
    /// # Errors
    ///
    /// If the principal may not [administer](Verb::Administer) the store, or would lose that right;
    /// [`StoreError::Policy`] if there are too many grants.
    pub fn set_store_grants(
        &self,
        principal: &Principal,
        grants: &StoreGrants,
    ) -> Result<(), StoreError> {
        let inner = self.inner();
        let written = inner.administer(principal, Deed::SetGrants, &[], |rows, record| {
            if !grants.is_short() {
                return Err(StoreError::Policy("a store has at most 128 grants"));
            }
            if !grants.permits_all(principal, Verb::Administer) {
                return Err(StoreError::Policy(
                    "whoever changes the grants keeps the right to administer the store",
                ));
            }
            record.grants = grants.clone();
            Ok(rows.change())
        })?;
        match written {
            // Others may have written theirs since.
            Some(made) => {
                inner.relies_on(made.head);
                inner.set_grants(made.written, grants.clone());
            }
            // They are written, and seen when the storage is.
            None => drop(inner.refresh()),
        }
        Ok(())
    }

    /// The number of the store, which is random.
    pub fn id(&self) -> [u8; 16] {
        self.inner().table.store
    }

    /// The public key that verifies the store's attestations and heads of its log.
    pub fn public_key(&self) -> AnyPublicKey {
        self.inner().own_key.public_half()
    }

    pub(super) fn inner(&self) -> &Inner {
        self.0.inner()
    }
}

impl Inner {
    /// Writes the store's own row as it is, so that what relies on it is decided on anew.
    pub(super) fn touch_store(&self, principal: &Principal, deed: Deed) -> Result<(), StoreError> {
        let written = self.administer(principal, deed, &[], |rows, _| Ok(rows.change()));
        written.map(drop)
    }

    /// Changes the record of the store, and other rows of it, and says so in the log. Returns when it was written, unless the
    /// storage lost that.
    fn administer(
        &self,
        principal: &Principal,
        deed: Deed,
        keys: &[RowKey],
        mut decide: impl for<'r> FnMut(&'r Rows<'_>, &mut StoreRecord) -> Result<Draft<'r>, StoreError>,
    ) -> Result<Option<Made>, StoreError> {
        let store = RowKey::store();
        let wanted = [keys, slice::from_ref(&store)].concat();
        let ((), written) = self.commit(&wanted, |rows, _| {
            let mut record = rows.store()?;
            self.check_store_right(&record.grants, principal, Verb::Administer)?;
            let mut draft = decide(rows, &mut record)?;
            record.serial = record.serial.saturating_add(1);
            draft.set_serial(&store, record.serial)?;
            let row = draft.put(&store, record.encode());
            Ok(Plan {
                rows: draft.finish(),
                events: vec![Event::done(principal, deed).leaving(rows.value(&store), &row)],
                value: (),
            })
        })?;
        Ok(written)
    }
}

/// What the store's own private key is bound to.
fn own_bound(spki: &[u8]) -> Bound<'_> {
    Bound {
        row: "store",
        algorithm: OWN_ALGORITHM.name(),
        spki,
        exportable: false,
    }
}

fn own_key(table: &Table, record: &StoreRecord) -> Result<AnySigningKey, StoreError> {
    let damaged = || StoreError::damaged(RowKey::store(), Damage::PrivateKey);
    let opened = table.sealer.open(&own_bound(&record.spki), &record.sealed);
    let key = AnySigningKey::from_der(&opened.map_err(|_| damaged())?).map_err(|_| damaged())?;
    let is_own = key.algorithm() == AnyAlgorithm::from(OWN_ALGORITHM)
        && *key.spki() == *record.spki
        && record.id == table.store;
    match is_own {
        true => Ok(key),
        false => Err(damaged()),
    }
}

/// All rows of the index, in which stand those of the store.
fn first_index(sealer: &Sealer) -> Vec<(RowKey, Vec<u8>)> {
    let mut index: BTreeMap<u8, IndexRecord> = (0..BUCKETS)
        .map(|bucket| (bucket, IndexRecord::default()))
        .collect();
    for key in [RowKey::store(), RowKey::kek(), RowKey::clock()] {
        let place = place_of(sealer, &key);
        index.entry(place.bucket).or_default().set(place, 1);
    }
    let row = |(bucket, index): (u8, IndexRecord)| {
        let key = RowKey::index(bucket);
        let value = sealer.authenticate(key.as_str(), index.encode());
        (key, value)
    };
    index.into_iter().map(row).collect()
}
