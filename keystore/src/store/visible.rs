//! What is wrong with rows, as far as anybody sees it who can't open the store.

use alloc::collections::BTreeMap;

use sha2::{Digest, Sha256};

use super::error::{Damage, StoreError};
use crate::audit::Chain;
use crate::name::KeyName;
use crate::record::BUCKETS;
use crate::sealing::KekRecord;
use crate::storage::{MAX_PAGE_ROWS, RowKey, Storage, StorageError};

/// How many rows are read at once.
const AT_ONCE: usize = 100;

/// What is wrong with the rows in a storage, as far as it is seen without what the store is sealed under: the rows of keys and of
/// the store aren't as the audit log says, rows of the index are missing, or the wrapped key can't be read. Whoever can open the
/// store learns more by [`Store::check`](crate::Store::check), which also reads the rows of versions.
///
/// # Errors
///
/// [`StoreError::Log`] if the log isn't as it was hashed, [`StoreError::NoStore`], and those of the storage.
pub fn visible_damage(storage: &dyn Storage) -> Result<Vec<StoreError>, StoreError> {
    let kek = RowKey::kek();
    let found = storage.get(&[kek.clone(), RowKey::store()])?;
    let [wrapped, store] = <[_; 2]>::try_from(found.rows).unwrap_or_default();
    let wrapped = match (wrapped, store) {
        (Some(wrapped), _) => wrapped,
        (None, Some(_)) => return Ok(vec![StoreError::damaged(kek, Damage::Missing)]),
        (None, None) => return Err(StoreError::NoStore(storage.description())),
    };
    // Of which store it is, nothing else says without a key.
    let wrapped = match KekRecord::decode(&wrapped.value) {
        Ok(wrapped) => wrapped,
        Err(error) => return Ok(vec![StoreError::damaged(kek, Damage::Record(error))]),
    };
    let left = rows_left(storage, wrapped.store, found.head.sequence)?;
    let mut damaged = Vec::new();
    let left: Vec<_> = left.into_iter().collect();
    for part in left.chunks(AT_ONCE) {
        let row = |name: &Option<KeyName>| name.as_ref().map_or_else(RowKey::store, RowKey::key);
        let keys: Vec<_> = part.iter().map(|(name, _)| row(name)).collect();
        for ((_, left), (key, found)) in part.iter().zip(keys.iter().zip(storage.get(&keys)?.rows))
        {
            match found {
                Some(found) if <[u8; 32]>::from(Sha256::digest(&found.value)) == *left => {}
                Some(_) => damaged.push(StoreError::damaged(key, Damage::Unauthentic)),
                None => damaged.push(StoreError::damaged(key, Damage::Missing)),
            }
        }
    }
    let index: Vec<_> = (0..BUCKETS).map(RowKey::index).collect();
    let found = storage.get(&index)?.rows;
    let missing = index.iter().zip(found).filter(|(_, row)| row.is_none());
    damaged.extend(missing.map(|(key, _)| StoreError::damaged(key, Damage::Missing)));
    Ok(damaged)
}

/// What the log says that the row of each key was left as, and under no name that of the store.
fn rows_left(
    storage: &dyn Storage,
    store: [u8; 16],
    last: u64,
) -> Result<BTreeMap<Option<KeyName>, [u8; 32]>, StoreError> {
    let mut chain = Chain::new(store);
    let mut left = BTreeMap::new();
    loop {
        let from = chain.head().sequence.saturating_add(1);
        let page = storage.entries(from, MAX_PAGE_ROWS)?;
        if page.is_empty() {
            return match chain.head().sequence >= last.max(1) {
                true => Ok(left),
                false => Err(StoreError::Storage(StorageError::Damaged {
                    storage: storage.description(),
                    reason: "the end of its audit log is missing".into(),
                })),
            };
        }
        for entry in &page {
            let read = chain.follow(entry)?;
            if let Some(row) = read.row {
                left.insert(read.key, row);
            }
        }
    }
}
