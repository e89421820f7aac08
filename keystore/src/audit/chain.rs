//! Checks that each entry follows the one before.

use super::entry::{AuditEntry, hash, is_authentic};
use crate::encoding::InvalidRecord;
use crate::sealing::Sealer;
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
    /// The store did not write an entry: its MAC isn't right.
    #[error("entry {0} of the log was not written by the store, or not in this place")]
    Forged(u64),
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

    /// Where a log goes on after an entry.
    pub(crate) fn after(store: [u8; 16], head: LogHead) -> Self {
        Self { store, head }
    }

    /// Checks the next entry, and reads it. That nobody but the store wrote it, only [`Store::check`](crate::Store::check)
    /// says.
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

    /// The same, if the store wrote it.
    pub(crate) fn follow_written(
        &mut self,
        sealer: &Sealer,
        entry: &LogEntry,
    ) -> Result<AuditEntry, BrokenChain> {
        let before = self.head;
        let read = self.follow(entry)?;
        match is_authentic(sealer, &before, entry) {
            true => Ok(read),
            false => Err(BrokenChain::Forged(entry.sequence)),
        }
    }

    /// Where the log ended so far.
    pub fn head(&self) -> LogHead {
        self.head
    }
}
