//! Checks that each entry follows the one before.

use super::entry::{AuditEntry, hash};
use crate::encoding::InvalidRecord;
use crate::storage::{LogEntry, LogHead};

/// Checks a log entry by entry, in constant memory.
#[derive(Clone, Debug)]
pub struct Chain {
    store: [u8; 16],
    head: LogHead,
}

/// Where a log isn't what was written.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum BrokenChain {
    /// An entry is missing, or stands twice.
    #[error("the log has entry {found} where {expected} should follow: it was cut or put together")]
    Sequence {
        /// Which should follow.
        expected: u64,
        /// Which follows.
        found: u64,
    },
    /// An entry isn't the one that was hashed.
    #[error("entry {0} of the log, or one before it, was changed")]
    Hash(u64),
    /// An entry can't be read, though its hash is right.
    #[error("entry {sequence} of the log can't be read: {error}")]
    Entry {
        /// Its number.
        sequence: u64,
        /// What is wrong.
        error: InvalidRecord,
    },
    /// An entry says that it is another one, or of another store.
    #[error("entry {0} of the log is one of another place or store")]
    Misplaced(u64),
}

impl Chain {
    /// The beginning of a store's log.
    pub fn new(store: [u8; 16]) -> Self {
        Self {
            store,
            head: LogHead::EMPTY,
        }
    }

    /// Checks the next entry, and reads it.
    ///
    /// # Errors
    ///
    /// If it doesn't follow.
    pub fn follow(&mut self, entry: &LogEntry) -> Result<AuditEntry, BrokenChain> {
        let expected = self.head.sequence.saturating_add(1);
        let found = entry.sequence;
        if found != expected {
            return Err(BrokenChain::Sequence { expected, found });
        }
        if hash(&self.head.hash, &entry.value) != entry.hash {
            return Err(BrokenChain::Hash(found));
        }
        let read = AuditEntry::decode(&entry.value);
        let read = read.map_err(|error| BrokenChain::Entry {
            sequence: found,
            error,
        })?;
        if read.sequence != found || read.store != self.store {
            return Err(BrokenChain::Misplaced(found));
        }
        self.head = LogHead {
            sequence: found,
            hash: entry.hash,
        };
        Ok(read)
    }

    /// Where the log ended so far.
    pub fn head(&self) -> LogHead {
        self.head
    }
}
