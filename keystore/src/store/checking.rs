//! The audit log is read and checked, and all rows with it.

use std::collections::{HashMap, HashSet};

use sha2::{Digest, Sha256};

use super::Store;
use super::error::{Damage, StoreError};
use super::inner::Inner;
use super::showing::Whole;
use super::tokens::{Orphan, TokensSeen};
use crate::audit::{self, AuditEntry, Chain, SignedHead};
use crate::name::KeyName;
use crate::policy::{Principal, Verb};
use crate::record::PrivatePart;
use crate::storage::{LogHead, MAX_PAGE_ROWS, RowKey};

/// What a check found.
#[derive(Debug)]
#[non_exhaustive]
pub struct CheckReport {
    /// Where the log ends.
    pub head: LogHead,
    /// How many keys there are.
    pub keys: usize,
    /// How many versions of them.
    pub versions: usize,
    /// What is wrong with rows: they were changed, put back, or are missing. And which tokens could not be asked for the keys
    /// that they should have.
    pub damaged: Vec<StoreError>,
    /// Keys in tokens that no version refers to: see [`Store::remove_orphans`].
    pub orphans: Vec<Orphan>,
}

impl Store {
    /// Entries of the audit log, from this number on: at most `limit`, and at most 1,000. What was counted up to now is
    /// written first.
    ///
    /// # Errors
    ///
    /// [`StoreError::Denied`] unless the store grants [`Verb::Audit`] with all keys, [`StoreError::Log`] if one of
    /// them isn't an entry that the store wrote after the one before, and those of the storage. What came before them, and
    /// whether all are still there, [`check`](Self::check) says.
    pub fn audit_log(
        &self,
        principal: &Principal,
        from: u64,
        limit: usize,
    ) -> Result<Vec<AuditEntry>, StoreError> {
        let inner = self.inner();
        inner.check_store_right(&inner.grants(), principal, Verb::Audit)?;
        inner.flush(false)?;
        inner.table.entries(from, limit)
    }

    /// Where the audit log ends now, signed by the store. Keep it elsewhere, for a later [`check`](Self::check).
    ///
    /// # Errors
    ///
    /// [`StoreError::Denied`] unless the store grants [`Verb::Audit`] with all keys, and those of the storage.
    pub fn signed_head(&self, principal: &Principal) -> Result<SignedHead, StoreError> {
        let inner = self.inner();
        inner.check_store_right(&inner.grants(), principal, Verb::Audit)?;
        inner.flush(false)?;
        let head = inner.table.storage.get(&[])?.head;
        let signed = audit::sign(&inner.own_key, inner.table.store, head, inner.options.now());
        Ok(signed?)
    }

    /// Checks the audit log from its beginning, that the store wrote each entry, that it leads to each of the kept heads, and
    /// that each row was found and left by each change as the log says, and still is so. It reads the whole storage, in parts.
    ///
    /// # Errors
    ///
    /// [`StoreError::Log`] if the log was changed, [`StoreError::HeadNotReached`] if it was cut or put back,
    /// [`StoreError::Head`] if a kept head isn't this store's, [`StoreError::Denied`] unless the store grants
    /// [`Verb::Audit`] with all keys, and those of the storage. What is wrong with rows stands in the report.
    pub fn check(
        &self,
        principal: &Principal,
        kept: &[SignedHead],
    ) -> Result<CheckReport, StoreError> {
        let inner = self.inner();
        inner.check_store_right(&inner.grants(), principal, Verb::Audit)?;
        let public_key = self.public_key();
        for head in kept {
            head.verify(&public_key)?;
            if head.store != inner.table.store {
                return Err(not_reached(head));
            }
        }
        let mut check = LogCheck::new(inner.table.store, kept);
        check.read_on(inner)?;
        if let Some(head) = check.missing.values().flatten().next() {
            return Err(not_reached(head));
        }
        let mut report = CheckReport {
            head: check.chain.head(),
            keys: 0,
            versions: 0,
            damaged: Vec::new(),
            orphans: Vec::new(),
        };
        // Before the rows are read: what is made from now on is none of them.
        let mut tokens = TokensSeen::look(inner);
        for name in check.names() {
            let checked = match &name {
                Some(name) => {
                    report.keys += 1;
                    check.key(inner, name, &mut tokens)
                }
                None => check.store(inner).map(|()| 0),
            };
            match checked {
                Ok(versions) => report.versions += versions,
                Err(error @ (StoreError::Damaged { .. } | StoreError::Key(_))) => {
                    report.damaged.push(error);
                }
                Err(error) => return Err(error),
            }
        }
        tokens.finish(inner, &mut report.orphans, &mut report.damaged);
        #[cfg(feature = "door")]
        match inner.unwrapping_key() {
            Ok(_) => {}
            Err(error @ StoreError::Damaged { .. }) => report.damaged.push(error),
            Err(error) => return Err(error),
        }
        report.damaged.extend(inner.table.damaged_index()?);
        // Each key that stands in a row of the index finds it damaged.
        let mut rows = HashSet::new();
        report.damaged.retain(|error| match error {
            StoreError::Damaged { row, .. } => rows.insert(row.clone()),
            _ => true,
        });
        Ok(report)
    }
}

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
        loop {
            let from = self.chain.head().sequence.saturating_add(1);
            let page = inner.table.storage.entries(from, MAX_PAGE_ROWS)?;
            if page.is_empty() {
                return Ok(());
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

    /// Checks the rows of a key, and returns how many versions it has.
    fn key(
        &mut self,
        inner: &Inner,
        name: &KeyName,
        tokens: &mut TokensSeen,
    ) -> Result<usize, StoreError> {
        let versions = self.whole(inner, name)?.versions;
        for (version, _, found) in &versions {
            let id = name.at(*version);
            match &found.private {
                PrivatePart::Sealed(Some(_)) => drop(inner.open_private(&id, found)?),
                PrivatePart::Sealed(None) => {}
                PrivatePart::InToken { .. } => tokens.refer(&id, &found.private),
            }
        }
        Ok(versions.len())
    }

    /// Checks the row of the store.
    fn store(&mut self, inner: &Inner) -> Result<(), StoreError> {
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
        if self.put_back.contains(&name.cloned()) {
            return Err(StoreError::damaged(row, Damage::PutBack));
        }
        // The row may have been changed since the log was read: then the log has gone on, too.
        for _ in 0..8 {
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
