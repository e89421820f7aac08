//! A storage is copied into another one: a backup, or a move.

use super::change::{Change, Expected, RowChange, Write};
use super::error::{CommitError, StorageError};
use super::log::{Append, LogHead};
use super::row::{RowKey, RowPrefix, Snapshot};
use super::{MAX_CHANGE_ENTRIES, MAX_CHANGE_ROWS, Storage};

/// What was copied.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct Copied {
    /// How many rows.
    pub rows: u64,
    /// Where the log ends, in both.
    pub head: LogHead,
}

/// Why a storage was not copied, or not wholly.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum CopyError {
    /// There is something in the other one already.
    #[error("{0} is not empty")]
    NotEmpty(String),
    /// The other one has a copy that was not finished, of another storage or another moment.
    #[error("{0} has an unfinished copy, which is not of this one as it is now")]
    OtherCopy(String),
    /// Somebody changed the storage while it was copied, so that the copy is not of one moment.
    #[error("{0} was changed while it was copied; try again")]
    Changed(String),
    /// One of them can't be read or written.
    #[error("{0}")]
    Storage(StorageError),
    /// The copy can't be written.
    #[error("{0}")]
    Commit(CommitError),
}

impl From<StorageError> for CopyError {
    fn from(error: StorageError) -> Self {
        Self::Storage(error)
    }
}

impl From<CommitError> for CopyError {
    fn from(error: CommitError) -> Self {
        Self::Commit(error)
    }
}

/// Copies all rows and the log of a storage into another one, which is empty. What is sealed stays sealed, so no key is
/// needed. The copy is of one moment: it fails if the storage is changed meanwhile.
///
/// It takes several commits. The rows without which no store is opened come last, so what an interrupted copy leaves is no
/// store. The same copy goes on with it, if all that is there is in the storage that is copied, too: nothing is overwritten.
///
/// # Errors
///
/// [`CopyError::NotEmpty`], [`CopyError::Changed`], and those of the storages.
pub fn copy(from: &dyn Storage, to: &dyn Storage) -> Result<Copied, CopyError> {
    let before = from.get(&[])?;
    let begun = begun(from, to)?;
    let put = |rows: Vec<(RowKey, Vec<u8>)>| {
        let row = |(key, value)| RowChange {
            key,
            expected: Expected::Absent,
            write: Write::Put(value),
        };
        Change {
            rows: rows.into_iter().map(row).collect(),
            append: None,
        }
    };
    let (mut count, mut last, mut after) = (0, Vec::new(), None);
    loop {
        let page = from.list(&RowPrefix::all(), after.as_ref(), MAX_CHANGE_ROWS)?;
        count += page.rows.len() as u64;
        after = page.rows.last().map(|(key, _)| key.clone());
        let rows = page.rows.into_iter().map(|(key, row)| (key, row.value));
        let of_store = [RowKey::kek(), RowKey::store()];
        let (of_it, others) = rows.partition(|(key, _)| of_store.contains(key));
        let (of_it, mut others): (Vec<_>, Vec<_>) = (of_it, others);
        last.extend(of_it);
        if begun.is_any {
            let keys: Vec<_> = others.iter().map(|(key, _)| key.clone()).collect();
            let mut found = to.get(&keys)?.rows.into_iter();
            others.retain(|_| !matches!(found.next(), Some(Some(_))));
        }
        if !others.is_empty() {
            to.commit(&put(others))?;
        }
        if !page.more {
            break;
        }
    }
    let mut head = begun.head;
    loop {
        let entries = from.entries(head.sequence.saturating_add(1), MAX_CHANGE_ENTRIES)?;
        if entries.is_empty() {
            break;
        }
        let append = Append {
            after: head,
            entries,
        };
        head = append.head();
        to.commit(&Change {
            rows: Vec::new(),
            append: Some(append),
        })?;
    }
    let after = from.get(&[])?;
    if after.revision != before.revision || head != after.head {
        return Err(CopyError::Changed(from.description()));
    }
    if !last.is_empty() {
        to.commit(&put(last))?;
    }
    Ok(Copied { rows: count, head })
}

/// What an interrupted copy left.
struct Begun {
    is_any: bool,
    head: LogHead,
}

/// Whether there is no store, nor anything of a store, in a storage: at most what is copied to it now.
fn begun(from: &dyn Storage, to: &dyn Storage) -> Result<Begun, CopyError> {
    let Snapshot { rows, head, .. } = to.get(&[RowKey::kek(), RowKey::store()])?;
    if rows.iter().any(Option::is_some) {
        return Err(CopyError::NotEmpty(to.description()));
    }
    let other = || CopyError::OtherCopy(to.description());
    let mut is_any = head != LogHead::EMPTY;
    let mut after = None;
    loop {
        let page = to.list(&RowPrefix::all(), after.as_ref(), MAX_CHANGE_ROWS)?;
        is_any |= !page.rows.is_empty();
        let keys: Vec<_> = page.rows.iter().map(|(key, _)| key.clone()).collect();
        let known = from.get(&keys)?.rows;
        let mut pairs = page.rows.iter().zip(known);
        if pairs.any(|((_, row), known)| known.is_none_or(|known| known.value != row.value)) {
            return Err(other());
        }
        after = keys.last().cloned();
        if !page.more {
            break;
        }
    }
    let mut sequence = 0;
    while sequence < head.sequence {
        let entries = to.entries(sequence + 1, MAX_CHANGE_ENTRIES)?;
        let known = from.entries(sequence + 1, entries.len())?;
        if entries.is_empty() || entries != known {
            return Err(other());
        }
        sequence += entries.len() as u64;
    }
    Ok(Begun { is_any, head })
}
