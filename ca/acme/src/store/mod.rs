//! What a server remembers: accounts, orders, authorizations and certificates, behind the trait [`Store`].
//!
//! Each change is one conditional update: what was read, by its version, is a condition of what is written. What is unique
//! is unique by the store. Whoever writes a store holds it to the suite (the feature `suite`).
//!
//! It uses [`identifier`](crate::identifier), [`problem`](crate::problem), [`objects`](crate::objects) and
//! [`nonce`](crate::nonce).

#[cfg(any(feature = "postgres", feature = "redb"))]
mod codec;
#[cfg(any(feature = "postgres", feature = "redb"))]
mod failure;
mod limits;
mod memory;
#[cfg(test)]
mod old_tests;
#[cfg(feature = "postgres")]
mod postgres;
#[cfg(test)]
mod rates;
mod records;
#[cfg(feature = "redb")]
mod redb;
#[cfg(any(test, feature = "suite"))]
pub mod suite;

use alloc::sync::Arc;
use core::error::Error;
use core::time::Duration;

use pq_jose::Thumbprint;

#[cfg(any(feature = "postgres", feature = "redb"))]
pub use failure::StorageError;
pub use limits::{Counted, Limit, Limits};
pub use memory::MemoryStore;
#[cfg(feature = "postgres")]
pub use postgres::{InvalidPostgresOptions, PostgresOptions, PostgresStore};
pub use records::{
    AccountRecord, AuthorizationRecord, AuthorizationState, CertificateRecord, ChallengeRecord,
    ChallengeState, LastChange, OrderRecord, OrderState, Processing,
};

#[cfg(feature = "redb")]
pub use redb::RedbStore;

use crate::identifier::Identifier;
use crate::objects::Time;

/// Where objects are kept.
///
/// Records have versions. A record that is inserted has version 0. An update names the version that was read; it is written
/// with the next one if that is still the record's, and otherwise the update is [`StoreError::Changed`] and changes nothing.
/// What was acknowledged is never lost.
///
/// The methods block, as they wait for disks and networks: from within an asynchronous executor, call them where blocking is
/// allowed. How many threads that takes, each store says.
pub trait Store: Limits {
    /// The account with this identifier.
    ///
    /// # Errors
    ///
    /// Those of the store.
    fn account(&self, id: &str) -> Result<Option<Arc<AccountRecord>>, StoreError>;

    /// The account whose key has this thumbprint now.
    ///
    /// # Errors
    ///
    /// Those of the store.
    fn account_of_key(
        &self,
        thumbprint: &Thumbprint,
    ) -> Result<Option<Arc<AccountRecord>>, StoreError>;

    /// Accounts, in any order that stays the same: at most `limit` of those after the one with the identifier `after`.
    ///
    /// # Errors
    ///
    /// Those of the store.
    fn accounts(
        &self,
        after: Option<&str>,
        limit: usize,
    ) -> Result<Vec<Arc<AccountRecord>>, StoreError>;

    /// Inserts an account.
    ///
    /// # Errors
    ///
    /// [`StoreError::KeyTaken`] if another account has its key, and [`StoreError::NonceTaken`].
    fn insert_account(&self, account: AccountRecord) -> Result<Arc<AccountRecord>, StoreError>;

    /// Updates an account. Its key may be another one.
    ///
    /// # Errors
    ///
    /// [`StoreError::Changed`], and [`StoreError::KeyTaken`] if another account has its key.
    fn update_account(&self, account: AccountRecord) -> Result<Arc<AccountRecord>, StoreError>;

    /// The order with this identifier.
    ///
    /// # Errors
    ///
    /// Those of the store.
    fn order(&self, id: &str) -> Result<Option<Arc<OrderRecord>>, StoreError>;

    /// Orders of an account, in any order that stays the same: at most `limit` of those after the one with the identifier
    /// `after`.
    ///
    /// # Errors
    ///
    /// Those of the store.
    fn orders_of(
        &self,
        account: &str,
        after: Option<&str>,
        limit: usize,
    ) -> Result<Vec<Arc<OrderRecord>>, StoreError>;

    /// Inserts an order together with authorizations that it needs. If it replaces a certificate, no other order may do so,
    /// but for `instead_of`, whose claim it takes.
    ///
    /// # Errors
    ///
    /// [`StoreError::NonceTaken`], [`StoreError::Replaced`], and [`StoreError::Changed`] if the account has another version
    /// than `account`.
    fn insert_order(
        &self,
        order: OrderRecord,
        authorizations: Vec<AuthorizationRecord>,
        account: &AccountRecord,
        instead_of: Option<&str>,
    ) -> Result<Arc<OrderRecord>, StoreError>;

    /// What an account has that is not decided and has not expired: at most so many orders and authorizations.
    ///
    /// # Errors
    ///
    /// Those of the store.
    fn undecided(&self, account: &str, now: Time, most: Most) -> Result<Undecided, StoreError>;

    /// Removes what ended long ago, of each kind at most `limit` objects, and returns how many: orders and authorizations
    /// that expired, certificates, and accounts that their holders ended and that have no orders any more. What somebody
    /// works on stays. A server's [`tidy`](crate::server::Server::tidy) calls this; several may at once.
    ///
    /// # Errors
    ///
    /// Those of the store.
    fn remove_old(&self, now: Time, limit: u32) -> Result<u64, StoreError>;

    /// Updates an order, provided that these authorizations have the versions that were read.
    ///
    /// # Errors
    ///
    /// [`StoreError::Changed`].
    fn update_order(
        &self,
        order: OrderRecord,
        unchanged: &[Arc<AuthorizationRecord>],
    ) -> Result<Arc<OrderRecord>, StoreError>;

    /// Updates an order, and inserts its certificate. If a certificate with this identifier is there, it stays as it is.
    ///
    /// # Errors
    ///
    /// [`StoreError::Changed`].
    fn complete_order(
        &self,
        order: OrderRecord,
        certificate: CertificateRecord,
    ) -> Result<Arc<OrderRecord>, StoreError>;

    /// Orders and authorizations on which somebody has been working since this time or before: at most `limit` of each.
    ///
    /// # Errors
    ///
    /// Those of the store.
    fn overdue(&self, since: Time, limit: usize) -> Result<Overdue, StoreError>;

    /// The authorization with this identifier.
    ///
    /// # Errors
    ///
    /// Those of the store.
    fn authorization(&self, id: &str) -> Result<Option<Arc<AuthorizationRecord>>, StoreError>;

    /// The authorizations with these identifiers, each of which is there.
    ///
    /// # Errors
    ///
    /// Those of the store, also if one is missing.
    fn authorizations(&self, ids: &[String]) -> Result<Vec<Arc<AuthorizationRecord>>, StoreError> {
        let each = ids.iter().map(|id| match self.authorization(id) {
            Ok(Some(found)) => Ok(found),
            Ok(None) => {
                let missing = format!("the authorization {id} of an order is missing");
                Err(StoreError::Failed(missing.into()))
            }
            Err(error) => Err(error),
        });
        each.collect()
    }

    /// An account's valid authorizations for an identifier, the latest to expire first, at most `limit` of them.
    ///
    /// # Errors
    ///
    /// Those of the store.
    fn valid_authorizations(
        &self,
        account: &str,
        identifier: &Identifier,
        is_wildcard: bool,
        limit: usize,
    ) -> Result<Vec<Arc<AuthorizationRecord>>, StoreError>;

    /// Updates an authorization.
    ///
    /// # Errors
    ///
    /// [`StoreError::Changed`].
    fn update_authorization(
        &self,
        authorization: AuthorizationRecord,
    ) -> Result<Arc<AuthorizationRecord>, StoreError>;

    /// The certificate with this identifier, which is made of its bytes.
    ///
    /// # Errors
    ///
    /// Those of the store.
    fn certificate(&self, id: &str) -> Result<Option<Arc<CertificateRecord>>, StoreError>;

    /// The key for [nonces](crate::nonce::Nonces) that all who have the store share: this one, unless it has one already.
    ///
    /// # Errors
    ///
    /// Those of the store.
    fn nonce_key(&self, new: [u8; 32]) -> Result<[u8; 32], StoreError>;

    /// The certificate that RFC 9773 names so.
    ///
    /// # Errors
    ///
    /// Those of the store.
    fn certificate_named(&self, name: &str) -> Result<Option<Arc<CertificateRecord>>, StoreError>;
}

/// What somebody began to work on and did not finish.
#[derive(Clone, Debug, Default)]
pub struct Overdue {
    /// Orders whose certificate is to be issued.
    pub orders: Vec<Arc<OrderRecord>>,
    /// Authorizations with challenges that are to be validated.
    pub authorizations: Vec<Arc<AuthorizationRecord>>,
}

/// How much is looked for.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Most {
    /// Orders.
    pub orders: usize,
    /// Authorizations.
    pub authorizations: usize,
}

/// What an account has that is not decided.
#[derive(Clone, Debug, Default)]
pub struct Undecided {
    /// Orders that are [open](OrderState::Open), the first to expire first.
    pub orders: Vec<Arc<OrderRecord>>,
    /// When its pending authorizations expire, the first one first.
    pub authorizations: Vec<Time>,
}

/// For how long stores keep what has ended, unless they are told otherwise: 30 days.
const KEEP: Duration = Duration::from_secs(30 * 24 * 3600);

/// Why a store did nothing.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// The record is no longer as it was read, or is gone.
    #[error("somebody else changed the object: read it again")]
    Changed,
    /// Another account has the key.
    #[error("the account {0} has this key")]
    KeyTaken(String),
    /// There is something that was made by the same request.
    #[error("the request was carried out before")]
    NonceTaken,
    /// The order with this identifier replaces the same certificate.
    #[error("the order {0} replaces the same certificate")]
    Replaced(String),
    /// The store can't be reached, or is damaged.
    #[error("{0}")]
    Failed(Box<dyn Error + Send + Sync>),
}
