//! The tables, and the rows that have records. redb doesn't look for changed bytes when it reads, so each has a check.

use alloc::sync::Arc;
use std::io;

use ::redb::{Error, ReadableTable, TableDefinition};
use sha2::{Digest, Sha256};

use crate::identifier::Identifier;
use crate::store::StoreError;
use crate::store::codec::Record;

/// Records by their identifiers: the check, the version, and the JSON.
pub(super) type Records = TableDefinition<'static, &'static str, &'static [u8]>;
/// Identifiers by times.
pub(super) type Times = TableDefinition<'static, (u64, &'static str), ()>;
/// Identifiers by names.
pub(super) type Names = TableDefinition<'static, &'static str, &'static str>;
/// Valid authorizations: account, identifier, whether for a wildcard, expiry, and identifier of the authorization.
pub(super) type Valid =
    TableDefinition<'static, (&'static str, &'static str, bool, u64, &'static str), ()>;

/// What is not decided: account, expiry and identifier.
pub(super) type OfAccounts = TableDefinition<'static, (&'static str, u64, &'static str), ()>;

/// Numbers: the format.
pub(super) const NUMBERS: TableDefinition<'_, &str, u64> = TableDefinition::new("numbers");
/// The key for nonces, with its check.
pub(super) const SECRETS: TableDefinition<'_, &str, &[u8]> = TableDefinition::new("secrets");
pub(super) const ACCOUNTS: Records = TableDefinition::new("accounts");
/// Accounts by when their holders ended them.
pub(super) const ENDED_ACCOUNTS: Times = TableDefinition::new("accounts by end");
/// Accounts by the thumbprints of their keys.
pub(super) const KEYS: TableDefinition<'_, &[u8; 32], &str> = TableDefinition::new("keys");
/// The nonces of requests that made something.
pub(super) const NONCES: TableDefinition<'_, &[u8; 16], ()> = TableDefinition::new("nonces");
pub(super) const ORDERS: Records = TableDefinition::new("orders");
/// Orders by their accounts.
pub(super) const OF_ACCOUNT: TableDefinition<'_, (&str, &str), ()> =
    TableDefinition::new("orders of accounts");
pub(super) const ORDERS_BY_EXPIRY: Times = TableDefinition::new("orders by expiry");
pub(super) const OPEN_ORDERS: OfAccounts = TableDefinition::new("open orders");
pub(super) const ORDERS_IN_WORK: Times = TableDefinition::new("orders in work");
/// Which order replaces the certificate with this name.
pub(super) const CLAIMS: Names = TableDefinition::new("claims");
pub(super) const AUTHORIZATIONS: Records = TableDefinition::new("authorizations");
pub(super) const AUTHORIZATIONS_BY_EXPIRY: Times = TableDefinition::new("authorizations by expiry");
pub(super) const PENDING: OfAccounts = TableDefinition::new("pending authorizations");
pub(super) const AUTHORIZATIONS_IN_WORK: Times = TableDefinition::new("authorizations in work");
pub(super) const VALID: Valid = TableDefinition::new("valid authorizations");
pub(super) const CERTIFICATES: Records = TableDefinition::new("certificates");
pub(super) const CERTIFICATES_BY_EXPIRY: Times = TableDefinition::new("certificates by expiry");
/// Certificates by their names.
pub(super) const NAMES: Names = TableDefinition::new("names");

/// How often something was done: when the window ends, and the count.
pub(super) const LIMITS: TableDefinition<'_, &str, (u64, u32)> = TableDefinition::new("limits");
pub(super) const LIMITS_BY_END: Times = TableDefinition::new("limits by end");

const CHECK: usize = 8;

/// Why nothing came of it.
#[derive(Debug)]
pub(super) enum Stop {
    /// The store says no, and nothing was written.
    Refused(StoreError),
    /// The file can't be read or written.
    Failed(Error),
}

impl From<StoreError> for Stop {
    fn from(error: StoreError) -> Self {
        Self::Refused(error)
    }
}

impl From<Error> for Stop {
    fn from(error: Error) -> Self {
        Self::Failed(error)
    }
}

impl From<::redb::TableError> for Stop {
    fn from(error: ::redb::TableError) -> Self {
        Self::Failed(error.into())
    }
}

impl From<::redb::StorageError> for Stop {
    fn from(error: ::redb::StorageError) -> Self {
        Self::Failed(error.into())
    }
}

impl From<::redb::TransactionError> for Stop {
    fn from(error: ::redb::TransactionError) -> Self {
        Self::Failed(error.into())
    }
}

/// What is in the file isn't what was written.
pub(super) fn damaged(reason: String) -> Stop {
    Stop::Failed(Error::Io(io::Error::new(
        io::ErrorKind::InvalidData,
        reason,
    )))
}

/// Something that another table names is not there.
pub(super) fn missing(what: &str, id: &str) -> Stop {
    damaged(format!("the {what} {id:?} is missing"))
}

fn check(what: &str, id: &str, rest: &[u8]) -> [u8; CHECK] {
    let mut hash = Sha256::new();
    for part in [what.as_bytes(), id.as_bytes()] {
        hash.update((part.len() as u64).to_be_bytes());
        hash.update(part);
    }
    hash.update(rest);
    let hash = hash.finalize();
    core::array::from_fn(|n| hash[n])
}

/// A record as a row has it.
pub(super) fn row<R: Record>(id: &str, version: u64, record: &R) -> Result<Vec<u8>, Stop> {
    let json = record.to_json();
    let json = json.map_err(|error| damaged(error.to_string()))?;
    let rest = [&version.to_be_bytes(), json.as_bytes()].concat();
    Ok([&check(R::WHAT, id, &rest)[..], &rest].concat())
}

/// The record of a row.
pub(super) fn record<R: Record>(id: &str, row: &[u8]) -> Result<R, Stop> {
    let wrong = |reason: &dyn core::fmt::Display| {
        damaged(format!("the {} {id:?} was changed: {reason}", R::WHAT))
    };
    let checked = row.split_first_chunk::<CHECK>();
    let (found, rest) = checked.ok_or_else(|| wrong(&"it is cut short"))?;
    if *found != check(R::WHAT, id, rest) {
        return Err(wrong(&"its check is another"));
    }
    let version = rest.split_first_chunk();
    let (version, json) = version.ok_or_else(|| wrong(&"it is cut short"))?;
    let json = core::str::from_utf8(json).map_err(|error| wrong(&error))?;
    R::from_json(id, u64::from_be_bytes(*version), json).map_err(|error| wrong(&error))
}

/// A secret as a row has it.
pub(super) fn secret_row(name: &str, secret: &[u8; 32]) -> Vec<u8> {
    [&check("secret", name, secret)[..], secret].concat()
}

/// The secret of a row.
pub(super) fn secret(name: &str, row: &[u8]) -> Result<[u8; 32], Stop> {
    let checked = row.split_first_chunk::<CHECK>();
    let checked = checked.filter(|(found, rest)| **found == check("secret", name, rest));
    let secret = checked.and_then(|(_, rest)| rest.try_into().ok());
    secret.ok_or_else(|| damaged(format!("the secret {name:?} was changed")))
}

/// The record with this identifier.
pub(super) fn find<R: Record>(
    table: &impl ReadableTable<&'static str, &'static [u8]>,
    id: &str,
) -> Result<Option<R>, Stop> {
    match table.get(id)? {
        Some(found) => record(id, found.value()).map(Some),
        None => Ok(None),
    }
}

/// Those that another table names.
pub(super) fn find_named<R: Record>(
    table: &impl ReadableTable<&'static str, &'static [u8]>,
    ids: &[String],
) -> Result<Vec<Arc<R>>, Stop> {
    let each = ids.iter().map(|id| match find(table, id)? {
        Some(found) => Ok(Arc::new(found)),
        None => Err(missing(R::WHAT, id)),
    });
    each.collect()
}

/// What stands for an identifier.
pub(super) fn identifier_text(identifier: &Identifier) -> String {
    format!("{}:{}", identifier.kind(), identifier.value())
}
