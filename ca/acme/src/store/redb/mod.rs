//! Objects in a file, for one machine: [`RedbStore`].
//!
//! One thread writes. It makes the changes of all who wait in one transaction, so that they share the wait for the disk;
//! each of them looks at its conditions before it writes anything. Readers read what was committed last.

// This room uses its parent's types; nothing else in this crate has files.

mod changes;
mod file;
mod limits;
mod old;
mod reads;
mod rows;
mod writer;

use alloc::sync::Arc;
use core::fmt;
use core::time::Duration;
use std::path::Path;

use pq_jose::Thumbprint;

use self::file::Opened;
use self::writer::Writer;
use super::failure::StorageError;
use super::records::{AccountRecord, AuthorizationRecord, CertificateRecord, OrderRecord};
use super::{Counted, KEEP, Limit, Limits, Most, Overdue, Store, StoreError, Undecided};
use crate::identifier::Identifier;
use crate::objects::Time;

/// Objects in one file, for one process at a time. Nobody but the file's owner may read it.
///
/// A change is on the disk when it returns: it is written in two phases, so that also a file of hostile values is either as
/// before or as after. Changes that are made at once share the waits for the disk: so the more threads a server has for
/// these calls, the more orders it makes; 32 to 64 are enough for most disks. What is read comes from memory or from the
/// file, and waits for nobody.
///
/// What ended more than [30 days](Self::keeping) ago is [removed](Store::remove_old) bit by bit while new orders are made.
///
/// If the file can't be read or written for a time, as on a disk that is full, changes fail with [`StorageError::Full`]. Then
/// it is opened again, so that all goes on once that is over.
///
/// A file that was changed by others can make redb panic. The panic is caught here, and is [`StorageError::Damaged`].
///
/// ```
/// use pq_acme::store::RedbStore;
///
/// let folder = tempfile::tempdir()?;
/// let store = RedbStore::open(&folder.path().join("acme.redb"))?;
/// # drop(store);
/// # Ok::<_, Box<dyn std::error::Error>>(())
/// ```
pub struct RedbStore {
    // It ends first, as it uses the file.
    writer: Writer,
    opened: Arc<Opened>,
    keep: Duration,
}

impl RedbStore {
    /// Opens the file, alone. If there is none, it is made: it appears complete or not at all.
    ///
    /// # Errors
    ///
    /// [`StorageError::InUse`] if another process has it open, or this one has; [`StorageError::Damaged`] if it is another
    /// file, or was cut off or changed; [`StorageError::Newer`] and [`StorageError::NotOpened`].
    pub fn open(path: &Path) -> Result<Self, StorageError> {
        let opened = Arc::new(Opened::open(path)?);
        Ok(Self {
            writer: Writer::start(&opened)?,
            opened,
            keep: KEEP,
        })
    }

    /// Keeps what has ended for another time than 30 days.
    #[must_use]
    pub fn keeping(self, keep: Duration) -> Self {
        Self { keep, ..self }
    }

    /// What ended before this time may go.
    fn before(&self, now: Time) -> u64 {
        now.as_secs().saturating_sub(self.keep.as_secs())
    }
}

impl Store for RedbStore {
    fn account(&self, id: &str) -> Result<Option<Arc<AccountRecord>>, StoreError> {
        self.opened.read(|reads| reads.account(id))
    }

    fn account_of_key(
        &self,
        thumbprint: &Thumbprint,
    ) -> Result<Option<Arc<AccountRecord>>, StoreError> {
        self.opened
            .read(|reads| reads.account_of_key(thumbprint.as_bytes()))
    }

    fn accounts(
        &self,
        after: Option<&str>,
        limit: usize,
    ) -> Result<Vec<Arc<AccountRecord>>, StoreError> {
        self.opened.read(|reads| reads.accounts(after, limit))
    }

    fn insert_account(&self, account: AccountRecord) -> Result<Arc<AccountRecord>, StoreError> {
        self.writer
            .change(move |changes| changes.insert_account(&account))
    }

    fn update_account(&self, account: AccountRecord) -> Result<Arc<AccountRecord>, StoreError> {
        self.writer
            .change(move |changes| changes.update_account(&account))
    }

    fn order(&self, id: &str) -> Result<Option<Arc<OrderRecord>>, StoreError> {
        self.opened.read(|reads| reads.order(id))
    }

    fn orders_of(
        &self,
        account: &str,
        after: Option<&str>,
        limit: usize,
    ) -> Result<Vec<Arc<OrderRecord>>, StoreError> {
        self.opened
            .read(|reads| reads.orders_of(account, after, limit))
    }

    fn insert_order(
        &self,
        order: OrderRecord,
        authorizations: Vec<AuthorizationRecord>,
        account: &AccountRecord,
        instead_of: Option<&str>,
    ) -> Result<Arc<OrderRecord>, StoreError> {
        let owner = (account.id.clone(), account.version);
        let instead_of = instead_of.map(str::to_owned);
        let now = order.created;
        let inserted = self.writer.change(move |changes| {
            changes.insert_order(&order, &authorizations, &owner, instead_of.as_deref())
        })?;
        if old::is_due(&inserted.nonce) {
            // If it fails, another one does it.
            let _ = self.remove_old(now, old::AT_ONCE);
        }
        Ok(inserted)
    }

    fn undecided(&self, account: &str, now: Time, most: Most) -> Result<Undecided, StoreError> {
        self.opened
            .read(|reads| reads.undecided(account, now, most))
    }

    fn remove_old(&self, now: Time, limit: u32) -> Result<u64, StoreError> {
        let before = self.before(now);
        let limit = usize::try_from(limit).unwrap_or(usize::MAX);
        self.writer
            .change(move |changes| changes.remove_old(before, limit))
    }

    fn update_order(
        &self,
        order: OrderRecord,
        unchanged: &[Arc<AuthorizationRecord>],
    ) -> Result<Arc<OrderRecord>, StoreError> {
        let unchanged = unchanged.to_vec();
        self.writer
            .change(move |changes| changes.update_order(&order, &unchanged))
    }

    fn complete_order(
        &self,
        order: OrderRecord,
        certificate: CertificateRecord,
    ) -> Result<Arc<OrderRecord>, StoreError> {
        self.writer
            .change(move |changes| changes.complete_order(&order, &certificate))
    }

    fn overdue(&self, since: Time, limit: usize) -> Result<Overdue, StoreError> {
        self.opened.read(|reads| reads.overdue(since, limit))
    }

    fn authorization(&self, id: &str) -> Result<Option<Arc<AuthorizationRecord>>, StoreError> {
        self.opened.read(|reads| reads.authorization(id))
    }

    fn authorizations(&self, ids: &[String]) -> Result<Vec<Arc<AuthorizationRecord>>, StoreError> {
        self.opened.read(|reads| reads.authorizations(ids))
    }

    fn valid_authorizations(
        &self,
        account: &str,
        identifier: &Identifier,
        is_wildcard: bool,
        limit: usize,
    ) -> Result<Vec<Arc<AuthorizationRecord>>, StoreError> {
        self.opened
            .read(|reads| reads.valid_authorizations(account, identifier, is_wildcard, limit))
    }

    fn update_authorization(
        &self,
        authorization: AuthorizationRecord,
    ) -> Result<Arc<AuthorizationRecord>, StoreError> {
        self.writer
            .change(move |changes| changes.update_authorization(&authorization))
    }

    fn certificate(&self, id: &str) -> Result<Option<Arc<CertificateRecord>>, StoreError> {
        self.opened.read(|reads| reads.certificate(id))
    }

    fn nonce_key(&self, new: [u8; 32]) -> Result<[u8; 32], StoreError> {
        self.writer.change(move |changes| changes.nonce_key(&new))
    }

    fn certificate_named(&self, name: &str) -> Result<Option<Arc<CertificateRecord>>, StoreError> {
        self.opened.read(|reads| reads.certificate_named(name))
    }
}

impl Limits for RedbStore {
    fn count(&self, limits: &[Limit], now: Time) -> Result<Counted, StoreError> {
        let limits = limits.to_vec();
        self.writer
            .change(move |changes| changes.count(&limits, now))
    }

    fn look(&self, limits: &[Limit], now: Time) -> Result<Counted, StoreError> {
        self.opened.read(|reads| reads.look(limits, now))
    }
}

impl fmt::Debug for RedbStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("RedbStore")
            .field(&self.opened.path())
            .finish()
    }
}

#[cfg(test)]
mod tests;
