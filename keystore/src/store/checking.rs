//! The audit log is read and checked, and all rows with it.

use std::collections::HashSet;

use super::Store;
use super::error::StoreError;
use super::inner::Inner;
use super::log_check::LogCheck;
use super::tokens::{Orphan, TokensSeen};
use crate::audit::{self, AuditEntry, InvalidHead, SignedHead};
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
    /// What is wrong with rows: they were changed, put back, or are missing; or a token doesn't have the private key of a
    /// version, or can't use it. And which tokens could not be asked for the keys that they should have.
    pub damaged: Vec<StoreError>,
    /// Keys in tokens that no version refers to: see [`Store::remove_orphans`]. None are named if rows can't be read, since
    /// any of these may refer to one.
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

    /// The last entries of the audit log: at most `limit`, and at most 1,000. What was counted up to now is written first.
    ///
    /// # Errors
    ///
    /// Those of [`audit_log`](Self::audit_log).
    pub fn last_audit_entries(
        &self,
        principal: &Principal,
        limit: usize,
    ) -> Result<Vec<AuditEntry>, StoreError> {
        let inner = self.inner();
        inner.check_store_right(&inner.grants(), principal, Verb::Audit)?;
        inner.flush(false)?;
        let last = inner.table.storage.get(&[])?.head.sequence;
        let limit = limit.min(MAX_PAGE_ROWS);
        let mut from = last.saturating_sub(limit as u64).saturating_add(1);
        let mut found = Vec::new();
        // A page of the storage may be shorter, and others may have written more since.
        while found.len() < limit {
            let page = inner.table.entries(from, limit - found.len())?;
            let Some(end) = page.last() else { break };
            from = end.sequence.saturating_add(1);
            found.extend(page);
        }
        Ok(found)
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

    /// Checks that a head was signed by this store, wherever its log ends.
    ///
    /// # Errors
    ///
    /// [`StoreError::Head`].
    pub fn verify_head(&self, head: &SignedHead) -> Result<(), StoreError> {
        match head.store == self.id() {
            true => Ok(head.verify(&self.public_key())?),
            false => Err(InvalidHead::OtherStore.into()),
        }
    }

    /// Checks the audit log from its beginning, that the store wrote each entry, that it leads to each of the kept heads, and
    /// that each row was found and left by each change as the log says, and still is so. It reads the whole storage, in parts. Each private key
    /// in a token is used once, in whatever state its version is, and that is no use that is counted.
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
        for head in kept {
            self.verify_head(head)?;
        }
        let mut check = LogCheck::new(inner.table.store, kept);
        check.read_on(inner)?;
        check.require_kept()?;
        let mut report = CheckReport {
            head: check.head(),
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
                    check_key(&mut check, inner, name, &mut tokens)
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
        let are_known = report.damaged.is_empty();
        tokens.finish(&mut report.orphans, &mut report.damaged);
        if !are_known {
            report.orphans.clear();
        }
        match inner.table.read(&[RowKey::clock()])?.clock() {
            Ok(_) => {}
            Err(error @ StoreError::Damaged { .. }) => report.damaged.push(error),
            Err(error) => return Err(error),
        }
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

/// Checks the rows of a key, and returns how many versions it has.
fn check_key(
    check: &mut LogCheck<'_>,
    inner: &Inner,
    name: &KeyName,
    tokens: &mut TokensSeen,
) -> Result<usize, StoreError> {
    let versions = check.whole(inner, name)?.versions;
    for (version, _, found) in &versions {
        let id = name.at(*version);
        match &found.private {
            PrivatePart::Sealed(Some(_)) => drop(inner.open_private(&id, found)?),
            PrivatePart::Sealed(None) => {}
            PrivatePart::InToken { .. } => tokens.refer(inner, &id, found)?,
        }
    }
    Ok(versions.len())
}
