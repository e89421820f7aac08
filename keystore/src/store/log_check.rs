//! The audit log is followed from its beginning, and rows are compared with what it says of them.

use std::collections::{HashMap, HashSet};

use sha2::{Digest, Sha256};

use super::error::{Damage, StoreError};
use super::inner::Inner;
use super::showing::Whole;
use crate::audit::{Chain, SignedHead};
use crate::name::KeyName;
use crate::storage::{LogHead, MAX_PAGE_ROWS, RowKey};

fn not_reached(head: &SignedHead) -> StoreError {
    StoreError::HeadNotReached {
        sequence: head.head.sequence,
    }
}

/// A check of the log, which goes on where it ended.
pub(super) struct LogCheck<'a> {
    chain: Chain,
    /// The kept heads that were not reached, by their numbers.
    missing: HashMap<u64, Vec<&'a SignedHead>>,
    /// What the log says that the row of each key was left as, and under no name that of the store.
    rows: HashMap<Option<KeyName>, [u8; 32]>,
    /// Those that a change didn't find as the one before it had left them.
    put_back: HashSet<Option<KeyName>>,
}

impl<'a> LogCheck<'a> {
    pub(super) fn new(store: [u8; 16], kept: &'a [SignedHead]) -> Self {
        let mut missing: HashMap<u64, Vec<_>> = HashMap::new();
        for head in kept.iter().filter(|head| head.head != LogHead::EMPTY) {
            missing.entry(head.head.sequence).or_default().push(head);
        }
        Self {
            chain: Chain::new(store),
            missing,
            rows: HashMap::new(),
            put_back: HashSet::new(),
        }
    }

    /// Reads the log to its end.
    pub(super) fn read_on(&mut self, inner: &Inner) -> Result<(), StoreError> {
        let known = inner.table.storage.get(&[])?.head;
        loop {
            let from = self.chain.head().sequence.saturating_add(1);
            let page = inner.table.storage.entries(from, MAX_PAGE_ROWS)?;
            if page.is_empty() {
                return match self.chain.head().sequence >= known.sequence.max(1) {
                    true => Ok(()),
                    false => Err(inner.table.damaged("the end of its audit log is missing")),
                };
            }
            for entry in &page {
                let read = self.chain.follow_written(&inner.table.sealer, entry)?;
                if let Some(heads) = self.missing.remove(&entry.sequence) {
                    let other = heads.into_iter().find(|head| head.head.hash != entry.hash);
                    if let Some(head) = other {
                        return Err(not_reached(head));
                    }
                }
                if let Some(row) = read.row {
                    let left = self.rows.insert(read.key.clone(), row);
                    if left != read.row_before {
                        self.put_back.insert(read.key);
                    }
                }
            }
        }
    }

    /// That no kept head is missing.
    pub(super) fn require_kept(&self) -> Result<(), StoreError> {
        match self.missing.values().flatten().next() {
            Some(head) => Err(not_reached(head)),
            None => Ok(()),
        }
    }

    /// Where the log ended.
    pub(super) fn head(&self) -> LogHead {
        self.chain.head()
    }

    /// The keys that the log has, and none for the store.
    pub(super) fn names(&self) -> Vec<Option<KeyName>> {
        self.rows.keys().cloned().collect()
    }

    /// A key that the log has, with its versions, if its row is what the log says that it was left as.
    pub(super) fn whole(&mut self, inner: &Inner, name: &KeyName) -> Result<Whole, StoreError> {
        let row = RowKey::key(name);
        let whole = match inner.whole(name) {
            Err(StoreError::NotFound(_)) => {
                return Err(StoreError::damaged(&row, Damage::Missing));
            }
            whole => whole?,
        };
        self.row(inner, Some(name), &row)?;
        Ok(whole)
    }

    /// Checks the row of the store.
    pub(super) fn store(&mut self, inner: &Inner) -> Result<(), StoreError> {
        let row = RowKey::store();
        inner.table.read(core::slice::from_ref(&row))?.store()?;
        self.row(inner, None, &row)
    }

    /// Checks that the row of a key or of the store is what the log says that it was left as.
    fn row(
        &mut self,
        inner: &Inner,
        name: Option<&KeyName>,
        row: &RowKey,
    ) -> Result<(), StoreError> {
        // The row may have been changed since the log was read: then the log has gone on, too.
        for _ in 0..8 {
            if self.put_back.contains(&name.cloned()) {
                return Err(StoreError::damaged(row, Damage::PutBack));
            }
            let rows = inner.table.read(core::slice::from_ref(row))?;
            let found = rows
                .value(row)
                .map(|value| <[u8; 32]>::from(Sha256::digest(value)));
            if found == self.rows.get(&name.cloned()).copied() {
                return Ok(());
            }
            let before = self.chain.head();
            self.read_on(inner)?;
            if self.chain.head() == before {
                return Err(StoreError::damaged(row, Damage::PutBack));
            }
        }
        Err(StoreError::Contended)
    }
}
