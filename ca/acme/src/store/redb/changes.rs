//! Changes. Each looks at all of its conditions before it writes anything, as others are written in the same transaction.

use alloc::sync::Arc;

use ::redb::{ReadableTable, WriteTransaction};

use super::rows::{
    ACCOUNTS, AUTHORIZATIONS, AUTHORIZATIONS_BY_EXPIRY, AUTHORIZATIONS_IN_WORK, CERTIFICATES,
    CERTIFICATES_BY_EXPIRY, CLAIMS, ENDED_ACCOUNTS, KEYS, NAMES, NONCES, OF_ACCOUNT, OPEN_ORDERS,
    ORDERS, ORDERS_BY_EXPIRY, ORDERS_IN_WORK, OfAccounts, PENDING, Records, SECRETS, Stop, Times,
    VALID, find, identifier_text, row, secret, secret_row,
};
use crate::store::StoreError;
use crate::store::codec::Record;
use crate::store::records::{
    AccountRecord, AuthorizationRecord, AuthorizationState, CertificateRecord, OrderRecord,
    OrderState,
};

pub(super) struct Changes<'t>(pub(super) &'t WriteTransaction);

/// Whether an entry is put into an index or taken out.
#[derive(Clone, Copy, Eq, PartialEq)]
pub(super) enum Entry {
    Put,
    Take,
}

fn in_work_since(order: &OrderRecord) -> Option<u64> {
    match &order.state {
        OrderState::Processing(work) => Some(work.since.as_secs()),
        _ => None,
    }
}

/// The name of the key for nonces.
const NONCES_BY: &str = "nonces";

impl Changes<'_> {
    /// The key for nonces, which is this one if there is none.
    pub(super) fn nonce_key(&self, new: &[u8; 32]) -> Result<[u8; 32], Stop> {
        let mut table = self.0.open_table(SECRETS)?;
        if let Some(kept) = table.get(NONCES_BY)? {
            return secret(NONCES_BY, kept.value());
        }
        table.insert(NONCES_BY, secret_row(NONCES_BY, new).as_slice())?;
        Ok(*new)
    }

    pub(super) fn find<R: Record>(&self, table: Records, id: &str) -> Result<Option<R>, Stop> {
        find(&self.0.open_table(table)?, id)
    }

    fn put<R: Record>(
        &self,
        table: Records,
        id: &str,
        version: u64,
        record: &R,
    ) -> Result<(), Stop> {
        let row = row(id, version, record)?;
        self.0.open_table(table)?.insert(id, row.as_slice())?;
        Ok(())
    }

    pub(super) fn index(&self, table: Times, time: u64, id: &str, what: Entry) -> Result<(), Stop> {
        let mut table = self.0.open_table(table)?;
        match what {
            Entry::Put => table.insert((time, id), ())?,
            Entry::Take => table.remove((time, id))?,
        };
        Ok(())
    }

    fn index_of_account(
        &self,
        table: OfAccounts,
        (account, expires, id): (&str, u64, &str),
        what: Entry,
    ) -> Result<(), Stop> {
        let mut table = self.0.open_table(table)?;
        match what {
            Entry::Put => table.insert((account, expires, id), ())?,
            Entry::Take => table.remove((account, expires, id))?,
        };
        Ok(())
    }

    /// Refuses a key that another account has.
    fn check_key(&self, account: &AccountRecord) -> Result<[u8; 32], Stop> {
        let thumbprint = *account.key.thumbprint().as_bytes();
        match self.0.open_table(KEYS)?.get(&thumbprint)? {
            Some(other) if other.value() != account.id => {
                Err(StoreError::KeyTaken(other.value().into()).into())
            }
            _ => Ok(thumbprint),
        }
    }

    pub(super) fn insert_account(
        &self,
        account: &AccountRecord,
    ) -> Result<Arc<AccountRecord>, Stop> {
        let thumbprint = self.check_key(account)?;
        if self.0.open_table(ACCOUNTS)?.get(&*account.id)?.is_some() {
            return Err(StoreError::Changed.into());
        }
        let mut nonces = self.0.open_table(NONCES)?;
        if nonces.get(&account.nonce.0)?.is_some() {
            return Err(StoreError::NonceTaken.into());
        }
        let account = AccountRecord {
            version: 0,
            ..account.clone()
        };
        self.put(ACCOUNTS, &account.id, 0, &account)?;
        nonces.insert(&account.nonce.0, ())?;
        self.0.open_table(KEYS)?.insert(&thumbprint, &*account.id)?;
        Ok(Arc::new(account))
    }

    pub(super) fn update_account(
        &self,
        account: &AccountRecord,
    ) -> Result<Arc<AccountRecord>, Stop> {
        let old = match self.find::<AccountRecord>(ACCOUNTS, &account.id)? {
            Some(old) if old.version == account.version => old,
            _ => return Err(StoreError::Changed.into()),
        };
        let thumbprint = self.check_key(account)?;
        let account = AccountRecord {
            version: account.version + 1,
            ..account.clone()
        };
        self.put(ACCOUNTS, &account.id, account.version, &account)?;
        if let Some(ended) = old.ended() {
            self.index(ENDED_ACCOUNTS, ended, &old.id, Entry::Take)?;
        }
        if let Some(ended) = account.ended() {
            self.index(ENDED_ACCOUNTS, ended, &account.id, Entry::Put)?;
        }
        let mut keys = self.0.open_table(KEYS)?;
        keys.remove(old.key.thumbprint().as_bytes())?;
        keys.insert(&thumbprint, &*account.id)?;
        Ok(Arc::new(account))
    }

    pub(super) fn insert_order(
        &self,
        order: &OrderRecord,
        authorizations: &[AuthorizationRecord],
        owner: &(String, u64),
        instead_of: Option<&str>,
    ) -> Result<Arc<OrderRecord>, Stop> {
        let account = self.find::<AccountRecord>(ACCOUNTS, &owner.0)?;
        let is_same = account.is_some_and(|account| account.version == owner.1);
        if !is_same || self.0.open_table(ORDERS)?.get(&*order.id)?.is_some() {
            return Err(StoreError::Changed.into());
        }
        let mut claims = self.0.open_table(CLAIMS)?;
        if let Some(name) = &order.replaces
            && let Some(other) = claims.get(name.as_str())?
            && Some(other.value()) != instead_of
        {
            return Err(StoreError::Replaced(other.value().into()).into());
        }
        let mut nonces = self.0.open_table(NONCES)?;
        if nonces.get(&order.nonce.0)?.is_some() {
            return Err(StoreError::NonceTaken.into());
        }
        let order = OrderRecord {
            version: 0,
            ..order.clone()
        };
        for one in authorizations {
            self.put_authorization(0, one)?;
        }
        nonces.insert(&order.nonce.0, ())?;
        if let Some(name) = &order.replaces {
            claims.insert(name.as_str(), &*order.id)?;
        }
        let mut of_account = self.0.open_table(OF_ACCOUNT)?;
        of_account.insert((&*order.account, &*order.id), ())?;
        self.put(ORDERS, &order.id, 0, &order)?;
        self.index_order(&order, Entry::Put)?;
        Ok(Arc::new(order))
    }

    pub(super) fn index_order(&self, order: &OrderRecord, what: Entry) -> Result<(), Stop> {
        let id = &order.id;
        let expires = order.expires.as_secs();
        self.index(ORDERS_BY_EXPIRY, expires, id, what)?;
        if order.state == OrderState::Open {
            self.index_of_account(OPEN_ORDERS, (&order.account, expires, id), what)?;
        }
        match in_work_since(order) {
            Some(since) => self.index(ORDERS_IN_WORK, since, id, what),
            None => Ok(()),
        }
    }

    /// The order as it is, if it is as it was read.
    fn as_read(&self, order: &OrderRecord) -> Result<OrderRecord, Stop> {
        match self.find::<OrderRecord>(ORDERS, &order.id)? {
            Some(old) if old.version == order.version => Ok(old),
            _ => Err(StoreError::Changed.into()),
        }
    }

    fn put_order(&self, old: &OrderRecord, order: &OrderRecord) -> Result<Arc<OrderRecord>, Stop> {
        let order = OrderRecord {
            version: order.version + 1,
            ..order.clone()
        };
        let entries = |one: &OrderRecord| {
            let is_open = one.state == OrderState::Open;
            (one.expires, in_work_since(one), is_open)
        };
        if entries(old) != entries(&order) {
            self.index_order(old, Entry::Take)?;
            self.index_order(&order, Entry::Put)?;
        }
        self.put(ORDERS, &order.id, order.version, &order)?;
        Ok(Arc::new(order))
    }

    pub(super) fn update_order(
        &self,
        order: &OrderRecord,
        unchanged: &[Arc<AuthorizationRecord>],
    ) -> Result<Arc<OrderRecord>, Stop> {
        let old = self.as_read(order)?;
        for one in unchanged {
            let found = self.find::<AuthorizationRecord>(AUTHORIZATIONS, &one.id)?;
            if found.is_none_or(|found| found.version != one.version) {
                return Err(StoreError::Changed.into());
            }
        }
        self.put_order(&old, order)
    }

    pub(super) fn complete_order(
        &self,
        order: &OrderRecord,
        certificate: &CertificateRecord,
    ) -> Result<Arc<OrderRecord>, Stop> {
        let old = self.as_read(order)?;
        let id = &*certificate.id;
        if self.0.open_table(CERTIFICATES)?.get(id)?.is_none() {
            self.put(CERTIFICATES, id, 0, certificate)?;
            let not_after = certificate.not_after.as_secs();
            self.index(CERTIFICATES_BY_EXPIRY, not_after, id, Entry::Put)?;
            if let Some(name) = &certificate.name {
                self.0.open_table(NAMES)?.insert(name.as_str(), id)?;
            }
        }
        self.put_order(&old, order)
    }

    fn put_authorization(&self, version: u64, one: &AuthorizationRecord) -> Result<(), Stop> {
        self.put(AUTHORIZATIONS, &one.id, version, one)?;
        self.index_authorization(one, Entry::Put)
    }

    pub(super) fn index_authorization(
        &self,
        one: &AuthorizationRecord,
        what: Entry,
    ) -> Result<(), Stop> {
        let (id, expires) = (&*one.id, one.expires.as_secs());
        self.index(AUTHORIZATIONS_BY_EXPIRY, expires, id, what)?;
        if let Some(since) = one.in_work_since() {
            self.index(AUTHORIZATIONS_IN_WORK, since.as_secs(), id, what)?;
        }
        if one.state == AuthorizationState::Pending {
            self.index_of_account(PENDING, (&one.account, expires, id), what)?;
        }
        if one.state == AuthorizationState::Valid {
            let identifier = identifier_text(&one.identifier);
            let key = (&*one.account, &*identifier, one.is_wildcard, expires, id);
            let mut valid = self.0.open_table(VALID)?;
            match what {
                Entry::Put => valid.insert(key, ())?,
                Entry::Take => valid.remove(key)?,
            };
        }
        Ok(())
    }

    pub(super) fn update_authorization(
        &self,
        authorization: &AuthorizationRecord,
    ) -> Result<Arc<AuthorizationRecord>, Stop> {
        let old = match self.find::<AuthorizationRecord>(AUTHORIZATIONS, &authorization.id)? {
            Some(old) if old.version == authorization.version => old,
            _ => return Err(StoreError::Changed.into()),
        };
        let authorization = AuthorizationRecord {
            version: authorization.version + 1,
            ..authorization.clone()
        };
        self.index_authorization(&old, Entry::Take)?;
        self.put_authorization(authorization.version, &authorization)?;
        Ok(Arc::new(authorization))
    }
}
