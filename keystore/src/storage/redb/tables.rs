//! The tables of the database: rows, the log, and the revision.

use core::ops::Bound;
use std::io;

use ::redb::{
    Database, Durability, Error, ReadableDatabase, ReadableTable, TableDefinition, WriteTransaction,
};

use crate::storage::{
    Change, LogEntry, LogHead, MAX_PAGE_LEN, MAX_PAGE_ROWS, Page, Row, RowKey, RowPrefix, Snapshot,
    Write,
};

/// The rows by their keys: the revision, and the value.
const ROWS: TableDefinition<'_, &str, &[u8]> = TableDefinition::new("rows");
/// The entries by their numbers: the hash, and the value.
const LOG: TableDefinition<'_, u64, &[u8]> = TableDefinition::new("log");
/// Numbers: the format and the revision.
const NUMBERS: TableDefinition<'_, &str, u64> = TableDefinition::new("numbers");

const FORMAT: &str = "format";
const REVISION: &str = "revision";

/// The only format so far.
const THIS_FORMAT: u64 = 1;

fn invalid(reason: &'static str) -> Error {
    Error::Io(io::Error::new(io::ErrorKind::InvalidData, reason))
}

/// Begins a change that is on the disk when it is committed.
fn begin(database: &Database) -> Result<WriteTransaction, Error> {
    let mut transaction = database.begin_write()?;
    transaction.set_durability(Durability::Immediate)?;
    transaction.set_two_phase_commit(true);
    transaction.set_quick_repair(true);
    Ok(transaction)
}

/// Makes the tables.
pub(super) fn create(database: &Database) -> Result<(), Error> {
    let transaction = begin(database)?;
    {
        transaction.open_table(ROWS)?;
        transaction.open_table(LOG)?;
        let mut numbers = transaction.open_table(NUMBERS)?;
        numbers.insert(FORMAT, THIS_FORMAT)?;
        numbers.insert(REVISION, 0)?;
    }
    Ok(transaction.commit()?)
}

/// Checks the format, and returns the revision.
pub(super) fn open(database: &Database) -> Result<u64, Error> {
    let numbers = database.begin_read()?.open_table(NUMBERS)?;
    match numbers.get(FORMAT)?.map(|number| number.value()) {
        Some(THIS_FORMAT) => revision(&numbers),
        _ => Err(invalid("it has another format; use a newer program")),
    }
}

fn revision(numbers: &impl ReadableTable<&'static str, u64>) -> Result<u64, Error> {
    let found = numbers.get(REVISION)?.map(|number| number.value());
    found.ok_or_else(|| invalid("it has no revision"))
}

fn row(stored: &[u8]) -> Result<Row, Error> {
    let (revision, value) = stored
        .split_first_chunk()
        .ok_or_else(|| invalid("a row is cut short"))?;
    Ok(Row {
        revision: u64::from_be_bytes(*revision),
        value: value.into(),
    })
}

fn entry(sequence: u64, stored: &[u8]) -> Result<LogEntry, Error> {
    let (hash, value) = stored
        .split_first_chunk()
        .ok_or_else(|| invalid("an entry of the log is cut short"))?;
    Ok(LogEntry {
        sequence,
        hash: *hash,
        value: value.into(),
    })
}

fn head(log: &impl ReadableTable<u64, &'static [u8]>) -> Result<LogHead, Error> {
    let Some((sequence, stored)) = log.last()? else {
        return Ok(LogHead::EMPTY);
    };
    let LogEntry { sequence, hash, .. } = entry(sequence.value(), stored.value())?;
    Ok(LogHead { sequence, hash })
}

pub(super) fn get(database: &Database, keys: &[RowKey]) -> Result<Snapshot, Error> {
    let transaction = database.begin_read()?;
    let rows = transaction.open_table(ROWS)?;
    let read = |key: &RowKey| match rows.get(key.as_str())? {
        Some(stored) => row(stored.value()).map(Some),
        None => Ok(None),
    };
    Ok(Snapshot {
        rows: keys.iter().map(read).collect::<Result<_, Error>>()?,
        head: head(&transaction.open_table(LOG)?)?,
        revision: revision(&transaction.open_table(NUMBERS)?)?,
    })
}

pub(super) fn list(
    database: &Database,
    prefix: &RowPrefix,
    after: Option<&RowKey>,
    limit: usize,
) -> Result<Page, Error> {
    let table = database.begin_read()?.open_table(ROWS)?;
    let from = match after {
        Some(after) if after.as_str() >= prefix.as_str() => Bound::Excluded(after.as_str()),
        _ => Bound::Included(prefix.as_str()),
    };
    let mut page = Page {
        rows: Vec::new(),
        more: false,
    };
    let mut len = 0;
    for found in table.range::<&str>((from, Bound::Unbounded))? {
        let (key, stored) = found?;
        let key: RowKey = key
            .value()
            .parse()
            .map_err(|_| invalid("the key of a row can't be one"))?;
        if !prefix.matches(&key) {
            break;
        }
        if page.rows.len() >= limit.min(MAX_PAGE_ROWS) || len >= MAX_PAGE_LEN {
            page.more = true;
            break;
        }
        let row = row(stored.value())?;
        len += row.value.len();
        page.rows.push((key, row));
    }
    Ok(page)
}

pub(super) fn entries(
    database: &Database,
    from: u64,
    limit: usize,
) -> Result<Vec<LogEntry>, Error> {
    let table = database.begin_read()?.open_table(LOG)?;
    let mut page = Vec::new();
    let mut len = 0;
    for found in table.range(from..)? {
        if page.len() >= limit.min(MAX_PAGE_ROWS) || len >= MAX_PAGE_LEN {
            break;
        }
        let (sequence, stored) = found?;
        let entry = entry(sequence.value(), stored.value())?;
        len += entry.value.len();
        page.push(entry);
    }
    Ok(page)
}

/// Makes a change that is yet to be committed, and its revision; `None` if something isn't as expected.
pub(super) fn prepare(
    database: &Database,
    change: &Change,
) -> Result<Option<(WriteTransaction, u64)>, Error> {
    let transaction = begin(database)?;
    let revision = {
        let mut rows = transaction.open_table(ROWS)?;
        let mut log = transaction.open_table(LOG)?;
        let mut numbers = transaction.open_table(NUMBERS)?;
        for change in &change.rows {
            let found = match rows.get(change.key.as_str())? {
                Some(stored) => Some(row(stored.value())?.revision),
                None => None,
            };
            if !change.expected.holds(found) {
                return Ok(None);
            }
        }
        if let Some(append) = &change.append
            && append.after != head(&log)?
        {
            return Ok(None);
        }
        let revision = revision(&numbers)?
            .checked_add(1)
            .ok_or_else(|| invalid("its revision is the last"))?;
        for change in &change.rows {
            match &change.write {
                Write::Keep => {}
                Write::Put(value) => {
                    let stored = [&revision.to_be_bytes(), value.as_slice()].concat();
                    rows.insert(change.key.as_str(), stored.as_slice())?;
                }
                Write::Delete => {
                    rows.remove(change.key.as_str())?;
                }
            }
        }
        for entry in change.append.iter().flat_map(|append| &append.entries) {
            let stored = [&entry.hash, entry.value.as_slice()].concat();
            log.insert(entry.sequence, stored.as_slice())?;
        }
        numbers.insert(REVISION, revision)?;
        revision
    };
    Ok(Some((transaction, revision)))
}
