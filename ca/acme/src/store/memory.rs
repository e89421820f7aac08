//! A store in memory: for tests, and for whoever can do without what is in it.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::sync::Arc;
use core::time::Duration;
use std::collections::HashMap;
use std::sync::{Mutex, OnceLock, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use pq_jose::Thumbprint;

use super::limits::{self, Counted, Limit, Limits};
use super::records::{
    AccountRecord, AuthorizationRecord, AuthorizationState, CertificateRecord, OrderRecord,
    OrderState,
};
use super::{KEEP, Most, Overdue, Store, StoreError, Undecided};
use crate::identifier::Identifier;
use crate::nonce::NonceDigest;
use crate::objects::Time;

/// Objects in memory. They are gone with the process.
#[derive(Debug, Default)]
pub struct MemoryStore {
    tables: RwLock<Tables>,
    limits: Mutex<HashMap<String, (Time, u32)>>,
    nonce_key: OnceLock<[u8; 32]>,
    keep: Option<Duration>,
}

#[derive(Debug, Default)]
struct Tables {
    accounts: HashMap<String, Arc<AccountRecord>>,
    keys: HashMap<[u8; 32], String>,
    nonces: BTreeSet<NonceDigest>,
    orders: HashMap<String, Arc<OrderRecord>>,
    of_account: BTreeSet<(String, String)>,
    replacing: HashMap<String, String>,
    authorizations: HashMap<String, Arc<AuthorizationRecord>>,
    /// By account, identifier and whether for a wildcard.
    valid: BTreeMap<(String, Identifier, bool), BTreeSet<(Time, String)>>,
    certificates: HashMap<String, Arc<CertificateRecord>>,
    names: HashMap<String, String>,
    /// By account, expiry and identifier.
    open_orders: BTreeSet<(String, Time, String)>,
    pending: BTreeSet<(String, Time, String)>,
    /// Orders and authorizations that somebody works on.
    orders_in_work: BTreeSet<(Time, String)>,
    authorizations_in_work: BTreeSet<(Time, String)>,
}

impl MemoryStore {
    /// An empty store.
    pub fn new() -> Self {
        Self::default()
    }

    /// Keeps what has ended for another time than 30 days.
    #[must_use]
    pub fn keeping(self, keep: Duration) -> Self {
        Self {
            keep: Some(keep),
            ..self
        }
    }

    // Whoever panicked while he had the lock left nothing half done: each change is checked before it begins.
    fn read(&self) -> RwLockReadGuard<'_, Tables> {
        self.tables.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, Tables> {
        self.tables.write().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Tables {
    fn check_key(&self, account: &AccountRecord) -> Result<[u8; 32], StoreError> {
        let thumbprint = *account.key.thumbprint().as_bytes();
        match self.keys.get(&thumbprint) {
            Some(other) if *other != account.id => Err(StoreError::KeyTaken(other.clone())),
            _ => Ok(thumbprint),
        }
    }

    fn check_order(&self, order: &OrderRecord) -> Result<Arc<OrderRecord>, StoreError> {
        match self.orders.get(&order.id) {
            Some(old) if old.version == order.version => Ok(Arc::clone(old)),
            _ => Err(StoreError::Changed),
        }
    }

    fn put_order(&mut self, old: &OrderRecord, order: OrderRecord) -> Arc<OrderRecord> {
        self.index_order(old, false);
        self.index_order(&order, true);
        let order = Arc::new(OrderRecord {
            version: order.version + 1,
            ..order
        });
        self.orders.insert(order.id.clone(), Arc::clone(&order));
        order
    }

    fn index_order(&mut self, one: &OrderRecord, is_there: bool) {
        if let OrderState::Processing(work) = &one.state {
            put(
                &mut self.orders_in_work,
                (work.since, one.id.clone()),
                is_there,
            );
        }
        if one.state == OrderState::Open {
            let entry = (one.account.clone(), one.expires, one.id.clone());
            put(&mut self.open_orders, entry, is_there);
        }
    }

    fn index_authorization(&mut self, one: &AuthorizationRecord, is_there: bool) {
        if let Some(since) = one.in_work_since() {
            let entry = (since, one.id.clone());
            put(&mut self.authorizations_in_work, entry, is_there);
        }
        if one.state == AuthorizationState::Pending {
            let entry = (one.account.clone(), one.expires, one.id.clone());
            put(&mut self.pending, entry, is_there);
        }
        if one.state == AuthorizationState::Valid {
            let key = (one.account.clone(), one.identifier.clone(), one.is_wildcard);
            let of_name = self.valid.entry(key.clone()).or_default();
            put(of_name, (one.expires, one.id.clone()), is_there);
            if of_name.is_empty() {
                self.valid.remove(&key);
            }
        }
    }

    fn remove_orders(&mut self, before: Time, limit: usize) -> usize {
        let is_old = |one: &&Arc<OrderRecord>| {
            one.expires < before && !matches!(one.state, OrderState::Processing(_))
        };
        let old = self.orders.values().filter(is_old).take(limit);
        let old: Vec<_> = old.cloned().collect();
        for one in &old {
            self.index_order(one, false);
            self.orders.remove(&one.id);
            self.nonces.remove(&one.nonce);
            let entry = (one.account.clone(), one.id.clone());
            self.of_account.remove(&entry);
            // The claim of one that came to nothing goes with it; that of another goes with the certificate.
            if let Some(name) = &one.replaces
                && !matches!(one.state, OrderState::Valid { .. })
                && self.replacing.get(name) == Some(&one.id)
            {
                self.replacing.remove(name);
            }
        }
        old.len()
    }

    fn remove_authorizations(&mut self, before: Time, limit: usize) -> usize {
        let is_old =
            |one: &&Arc<AuthorizationRecord>| one.expires < before && one.in_work_since().is_none();
        let old = self.authorizations.values().filter(is_old).take(limit);
        let old: Vec<_> = old.cloned().collect();
        for one in &old {
            self.index_authorization(one, false);
            self.authorizations.remove(&one.id);
        }
        old.len()
    }

    fn remove_certificates(&mut self, before: Time, limit: usize) -> usize {
        let is_old = |one: &&Arc<CertificateRecord>| one.not_after < before;
        let old = self.certificates.values().filter(is_old).take(limit);
        let old: Vec<_> = old.cloned().collect();
        for one in &old {
            self.certificates.remove(&one.id);
            if let Some(name) = &one.name {
                self.replacing.remove(name);
                if self.names.get(name) == Some(&one.id) {
                    self.names.remove(name);
                }
            }
        }
        old.len()
    }

    fn remove_accounts(&mut self, before: Time, limit: usize) -> usize {
        let has_orders = |id: &str| {
            let first = self
                .of_account
                .range((id.to_owned(), String::new())..)
                .next();
            first.is_some_and(|(owner, _)| owner == id)
        };
        let is_old = |one: &&Arc<AccountRecord>| {
            one.ended().is_some_and(|ended| ended < before.as_secs()) && !has_orders(&one.id)
        };
        let old = self.accounts.values().filter(is_old).take(limit);
        let old: Vec<_> = old.cloned().collect();
        for one in &old {
            self.accounts.remove(&one.id);
            self.keys.remove(one.key.thumbprint().as_bytes());
            self.nonces.remove(&one.nonce);
        }
        old.len()
    }
}

/// Puts an entry into an index or takes it out.
fn put<T: Ord>(index: &mut BTreeSet<T>, entry: T, is_there: bool) {
    match is_there {
        true => index.insert(entry),
        false => index.remove(&entry),
    };
}

impl Limits for MemoryStore {
    fn count(&self, limits: &[Limit], now: Time) -> Result<Counted, StoreError> {
        let mut counts = self.limits.lock().unwrap_or_else(PoisonError::into_inner);
        let mut after = Vec::new();
        for limit in limits {
            let counted = counts.get(&limit.of).copied();
            match limits::next(limit, counted, now) {
                Some(counted) => after.push((limit.of.clone(), counted)),
                None => return Ok(limits::used_up(limit, counted, now)),
            }
        }
        // What is over goes when twice as much is there as was then.
        if counts.len() + after.len() > counts.capacity() {
            counts.retain(|_, (until, _)| *until > now);
        }
        counts.extend(after);
        Ok(Counted::All)
    }

    fn look(&self, limits: &[Limit], now: Time) -> Result<Counted, StoreError> {
        let counts = self.limits.lock().unwrap_or_else(PoisonError::into_inner);
        limits::said(limits, |limit| Ok(counts.get(&limit.of).copied()), now)
    }
}

impl Store for MemoryStore {
    fn account(&self, id: &str) -> Result<Option<Arc<AccountRecord>>, StoreError> {
        Ok(self.read().accounts.get(id).cloned())
    }

    fn account_of_key(
        &self,
        thumbprint: &Thumbprint,
    ) -> Result<Option<Arc<AccountRecord>>, StoreError> {
        let tables = self.read();
        let id = tables.keys.get(thumbprint.as_bytes());
        Ok(id.and_then(|id| tables.accounts.get(id)).cloned())
    }

    fn accounts(
        &self,
        after: Option<&str>,
        limit: usize,
    ) -> Result<Vec<Arc<AccountRecord>>, StoreError> {
        let tables = self.read();
        let is_after = |id: &&String| after.is_none_or(|after| id.as_str() > after);
        let ids: BTreeSet<_> = tables.accounts.keys().filter(is_after).collect();
        let found = ids.into_iter().filter_map(|id| tables.accounts.get(id));
        Ok(found.take(limit).cloned().collect())
    }

    fn insert_account(&self, account: AccountRecord) -> Result<Arc<AccountRecord>, StoreError> {
        let mut tables = self.write();
        let thumbprint = tables.check_key(&account)?;
        if tables.accounts.contains_key(&account.id) {
            return Err(StoreError::Changed);
        }
        if !tables.nonces.insert(account.nonce) {
            return Err(StoreError::NonceTaken);
        }
        let account = Arc::new(AccountRecord {
            version: 0,
            ..account
        });
        tables.keys.insert(thumbprint, account.id.clone());
        tables
            .accounts
            .insert(account.id.clone(), Arc::clone(&account));
        Ok(account)
    }

    fn update_account(&self, account: AccountRecord) -> Result<Arc<AccountRecord>, StoreError> {
        let mut tables = self.write();
        let old = match tables.accounts.get(&account.id) {
            Some(old) if old.version == account.version => Arc::clone(old),
            _ => return Err(StoreError::Changed),
        };
        let thumbprint = tables.check_key(&account)?;
        tables.keys.remove(old.key.thumbprint().as_bytes());
        tables.keys.insert(thumbprint, account.id.clone());
        let account = Arc::new(AccountRecord {
            version: account.version + 1,
            ..account
        });
        tables
            .accounts
            .insert(account.id.clone(), Arc::clone(&account));
        Ok(account)
    }

    fn order(&self, id: &str) -> Result<Option<Arc<OrderRecord>>, StoreError> {
        Ok(self.read().orders.get(id).cloned())
    }

    fn orders_of(
        &self,
        account: &str,
        after: Option<&str>,
        limit: usize,
    ) -> Result<Vec<Arc<OrderRecord>>, StoreError> {
        let tables = self.read();
        let from = (account.into(), after.unwrap_or_default().into());
        let of_account = tables
            .of_account
            .range(from..)
            .take_while(|(owner, _)| owner == account)
            .filter(|(_, id)| Some(id.as_str()) != after);
        let orders = of_account.filter_map(|(_, id)| tables.orders.get(id));
        Ok(orders.take(limit).cloned().collect())
    }

    fn insert_order(
        &self,
        order: OrderRecord,
        authorizations: Vec<AuthorizationRecord>,
        account: &AccountRecord,
        instead_of: Option<&str>,
    ) -> Result<Arc<OrderRecord>, StoreError> {
        let mut tables = self.write();
        let is_same = |found: &Arc<AccountRecord>| found.version == account.version;
        if !tables.accounts.get(&account.id).is_some_and(is_same)
            || tables.orders.contains_key(&order.id)
        {
            return Err(StoreError::Changed);
        }
        if let Some(name) = &order.replaces
            && let Some(other) = tables.replacing.get(name)
            && Some(other.as_str()) != instead_of
        {
            return Err(StoreError::Replaced(other.clone()));
        }
        if !tables.nonces.insert(order.nonce) {
            return Err(StoreError::NonceTaken);
        }
        if let Some(name) = &order.replaces {
            tables.replacing.insert(name.clone(), order.id.clone());
        }
        for one in authorizations {
            tables.index_authorization(&one, true);
            tables.authorizations.insert(one.id.clone(), Arc::new(one));
        }
        let entry = (order.account.clone(), order.id.clone());
        tables.of_account.insert(entry);
        let order = Arc::new(OrderRecord {
            version: 0,
            ..order
        });
        tables.index_order(&order, true);
        tables.orders.insert(order.id.clone(), Arc::clone(&order));
        Ok(order)
    }

    fn undecided(&self, account: &str, now: Time, most: Most) -> Result<Undecided, StoreError> {
        fn entries<'t>(
            all: &'t BTreeSet<(String, Time, String)>,
            account: &'t str,
            now: Time,
        ) -> impl Iterator<Item = &'t (String, Time, String)> {
            let from = (
                account.to_owned(),
                now.after(Duration::from_secs(1)),
                String::new(),
            );
            all.range(from..)
                .take_while(move |(owner, ..)| owner == account)
        }
        let tables = self.read();
        let orders = entries(&tables.open_orders, account, now).take(most.orders);
        let orders = orders
            .filter_map(|(_, _, id)| tables.orders.get(id))
            .cloned();
        let authorizations = entries(&tables.pending, account, now).take(most.authorizations);
        Ok(Undecided {
            orders: orders.collect(),
            authorizations: authorizations.map(|(_, expires, _)| *expires).collect(),
        })
    }

    fn remove_old(&self, now: Time, limit: u32) -> Result<u64, StoreError> {
        let keep = self.keep.unwrap_or(KEEP).as_secs();
        let before = Time::from_secs(now.as_secs().saturating_sub(keep));
        let limit = usize::try_from(limit).unwrap_or(usize::MAX);
        let mut tables = self.write();
        let removed = tables.remove_orders(before, limit)
            + tables.remove_authorizations(before, limit)
            + tables.remove_certificates(before, limit)
            + tables.remove_accounts(before, limit);
        Ok(removed as u64)
    }

    fn update_order(
        &self,
        order: OrderRecord,
        unchanged: &[Arc<AuthorizationRecord>],
    ) -> Result<Arc<OrderRecord>, StoreError> {
        let mut tables = self.write();
        let old = tables.check_order(&order)?;
        let is_unchanged = |one: &Arc<AuthorizationRecord>| {
            let found = tables.authorizations.get(&one.id);
            found.is_some_and(|found| found.version == one.version)
        };
        if !unchanged.iter().all(is_unchanged) {
            return Err(StoreError::Changed);
        }
        Ok(tables.put_order(&old, order))
    }

    fn complete_order(
        &self,
        order: OrderRecord,
        certificate: CertificateRecord,
    ) -> Result<Arc<OrderRecord>, StoreError> {
        let mut tables = self.write();
        let old = tables.check_order(&order)?;
        if !tables.certificates.contains_key(&certificate.id) {
            if let Some(name) = &certificate.name {
                tables.names.insert(name.clone(), certificate.id.clone());
            }
            tables
                .certificates
                .insert(certificate.id.clone(), Arc::new(certificate));
        }
        Ok(tables.put_order(&old, order))
    }

    fn overdue(&self, since: Time, limit: usize) -> Result<Overdue, StoreError> {
        let tables = self.read();
        fn ids(all: &BTreeSet<(Time, String)>, since: Time) -> impl Iterator<Item = &String> {
            let due = all.iter().take_while(move |(began, _)| *began <= since);
            due.map(|(_, id)| id)
        }
        let orders = ids(&tables.orders_in_work, since).filter_map(|id| tables.orders.get(id));
        let authorizations = ids(&tables.authorizations_in_work, since)
            .filter_map(|id| tables.authorizations.get(id));
        Ok(Overdue {
            orders: orders.take(limit).cloned().collect(),
            authorizations: authorizations.take(limit).cloned().collect(),
        })
    }

    fn authorization(&self, id: &str) -> Result<Option<Arc<AuthorizationRecord>>, StoreError> {
        Ok(self.read().authorizations.get(id).cloned())
    }

    fn valid_authorizations(
        &self,
        account: &str,
        identifier: &Identifier,
        is_wildcard: bool,
        limit: usize,
    ) -> Result<Vec<Arc<AuthorizationRecord>>, StoreError> {
        let tables = self.read();
        let key = (account.into(), identifier.clone(), is_wildcard);
        let ids = tables.valid.get(&key).into_iter().flatten().rev();
        let found = ids.filter_map(|(_, id)| tables.authorizations.get(id));
        Ok(found.take(limit).cloned().collect())
    }

    fn update_authorization(
        &self,
        authorization: AuthorizationRecord,
    ) -> Result<Arc<AuthorizationRecord>, StoreError> {
        let mut tables = self.write();
        let old = match tables.authorizations.get(&authorization.id) {
            Some(old) if old.version == authorization.version => Arc::clone(old),
            _ => return Err(StoreError::Changed),
        };
        tables.index_authorization(&old, false);
        tables.index_authorization(&authorization, true);
        let authorization = Arc::new(AuthorizationRecord {
            version: authorization.version + 1,
            ..authorization
        });
        tables
            .authorizations
            .insert(authorization.id.clone(), Arc::clone(&authorization));
        Ok(authorization)
    }

    fn certificate(&self, id: &str) -> Result<Option<Arc<CertificateRecord>>, StoreError> {
        Ok(self.read().certificates.get(id).cloned())
    }

    fn nonce_key(&self, new: [u8; 32]) -> Result<[u8; 32], StoreError> {
        Ok(*self.nonce_key.get_or_init(|| new))
    }

    fn certificate_named(&self, name: &str) -> Result<Option<Arc<CertificateRecord>>, StoreError> {
        let tables = self.read();
        let id = tables.names.get(name);
        Ok(id.and_then(|id| tables.certificates.get(id)).cloned())
    }
}

#[cfg(test)]
mod tests {
    use super::super::{old_tests, suite};
    use super::*;

    #[test]
    fn it_passes_the_suite() {
        suite::check(MemoryStore::new);
        suite::check_limits(MemoryStore::new);
    }

    #[test]
    fn what_ended_long_ago_is_removed() {
        old_tests::check(&MemoryStore::new().keeping(old_tests::KEEP));
    }
}
