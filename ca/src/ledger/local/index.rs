//! The index: the content of the journal, sorted for searches, in a redb database.
//!
//! The index has everything from the journal up to some record. One transaction writes the changes of many
//! records. Transactions use redb's quick repair (two-phase commit, and a list of free pages), so the
//! index opens at once even after a process was killed. Nothing is only in the index: if it is lost, it is
//! rebuilt from the journal.

use alloc::collections::BTreeMap;
use core::fmt::Display;
use core::ops::Bound;
use std::fs;
use std::path::{Path, PathBuf};

use redb::{
    Builder, Database, DatabaseError, Durability, Error, ReadOnlyDatabase, ReadOnlyTable,
    ReadableDatabase, ReadableTable, Table, TableDefinition, WriteTransaction,
};

use super::files::{io_error, put_in_place};
use super::journal::Position;
use super::order::{self, Key, Order};
use super::row::{List, Listing, Row};
use super::storage::Storage;
use crate::ledger::error::LedgerError;
use crate::ledger::filter::Filter;
use crate::ledger::serial_number::SerialNumber;

/// The index, open for reading.
pub(super) struct Index {
    path: PathBuf,
    /// The end of the last record that is in the index.
    end: Position,
    rows: ReadOnlyTable<&'static [u8], &'static [u8]>,
    lines: ReadOnlyTable<&'static [u8], ()>,
    listings: ReadOnlyTable<&'static [u8], &'static [u8]>,
    lists: ReadOnlyTable<&'static str, (u64, u64)>,
    /// The database that contains the tables.
    _database: ReadOnlyDatabase,
}

impl Index {
    /// Opens an index. The caller needs the turn: if a process was killed while it wrote the index, its
    /// changes are undone. If there is no index, an empty one is made for a journal that begins at `start`.
    pub(super) fn open(path: &Path, start: Position) -> Result<Self, LedgerError> {
        if !path.exists() {
            create(path, start)?;
        }
        Self::open_there(path)
    }

    fn open_there(path: &Path) -> Result<Self, LedgerError> {
        let open = || builder().open_read_only(path);
        let database = match open() {
            Err(DatabaseError::RepairAborted) => {
                drop(writable(path)?);
                open()
            }
            result => result,
        };
        let database = database.map_err(index_error(path))?;
        Self::read(path, database).map_err(index_error(path))
    }

    fn read(path: &Path, database: ReadOnlyDatabase) -> Result<Self, Error> {
        let transaction = database.begin_read()?;
        let ends = transaction.open_table(ENDS)?;
        let end = ends.get(())?.map(|end| end.value());
        let (offset, digest) = end.unwrap_or_default();
        Ok(Self {
            path: path.into(),
            end: Position { offset, digest },
            rows: transaction.open_table(ROWS)?,
            lines: transaction.open_table(LINES)?,
            listings: transaction.open_table(LISTINGS)?,
            lists: transaction.open_table(LISTS)?,
            _database: database,
        })
    }

    /// Checks that the changes are on the disk: closing the database reports no errors.
    fn if_at(self, end: Position) -> Result<Self, LedgerError> {
        match self.end == end {
            true => Ok(self),
            false => Err(index_error(&self.path)(
                "it can't be written, perhaps because the disk is full",
            )),
        }
    }

    /// The end of the last record that is in the index.
    pub(super) fn end(&self) -> Position {
        self.end
    }

    pub(super) fn row(&self, number: &SerialNumber) -> Result<Option<Row>, LedgerError> {
        let row = self.rows.get(number.as_bytes());
        row.map_err(index_error(&self.path))?
            .map(|row| Row::decode(row.value()).map_err(index_error(&self.path)))
            .transpose()
    }

    /// The last of an issuer's revocation lists.
    pub(super) fn last_list(&self, issuer: &str) -> Result<List, LedgerError> {
        let list = self.lists.get(issuer).map_err(index_error(&self.path))?;
        Ok(list.map_or_else(List::default, |list| {
            let (number, at) = list.value();
            List { number, at }
        }))
    }

    /// The first keys in an order, at most `limit`. With several names, the keys are not sorted.
    pub(super) fn keys(
        &self,
        order: &Order,
        filter: &Filter,
        after: Option<&Key>,
        limit: usize,
    ) -> Result<Vec<Key>, LedgerError> {
        let (first, last) = order.lines(filter, after);
        let range = between(&first, &last);
        let lines = self.lines.range::<&[u8]>(range);
        let mut keys = Vec::new();
        for line in lines.map_err(index_error(&self.path))?.take(limit) {
            let (line, _) = line.map_err(index_error(&self.path))?;
            keys.extend(order.key(line.value()));
        }
        Ok(keys)
    }

    /// Shows all stored listings of an issuer: candidates for its next revocation list.
    pub(super) fn listings(
        &self,
        issuer: &str,
        mut show: impl FnMut(SerialNumber, Listing),
    ) -> Result<(), LedgerError> {
        let (first, last) = order::listing_keys(issuer);
        let listings = self.listings.range::<&[u8]>(between(&first, &last));
        for listing in listings.map_err(index_error(&self.path))? {
            let (key, listing) = listing.map_err(index_error(&self.path))?;
            let listing = Listing::decode(listing.value()).map_err(index_error(&self.path))?;
            if let Some(number) = order::listed_number(issuer, key.value()) {
                show(number, listing);
            }
        }
        Ok(())
    }
}

/// Updates the index from `from` to `to`, and opens it.
///
/// # Errors
///
/// After an error, or if the process is killed, the index is unchanged.
pub(super) fn write<'a>(
    path: &Path,
    from: Position,
    to: Position,
    rows: impl Iterator<Item = &'a Row>,
    lists: &BTreeMap<String, List>,
) -> Result<Index, LedgerError> {
    let is_read_from = change(path, |transaction| {
        let end = transaction
            .open_table(ENDS)?
            .get(())?
            .map(|end| end.value());
        if end != Some((from.offset, from.digest)) {
            return Ok(false);
        }
        put(transaction, to, rows, lists)?;
        Ok(true)
    })?;
    if !is_read_from {
        return Err(index_error(path)("it was replaced after it was opened"));
    }
    Index::open_there(path)?.if_at(to)
}

fn put<'a>(
    transaction: &WriteTransaction,
    end: Position,
    rows: impl Iterator<Item = &'a Row>,
    lists: &BTreeMap<String, List>,
) -> Result<(), Error> {
    let mut table = transaction.open_table(ROWS)?;
    let mut listings = transaction.open_table(LISTINGS)?;
    let (mut added, mut removed) = (Vec::new(), Vec::new());
    for row in rows {
        let issued = &row.entry.issued;
        let number = &issued.serial_number;
        let is_new = table
            .insert(number.as_bytes(), row.encode().as_slice())?
            .is_none();
        if is_new {
            added.extend(order::lines_of(row));
        }
        let key = order::listing_key(&issued.issuer, number);
        match row.listing() {
            Some(listing) => {
                added.push(order::revoked_line(row));
                listings.insert(key.as_slice(), listing.encode().as_slice())?;
            }
            None if !is_new => {
                removed.push(order::revoked_line(row));
                listings.remove(key.as_slice())?;
            }
            None => {}
        }
    }
    let mut lines = transaction.open_table(LINES)?;
    // Sorted, because neighbouring lines are on the same page.
    added.sort_unstable();
    for line in &added {
        lines.insert(line.as_slice(), ())?;
    }
    for line in &removed {
        lines.remove(line.as_slice())?;
    }
    let mut last = transaction.open_table(LISTS)?;
    for (issuer, list) in lists {
        last.insert(issuer.as_str(), (list.number, list.at))?;
        remove_done(&mut listings, issuer, *list)?;
    }
    transaction
        .open_table(ENDS)?
        .insert((), (end.offset, end.digest))?;
    Ok(())
}

/// Removes certificates that have been on a list that was made after their expiry.
fn remove_done(
    listings: &mut Table<'_, &'static [u8], &'static [u8]>,
    issuer: &str,
    last: List,
) -> Result<(), Error> {
    let (first, end) = order::listing_keys(issuer);
    let mut done = Vec::new();
    for listing in listings.range::<&[u8]>(between(&first, &end))? {
        let (key, listing) = listing?;
        if !Listing::decode(listing.value())
            .map_err(Error::Io)?
            .belongs_after(last)
        {
            done.push(key.value().to_vec());
        }
    }
    for key in done {
        listings.remove(key.as_slice())?;
    }
    Ok(())
}

/// Makes an index completely or not at all: redb can't open a file that is only partly made.
fn create(path: &Path, end: Position) -> Result<(), LedgerError> {
    let draft = path.with_extension("new");
    fs::File::create(&draft).map_err(io_error("create", &draft))?;
    change(&draft, |transaction| {
        put(transaction, end, core::iter::empty(), &BTreeMap::new())
    })?;
    Index::open_there(&draft)?.if_at(end)?;
    put_in_place(&draft, path)
}

/// Changes an index in one transaction. To know whether the change is on the disk, open the index again.
fn change<T>(
    path: &Path,
    change: impl FnOnce(&WriteTransaction) -> Result<T, Error>,
) -> Result<T, LedgerError> {
    let change = |database: &Database| {
        let mut transaction = database.begin_write()?;
        // When it is closed, the database itself commits with two-phase commit and quick repair, so that
        // it opens at once. Before that, this change need not be on the disk.
        transaction.set_durability(Durability::None)?;
        let result = change(&transaction)?;
        transaction.commit()?;
        Ok(result)
    };
    change(&writable(path)?).map_err(|cause: Error| index_error(path)(cause))
}

pub(super) fn writable(path: &Path) -> Result<Database, LedgerError> {
    let file = fs::File::options()
        .read(true)
        .write(true)
        .open(path)
        .map_err(io_error("open", path))?;
    builder()
        .create_with_backend(Storage::new(file))
        .map_err(index_error(path))
}

fn builder() -> Builder {
    let mut builder = Builder::new();
    builder.set_cache_size(CACHE_BYTES);
    builder
}

fn between<'a>(first: &'a [u8], last: &'a [u8]) -> (Bound<&'a [u8]>, Bound<&'a [u8]>) {
    (Bound::Included(first), Bound::Excluded(last))
}

fn index_error<E: Display>(path: &Path) -> impl FnOnce(E) -> LedgerError {
    move |cause| LedgerError::Index {
        path: path.into(),
        cause: cause.to_string(),
    }
}

// The number in the names is the version of the format. An index of another version lacks these tables,
// and has to be made again.

/// Rows by serial number.
const ROWS: TableDefinition<'_, &[u8], &[u8]> = TableDefinition::new("rows 1");
/// The serial numbers in every order.
const LINES: TableDefinition<'_, &[u8], ()> = TableDefinition::new("lines 1");
/// What belongs on revocation lists, by issuer and serial number.
const LISTINGS: TableDefinition<'_, &[u8], &[u8]> = TableDefinition::new("listings 1");
/// The number and the time of each issuer's last revocation list.
const LISTS: TableDefinition<'_, &str, (u64, u64)> = TableDefinition::new("lists 1");
/// The end of the last record: its offset and its digest.
const ENDS: TableDefinition<'_, (), (u64, [u8; 32])> = TableDefinition::new("end 1");

/// How much of the database is kept in memory. redb's default is 1 GiB.
const CACHE_BYTES: usize = 16 * 1024 * 1024;
