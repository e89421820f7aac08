//! A storage is copied into another one: a backup, or a move.

use super::change::{Change, Expected, RowChange, Write};
use super::error::{CommitError, StorageError};
use super::log::{Append, LogHead};
use super::row::{RowKey, RowPrefix};
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
/// store; remove it.
///
/// # Errors
///
/// [`CopyError::NotEmpty`], [`CopyError::Changed`], and those of the storages.
pub fn copy(from: &dyn Storage, to: &dyn Storage) -> Result<Copied, CopyError> {
    let before = from.get(&[])?;
    let free = to.get(&[])?;
    if free.head != LogHead::EMPTY || !to.list(&RowPrefix::all(), None, 1)?.rows.is_empty() {
        return Err(CopyError::NotEmpty(to.description()));
    }
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
        let (of_it, others): (Vec<_>, Vec<_>) = (of_it, others);
        last.extend(of_it);
        if !others.is_empty() {
            to.commit(&put(others))?;
        }
        if !page.more {
            break;
        }
    }
    let mut head = LogHead::EMPTY;
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
