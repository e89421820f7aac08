//! What is changed at once, and under which conditions.

use super::error::StorageError;
use super::log::Append;
use super::row::{Row, RowKey};
use super::{MAX_CHANGE_ENTRIES, MAX_CHANGE_ROWS, MAX_ENTRY_LEN, MAX_VALUE_LEN};

/// A change of rows and log, all of which is made or nothing.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Change {
    /// The rows that are written or relied on, each once.
    pub rows: Vec<RowChange>,
    /// The entries for the log. Without them, the log may end anywhere.
    pub append: Option<Append>,
}

/// What becomes of a row.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct RowChange {
    /// Which row.
    pub key: RowKey,
    /// What it has to be before.
    pub expected: Expected,
    /// What it is afterwards.
    pub write: Write,
}

/// What a row has to be for a change to be made.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Expected {
    /// It doesn't exist.
    Absent,
    /// It has this revision.
    Revision(u64),
}

impl Expected {
    /// That the row is as it was found.
    pub fn unchanged(row: Option<&Row>) -> Self {
        match row {
            Some(row) => Self::Revision(row.revision),
            None => Self::Absent,
        }
    }

    /// Whether a row with this revision, or that there is none, is what was expected.
    pub fn holds(self, revision: Option<u64>) -> bool {
        match self {
            Self::Absent => revision.is_none(),
            Self::Revision(expected) => revision == Some(expected),
        }
    }
}

/// What happens to a row.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Write {
    /// It stays as it is: the change only relies on it.
    Keep,
    /// It gets this value.
    Put(Vec<u8>),
    /// It is deleted.
    Delete,
}

/// A change was made.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Committed {
    /// The storage's revision since, and that of the rows that were written.
    pub revision: u64,
}

impl Change {
    /// Checks the limits, and that no row appears twice and the entries are in sequence: each storage does so first.
    ///
    /// # Errors
    ///
    /// [`StorageError::Limit`] or [`StorageError::Malformed`].
    pub fn check(&self) -> Result<(), StorageError> {
        if self.rows.len() > MAX_CHANGE_ROWS {
            return Err(StorageError::Limit("rows in one change"));
        }
        let too_long = |row: &RowChange| matches!(&row.write, Write::Put(value) if value.len() > MAX_VALUE_LEN);
        if self.rows.iter().any(too_long) {
            return Err(StorageError::Limit("bytes in a row"));
        }
        let mut keys: Vec<_> = self.rows.iter().map(|row| &row.key).collect();
        keys.sort_unstable();
        if keys.windows(2).any(|pair| pair[0] == pair[1]) {
            return Err(StorageError::Malformed("a row appears twice in a change"));
        }
        let Some(append) = &self.append else {
            return Ok(());
        };
        if append.entries.len() > MAX_CHANGE_ENTRIES {
            return Err(StorageError::Limit("entries in one change"));
        }
        if append
            .entries
            .iter()
            .any(|entry| entry.value.len() > MAX_ENTRY_LEN)
        {
            return Err(StorageError::Limit("bytes in an entry of the log"));
        }
        let mut before = append.after.sequence;
        for entry in &append.entries {
            if before.checked_add(1) != Some(entry.sequence) {
                return Err(StorageError::Malformed(
                    "entries of the log are out of sequence",
                ));
            }
            before = entry.sequence;
        }
        Ok(())
    }
}
