//! What is read of the file, as it was committed last.

use alloc::sync::Arc;

use ::redb::{ReadTransaction, TableError};

use super::rows::{
    ACCOUNTS, AUTHORIZATIONS, AUTHORIZATIONS_IN_WORK, CERTIFICATES, KEYS, LIMITS, NAMES,
    OF_ACCOUNT, OPEN_ORDERS, ORDERS, ORDERS_IN_WORK, OfAccounts, PENDING, Records, Stop, Times,
    VALID, find, find_named, identifier_text, missing,
};
use crate::identifier::Identifier;
use crate::objects::Time;
use crate::store::codec::Record;
use crate::store::limits::{Counted, Limit, said};
use crate::store::records::{AccountRecord, AuthorizationRecord, CertificateRecord, OrderRecord};
use crate::store::{Most, Overdue, Undecided};

pub(super) struct Reads(pub(super) ReadTransaction);

type Found<R> = Result<Option<Arc<R>>, Stop>;
type All<R> = Result<Vec<Arc<R>>, Stop>;

impl Reads {
    fn one<R: Record>(&self, table: Records, id: &str) -> Found<R> {
        let table = self.0.open_table(table)?;
        Ok(find(&table, id)?.map(Arc::new))
    }

    /// One that another table names.
    fn named<R: Record>(&self, table: Records, id: &str) -> Found<R> {
        let found = self.one(table, id)?;
        found.map(Some).ok_or_else(|| missing(R::WHAT, id))
    }

    fn all<R: Record>(&self, table: Records, ids: &[String]) -> All<R> {
        find_named(&self.0.open_table(table)?, ids)
    }

    pub(super) fn account(&self, id: &str) -> Found<AccountRecord> {
        self.one(ACCOUNTS, id)
    }

    pub(super) fn account_of_key(&self, thumbprint: &[u8; 32]) -> Found<AccountRecord> {
        match self.0.open_table(KEYS)?.get(thumbprint)? {
            Some(id) => self.named(ACCOUNTS, id.value()),
            None => Ok(None),
        }
    }

    pub(super) fn accounts(&self, after: Option<&str>, limit: usize) -> All<AccountRecord> {
        let mut ids = Vec::new();
        let table = self.0.open_table(ACCOUNTS)?;
        for found in table.range(after.unwrap_or_default()..)? {
            let (found, _) = found?;
            let id = found.value();
            if ids.len() >= limit {
                break;
            }
            if Some(id) != after {
                ids.push(id.to_owned());
            }
        }
        self.all(ACCOUNTS, &ids)
    }

    pub(super) fn order(&self, id: &str) -> Found<OrderRecord> {
        self.one(ORDERS, id)
    }

    pub(super) fn orders_of(
        &self,
        account: &str,
        after: Option<&str>,
        limit: usize,
    ) -> All<OrderRecord> {
        let mut ids = Vec::new();
        let table = self.0.open_table(OF_ACCOUNT)?;
        for found in table.range((account, after.unwrap_or_default())..)? {
            let (found, _) = found?;
            let (owner, id) = found.value();
            if owner != account || ids.len() >= limit {
                break;
            }
            if Some(id) != after {
                ids.push(id.to_owned());
            }
        }
        self.all(ORDERS, &ids)
    }

    /// The first entries of an account that expire after now. Files of before have no such table until something is put there.
    fn undecided_in(
        &self,
        table: OfAccounts,
        account: &str,
        now: Time,
        most: usize,
    ) -> Result<Vec<(Time, String)>, Stop> {
        let table = match self.0.open_table(table) {
            Err(TableError::TableDoesNotExist(_)) => return Ok(Vec::new()),
            table => table?,
        };
        let from = (account, now.as_secs().saturating_add(1), "");
        let mut all = Vec::new();
        for found in table.range(from..)?.take(most) {
            let (found, _) = found?;
            let (owner, expires, id) = found.value();
            if owner != account {
                break;
            }
            all.push((Time::from_secs(expires), id.to_owned()));
        }
        Ok(all)
    }

    pub(super) fn undecided(
        &self,
        account: &str,
        now: Time,
        most: Most,
    ) -> Result<Undecided, Stop> {
        let orders = self.undecided_in(OPEN_ORDERS, account, now, most.orders)?;
        let ids: Vec<String> = orders.into_iter().map(|(_, id)| id).collect();
        let authorizations = self.undecided_in(PENDING, account, now, most.authorizations)?;
        Ok(Undecided {
            orders: self.all(ORDERS, &ids)?,
            authorizations: authorizations.into_iter().map(|(end, _)| end).collect(),
        })
    }

    /// What is said of limits. It counts nothing.
    pub(super) fn look(&self, limits: &[Limit], now: Time) -> Result<Counted, Stop> {
        let table = self.0.open_table(LIMITS)?;
        let counted = |limit: &Limit| {
            let found = table.get(limit.of.as_str())?.map(|found| found.value());
            Ok(found.map(|(until, count)| (Time::from_secs(until), count)))
        };
        said(limits, counted, now)
    }

    pub(super) fn overdue(&self, since: Time, limit: usize) -> Result<Overdue, Stop> {
        let ids = |table: Times| {
            let table = self.0.open_table(table)?;
            let due = table.range(..(since.as_secs().saturating_add(1), ""))?;
            let ids = due
                .take(limit)
                .map(|found| Ok(found?.0.value().1.to_owned()));
            ids.collect::<Result<Vec<_>, Stop>>()
        };
        Ok(Overdue {
            orders: self.all(ORDERS, &ids(ORDERS_IN_WORK)?)?,
            authorizations: self.all(AUTHORIZATIONS, &ids(AUTHORIZATIONS_IN_WORK)?)?,
        })
    }

    pub(super) fn authorization(&self, id: &str) -> Found<AuthorizationRecord> {
        self.one(AUTHORIZATIONS, id)
    }

    pub(super) fn authorizations(&self, ids: &[String]) -> All<AuthorizationRecord> {
        self.all(AUTHORIZATIONS, ids)
    }

    pub(super) fn valid_authorizations(
        &self,
        account: &str,
        identifier: &Identifier,
        is_wildcard: bool,
        limit: usize,
    ) -> All<AuthorizationRecord> {
        let identifier = identifier_text(identifier);
        let at = |expires| (account, identifier.as_str(), is_wildcard, expires, "");
        let table = self.0.open_table(VALID)?;
        let found = table.range(at(0)..at(u64::MAX))?.rev().take(limit);
        let ids = found.map(|found| Ok(found?.0.value().4.to_owned()));
        self.all(AUTHORIZATIONS, &ids.collect::<Result<Vec<_>, Stop>>()?)
    }

    pub(super) fn certificate(&self, id: &str) -> Found<CertificateRecord> {
        self.one(CERTIFICATES, id)
    }

    pub(super) fn certificate_named(&self, name: &str) -> Found<CertificateRecord> {
        match self.0.open_table(NAMES)?.get(name)? {
            Some(id) => self.named(CERTIFICATES, id.value()),
            None => Ok(None),
        }
    }
}
