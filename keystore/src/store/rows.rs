//! Rows of one moment, checked, and changes of them: what all operations read and write.

use alloc::collections::BTreeMap;
use alloc::sync::Arc;
use core::sync::atomic::{AtomicU64, Ordering};

use super::cache::Moment;
use super::error::{Damage, StoreError};
use crate::encoding::InvalidRecord;
use crate::name::{KeyId, KeyName, Version};
#[cfg(feature = "door")]
use crate::record::WrappingRecord;
use crate::record::{
    BUCKETS, ClockRecord, IndexPlace, IndexRecord, KeyRecord, StoreRecord, VersionRecord,
};
use crate::sealing::{KekRecord, Sealer};
use crate::storage::{
    Change, Expected, LogHead, Row, RowChange, RowKey, RowPrefix, Snapshot, Storage, StorageError,
    Write,
};

/// The storage, with the keys that check what it has.
pub(super) struct Table {
    pub(super) storage: Arc<dyn Storage>,
    pub(super) sealer: Sealer,
    /// The number of the store.
    pub(super) store: [u8; 16],
    /// How often the storage's contents were replaced, as far as was noticed.
    pub(super) epoch: Arc<AtomicU64>,
}

/// Rows of one moment.
pub(super) struct Rows<'a> {
    sealer: &'a Sealer,
    found: BTreeMap<RowKey, Option<Row>>,
    pub(super) head: LogHead,
    pub(super) revision: u64,
    /// That of the table before they were read.
    pub(super) epoch: u64,
}

/// Where a row stands in the index.
pub(super) fn place_of(sealer: &Sealer, key: &RowKey) -> IndexPlace {
    IndexPlace::new(&sealer.place(key.as_str()))
}

/// The row of the index where a row stands.
fn index_of(sealer: &Sealer, key: &RowKey) -> RowKey {
    RowKey::index(place_of(sealer, key).bucket)
}

impl Table {
    /// Reads rows, those of the index where they stand, and whether they are rows of this store.
    pub(super) fn read(&self, keys: &[RowKey]) -> Result<Rows<'_>, StoreError> {
        let mut wanted: Vec<RowKey> = keys.to_vec();
        wanted.extend(keys.iter().map(|key| index_of(&self.sealer, key)));
        wanted.push(RowKey::kek());
        wanted.sort_unstable();
        wanted.dedup();
        let epoch = self.epoch.load(Ordering::Acquire);
        let Snapshot {
            rows,
            head,
            revision,
        } = self.storage.get(&wanted)?;
        // It has an entry since the store was created.
        if head == LogHead::EMPTY {
            return Err(self.damaged("its audit log is empty"));
        }
        let rows = Rows {
            sealer: &self.sealer,
            found: wanted.into_iter().zip(rows).collect(),
            head,
            revision,
            epoch,
        };
        // If it can't be read, whoever needs it says so.
        let wrapped = rows.value(&RowKey::kek()).map(KekRecord::decode);
        match wrapped {
            Some(Ok(wrapped)) if wrapped.store != self.store => {
                Err(StoreError::OtherStore(self.storage.description()))
            }
            _ => Ok(rows),
        }
    }

    /// Reads a key, and with it the rows of versions.
    pub(super) fn read_key(
        &self,
        name: &KeyName,
        versions: &[Version],
    ) -> Result<(Rows<'_>, KeyRecord), StoreError> {
        let versions = versions.iter().map(|version| name.at(*version));
        let versions = versions.map(|id| RowKey::version(&id));
        let wanted: Vec<_> = [RowKey::key(name)].into_iter().chain(versions).collect();
        let rows = self.read(&wanted)?;
        let record = rows.key(name)?;
        let record = record.ok_or_else(|| StoreError::NotFound(name.clone()))?;
        Ok((rows, record))
    }

    /// Something is wrong with the storage as a whole.
    pub(super) fn damaged(&self, reason: &str) -> StoreError {
        StoreError::Storage(StorageError::Damaged {
            storage: self.storage.description(),
            reason: reason.into(),
        })
    }

    /// All rows of the index, and what is wrong with those that can't be read, also with those in which no key stands.
    fn whole_index(&self) -> Result<Vec<Result<IndexRecord, StoreError>>, StoreError> {
        let keys: Vec<_> = (0..BUCKETS).map(RowKey::index).collect();
        let epoch = self.epoch.load(Ordering::Acquire);
        let found = self.storage.get(&keys)?;
        let rows = Rows {
            sealer: &self.sealer,
            found: keys.iter().cloned().zip(found.rows).collect(),
            head: found.head,
            revision: found.revision,
            epoch,
        };
        Ok(keys.iter().map(|key| rows.index_row(key)).collect())
    }

    /// What is wrong with rows of the index.
    pub(super) fn damaged_index(&self) -> Result<Vec<StoreError>, StoreError> {
        let index = self.whole_index()?.into_iter();
        Ok(index.filter_map(Result::err).collect())
    }

    /// How many keys stand in the index, which never lose their place: `None` if a row of it can't be read.
    pub(super) fn indexed_keys(&self) -> Result<Option<u64>, StoreError> {
        let index: Result<Vec<_>, _> = self.whole_index()?.into_iter().collect();
        let Ok(index) = index else {
            return Ok(None);
        };
        let of_store = [
            RowKey::store(),
            RowKey::kek(),
            RowKey::clock(),
            RowKey::wrapping(),
        ];
        let stands = |key: &&RowKey| {
            let place = place_of(&self.sealer, key);
            let row = index.get(usize::from(place.bucket));
            row.is_some_and(|row| row.serial(place) != 0)
        };
        let all: usize = index.iter().map(IndexRecord::len).sum();
        let others = of_store.iter().filter(stands).count();
        Ok(Some(all.saturating_sub(others) as u64))
    }
}

impl Rows<'_> {
    fn row(&self, key: &RowKey) -> Option<&Row> {
        self.found.get(key)?.as_ref()
    }

    /// When a row was written, in the storage's revisions.
    pub(super) fn row_revision(&self, key: &RowKey) -> Option<u64> {
        self.row(key).map(|row| row.revision)
    }

    /// When a row was written.
    pub(super) fn written(&self, key: &RowKey) -> Option<Moment> {
        let epoch = self.epoch;
        let revision = self.row_revision(key)?;
        Some(Moment { epoch, revision })
    }

    /// How often the row of the wrapped key was written, and at which revision, if it can be read.
    pub(super) fn wrapped(&self) -> Option<(u64, u64)> {
        let row = self.row(&RowKey::kek())?;
        let wrapped = KekRecord::decode(&row.value).ok()?;
        Some((wrapped.serial, row.revision))
    }

    /// A row as it is in the storage.
    pub(super) fn value(&self, key: &RowKey) -> Option<&[u8]> {
        self.row(key).map(|row| row.value.as_slice())
    }

    /// What a row says, if its MAC is right.
    fn read<T>(
        &self,
        key: &RowKey,
        decode: impl FnOnce(&[u8]) -> Result<T, InvalidRecord>,
    ) -> Result<Option<T>, StoreError> {
        let Some(row) = self.row(key) else {
            return Ok(None);
        };
        let checked = self.sealer.check(key.as_str(), &row.value);
        let record = checked.map_err(|_| StoreError::damaged(key, Damage::Unauthentic))?;
        let read = decode(record);
        read.map(Some)
            .map_err(|error| StoreError::damaged(key, Damage::Record(error)))
    }

    /// The index's row where a row stands.
    fn index(&self, key: &RowKey) -> Result<IndexRecord, StoreError> {
        self.index_row(&index_of(self.sealer, key))
    }

    fn index_row(&self, key: &RowKey) -> Result<IndexRecord, StoreError> {
        let index = self.read(key, IndexRecord::decode)?;
        index.ok_or_else(|| StoreError::damaged(key, Damage::Missing))
    }

    /// Checks that a row was written as often as the index says, 0 times if it doesn't exist.
    pub(super) fn check_serial(&self, key: &RowKey, serial: u64) -> Result<(), StoreError> {
        match self.index(key)?.serial(place_of(self.sealer, key)) {
            indexed if indexed == serial => Ok(()),
            _ if serial == 0 => Err(StoreError::damaged(key, Damage::Missing)),
            _ => Err(StoreError::damaged(key, Damage::PutBack)),
        }
    }

    /// The store's own record.
    pub(super) fn store(&self) -> Result<StoreRecord, StoreError> {
        let key = RowKey::store();
        let record = self.read(&key, StoreRecord::decode)?;
        let record = record.ok_or_else(|| StoreError::damaged(&key, Damage::Missing))?;
        self.check_serial(&key, record.serial)?;
        Ok(record)
    }

    /// The store's own record, and when it was written.
    pub(super) fn store_written(&self) -> Result<(Moment, StoreRecord), StoreError> {
        let (key, record) = (RowKey::store(), self.store()?);
        let written = self.written(&key);
        let written = written.ok_or_else(|| StoreError::damaged(key, Damage::Missing))?;
        Ok((written, record))
    }

    /// The latest time that the store knows, or `None` in a store of before there was such a row.
    pub(super) fn clock(&self) -> Result<Option<ClockRecord>, StoreError> {
        let key = RowKey::clock();
        let record = self.read(&key, ClockRecord::decode)?;
        self.check_serial(&key, record.map_or(0, |record| record.serial))?;
        Ok(record)
    }

    /// The record of the key under which imported keys are wrapped, or `None` if there never was one.
    #[cfg(feature = "door")]
    pub(super) fn wrapping(&self) -> Result<Option<WrappingRecord>, StoreError> {
        let key = RowKey::wrapping();
        let record = self.read(&key, WrappingRecord::decode)?;
        self.check_serial(&key, record.is_some().into())?;
        Ok(record)
    }

    /// The record of a key, or `None` if there never was one.
    pub(super) fn key(&self, name: &KeyName) -> Result<Option<KeyRecord>, StoreError> {
        let key = RowKey::key(name);
        let record = self.read(&key, KeyRecord::decode)?;
        self.check_serial(&key, record.as_ref().map_or(0, |record| record.serial))?;
        Ok(record)
    }

    /// What the row of a key says, whatever is wrong with it. Nothing that it says may be permitted.
    pub(super) fn said_of_key(&self, name: &KeyName) -> Option<KeyRecord> {
        let value = self.value(&RowKey::key(name))?;
        KeyRecord::decode(self.sealer.unchecked(value)?).ok()
    }

    /// The record of a version that its key has.
    pub(super) fn version(&self, id: &KeyId, key: &KeyRecord) -> Result<VersionRecord, StoreError> {
        let row = RowKey::version(id);
        let damaged = |reason| StoreError::damaged(&row, reason);
        let record = self.read(&row, VersionRecord::decode)?;
        let record = record.ok_or_else(|| damaged(Damage::Missing))?;
        let state = key
            .state(id.version())
            .ok_or_else(|| StoreError::VersionNotFound(id.clone()))?;
        if state.has_private_key() != record.private.exists() {
            return Err(damaged(Damage::PutBack));
        }
        let is_of_key =
            record.algorithm == key.algorithm && record.exportable == key.policy.exportable;
        match is_of_key {
            true => Ok(record),
            false => Err(damaged(Damage::PutBack)),
        }
    }

    /// Begins a change, which relies on all rows of the index that it writes.
    pub(super) fn change(&self) -> Draft<'_> {
        Draft {
            rows: self,
            changes: Vec::new(),
            index: BTreeMap::new(),
        }
    }
}

/// A change of rows that were read.
pub(super) struct Draft<'a> {
    rows: &'a Rows<'a>,
    changes: Vec<RowChange>,
    index: BTreeMap<RowKey, IndexRecord>,
}

impl Draft<'_> {
    fn add(&mut self, key: &RowKey, write: Write) {
        self.changes.push(RowChange {
            key: key.clone(),
            expected: Expected::unchanged(self.rows.row(key)),
            write,
        });
    }

    /// Relies on a row that was read.
    pub(super) fn rely_on(&mut self, key: &RowKey) {
        self.add(key, Write::Keep);
    }

    /// Writes a row with its MAC, and returns it.
    pub(super) fn put(&mut self, key: &RowKey, record: Vec<u8>) -> Vec<u8> {
        let value = self.rows.sealer.authenticate(key.as_str(), record);
        self.add(key, Write::Put(value.clone()));
        value
    }

    /// Writes a row that was not read, and must not exist.
    pub(super) fn put_new(&mut self, key: &RowKey, record: Vec<u8>) {
        self.put(key, record);
    }

    /// Deletes a row.
    pub(super) fn delete(&mut self, key: &RowKey) {
        self.add(key, Write::Delete);
    }

    /// Writes a row as it is.
    pub(super) fn put_plain(&mut self, key: &RowKey, value: Vec<u8>) {
        self.add(key, Write::Put(value));
    }

    /// Notes in the index how often a row was written.
    pub(super) fn set_serial(&mut self, key: &RowKey, serial: u64) -> Result<(), StoreError> {
        let place = place_of(self.rows.sealer, key);
        let row = RowKey::index(place.bucket);
        let mut index = match self.index.remove(&row) {
            Some(index) => index,
            None => self.rows.index(key)?,
        };
        let is_new_key = RowPrefix::keys().matches(key) && index.serial(place) == 0;
        if is_new_key && index.is_full() {
            return Err(StoreError::Limit(
                "the store has as many keys as it takes, some 300,000; put others into another store",
            ));
        }
        index.set(place, serial);
        self.index.insert(row, index);
        Ok(())
    }

    /// The changes.
    pub(super) fn finish(mut self) -> Vec<RowChange> {
        for (key, index) in core::mem::take(&mut self.index) {
            self.put(&key, index.encode());
        }
        self.changes
    }
}

/// A change of rows alone.
pub(super) fn of_rows(rows: Vec<RowChange>) -> Change {
    Change { rows, append: None }
}
