//! Objects in PostgreSQL, for several machines: [`PostgresStore`].
//!
//! Each change is one statement in a transaction, which is sent as a whole: so it takes one answer of the server. What was
//! read is a condition of it, and it writes all or nothing. It leaves a random mark in the row that it changes: if the
//! answer is lost, it is sent again, and who then finds the row changed finds out by the mark whether he did it himself.
//!
//! Nothing belongs to a session, so a pooler between them does no harm.

// This room uses its parent's types and pq-postgres; nothing else in this crate is asynchronous.

mod accounts;
mod authorizations;
mod certificates;
mod known;
mod limits;
mod nonce_key;
mod old;
mod orders;
mod schema;
mod session;

use alloc::rc::Rc;
use alloc::sync::Arc;
use core::fmt;
use core::time::Duration;

use pq_jose::Thumbprint;
use pq_postgres::{Database, Ended, Purpose, Thread};
pub use pq_postgres::{InvalidPostgresOptions, PostgresOptions};

use self::session::Worker;
use super::failure::StorageError;
use super::records::{AccountRecord, AuthorizationRecord, CertificateRecord, OrderRecord};
use super::{Counted, KEEP, Limit, Limits, Most, Overdue, Store, StoreError, Undecided};
use crate::identifier::Identifier;
use crate::objects::Time;

/// What the database is for, with the schema by default.
const PURPOSE: Purpose = Purpose {
    what: "the ACME server's PostgreSQL database",
    schema: "pq_acme",
    program: "pq-acme",
};

/// Objects in a schema of a PostgreSQL database, which several machines may have open at once.
///
/// Its connections belong to a thread of its own, so its methods can be called from anywhere, but they block: from within
/// an asynchronous executor, call them where blocking is allowed. As many calls are under way at once as it has
/// [connections](PostgresOptions::connections), and a call is over within [the time-out](PostgresOptions::timeout): so a
/// server should have about twice as many threads for these calls as connections, and bound what waits for a thread.
///
/// A change that fails with [`StorageError::Away`] may have been made or not. What was acknowledged survives a crash of the
/// server if the server's `fsync` and `full_page_writes` are on, as they are by default. Where a standby takes over, it
/// keeps everything only if it is in `synchronous_standby_names`.
///
/// What ended more than [30 days](Self::keeping) ago is [removed](Store::remove_old) bit by bit while new orders are made.
///
/// ```
/// use core::time::Duration;
/// use std::error::Error;
///
/// use pq_acme::store::{PostgresOptions, PostgresStore};
///
/// fn open(address: &str) -> Result<PostgresStore, Box<dyn Error>> {
///     let options = PostgresOptions::new(address)?.timeout(Duration::from_millis(500));
///     Ok(PostgresStore::open(options)?)
/// }
///
/// // No server is there.
/// let error = open("host=/nowhere user=acme dbname=acme").unwrap_err();
/// assert!(error.to_string().contains("can't be reached"));
/// ```
pub struct PostgresStore {
    description: String,
    keep: Duration,
    thread: Thread<Worker>,
}

impl PostgresStore {
    /// Opens the store. Where there is none, it is made: the schema, unless there is one, and its tables. Tables of an
    /// earlier version of this crate are brought to the present one.
    ///
    /// # Errors
    ///
    /// [`StorageError::Newer`], [`StorageError::Away`] if the database can't be reached within the time-out, and
    /// [`StorageError::NotOpened`] if it refuses this user.
    pub fn open(options: PostgresOptions) -> Result<Self, StorageError> {
        let description = Database::new(options.clone(), PURPOSE).description();
        let open = async move || {
            let worker = Worker::new(Database::new(options, PURPOSE));
            schema::ensure(&worker).await?;
            Ok::<_, StorageError>(Rc::new(worker))
        };
        let started = Thread::start("acme-pg", open);
        let thread = started.map_err(|ended| stopped(&description, &ended))??;
        Ok(Self {
            description,
            keep: KEEP,
            thread,
        })
    }

    /// Keeps what has ended for another time than 30 days.
    #[must_use]
    pub fn keeping(self, keep: Duration) -> Self {
        Self { keep, ..self }
    }

    /// Runs a job on the store's thread, and waits for its result.
    fn call<T, J>(&self, job: J) -> Result<T, StoreError>
    where
        T: Send + 'static,
        J: AsyncFnOnce(&Worker) -> Result<T, StoreError> + Send + 'static,
    {
        let done = self.thread.call(job);
        done.map_err(|ended| stopped(&self.description, &ended))?
    }
}

fn stopped(storage: &str, ended: &Ended) -> StorageError {
    StorageError::NotOpened {
        storage: storage.into(),
        reason: ended.to_string(),
    }
}

impl Store for PostgresStore {
    fn account(&self, id: &str) -> Result<Option<Arc<AccountRecord>>, StoreError> {
        let id = id.to_owned();
        self.call(async move |worker| worker.account(&id).await)
    }

    fn account_of_key(
        &self,
        thumbprint: &Thumbprint,
    ) -> Result<Option<Arc<AccountRecord>>, StoreError> {
        let thumbprint = *thumbprint.as_bytes();
        self.call(async move |worker| worker.account_of_key(&thumbprint).await)
    }

    fn accounts(
        &self,
        after: Option<&str>,
        limit: usize,
    ) -> Result<Vec<Arc<AccountRecord>>, StoreError> {
        let after = after.unwrap_or_default().to_owned();
        self.call(async move |worker| worker.accounts(&after, limit).await)
    }

    fn insert_account(&self, account: AccountRecord) -> Result<Arc<AccountRecord>, StoreError> {
        self.call(async move |worker| worker.insert_account(account).await)
    }

    fn update_account(&self, account: AccountRecord) -> Result<Arc<AccountRecord>, StoreError> {
        self.call(async move |worker| worker.update_account(account).await)
    }

    fn order(&self, id: &str) -> Result<Option<Arc<OrderRecord>>, StoreError> {
        let id = id.to_owned();
        self.call(async move |worker| worker.order(&id).await)
    }

    fn orders_of(
        &self,
        account: &str,
        after: Option<&str>,
        limit: usize,
    ) -> Result<Vec<Arc<OrderRecord>>, StoreError> {
        let (account, after) = (account.to_owned(), after.unwrap_or_default().to_owned());
        self.call(async move |worker| worker.orders_of(&account, &after, limit).await)
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
        let before = order.created.as_secs().saturating_sub(self.keep.as_secs());
        self.call(async move |worker| {
            let inserted = worker
                .insert_order(order, &authorizations, &owner, instead_of.as_deref())
                .await?;
            worker.remove_now_and_then(Time::from_secs(before)).await;
            Ok(inserted)
        })
    }

    fn undecided(&self, account: &str, now: Time, most: Most) -> Result<Undecided, StoreError> {
        let account = account.to_owned();
        self.call(async move |worker| worker.undecided(&account, now, most).await)
    }

    fn remove_old(&self, now: Time, limit: u32) -> Result<u64, StoreError> {
        let before = now.as_secs().saturating_sub(self.keep.as_secs());
        self.call(async move |worker| worker.remove_old(Time::from_secs(before), limit).await)
    }

    fn update_order(
        &self,
        order: OrderRecord,
        unchanged: &[Arc<AuthorizationRecord>],
    ) -> Result<Arc<OrderRecord>, StoreError> {
        let unchanged = unchanged.to_vec();
        self.call(async move |worker| worker.update_order(order, &unchanged).await)
    }

    fn complete_order(
        &self,
        order: OrderRecord,
        certificate: CertificateRecord,
    ) -> Result<Arc<OrderRecord>, StoreError> {
        self.call(async move |worker| worker.complete_order(order, &certificate).await)
    }

    fn overdue(&self, since: Time, limit: usize) -> Result<Overdue, StoreError> {
        self.call(async move |worker| worker.overdue(since, limit).await)
    }

    fn authorization(&self, id: &str) -> Result<Option<Arc<AuthorizationRecord>>, StoreError> {
        let id = id.to_owned();
        self.call(async move |worker| worker.authorization(&id).await)
    }

    fn authorizations(&self, ids: &[String]) -> Result<Vec<Arc<AuthorizationRecord>>, StoreError> {
        let ids = ids.to_vec();
        self.call(async move |worker| worker.authorizations(&ids).await)
    }

    fn valid_authorizations(
        &self,
        account: &str,
        identifier: &Identifier,
        is_wildcard: bool,
        limit: usize,
    ) -> Result<Vec<Arc<AuthorizationRecord>>, StoreError> {
        let (account, identifier) = (account.to_owned(), identifier.clone());
        self.call(async move |worker| {
            worker
                .valid_authorizations(&account, &identifier, is_wildcard, limit)
                .await
        })
    }

    fn update_authorization(
        &self,
        authorization: AuthorizationRecord,
    ) -> Result<Arc<AuthorizationRecord>, StoreError> {
        self.call(async move |worker| worker.update_authorization(authorization).await)
    }

    fn certificate(&self, id: &str) -> Result<Option<Arc<CertificateRecord>>, StoreError> {
        let id = id.to_owned();
        self.call(async move |worker| worker.certificate(&id).await)
    }

    fn nonce_key(&self, new: [u8; 32]) -> Result<[u8; 32], StoreError> {
        self.call(async move |worker| worker.nonce_key(&new).await)
    }

    fn certificate_named(&self, name: &str) -> Result<Option<Arc<CertificateRecord>>, StoreError> {
        let name = name.to_owned();
        self.call(async move |worker| worker.certificate_named(&name).await)
    }
}

impl Limits for PostgresStore {
    fn count(&self, limits: &[Limit], now: Time) -> Result<Counted, StoreError> {
        let limits = limits.to_vec();
        self.call(async move |worker| worker.count(&limits, now).await)
    }

    fn look(&self, limits: &[Limit], now: Time) -> Result<Counted, StoreError> {
        let limits = limits.to_vec();
        self.call(async move |worker| worker.look(&limits, now).await)
    }
}

impl fmt::Debug for PostgresStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("PostgresStore")
            .field(&self.description)
            .finish()
    }
}

#[cfg(all(test, unix))]
mod tests;
