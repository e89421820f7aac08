//! What the journal says, in the orders in which it is asked for: a redb database.
//!
//! It has everything that the journal says up to some record, and is written in one transaction for
//! many records. That is done so that it opens at once after a process was killed (redb's quick
//! repair, which has the commit in two phases, and writes down which pages are free). It is never
//! the only place of anything: without it, it is made again from the journal.

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
    /// The end of the last record that is in it.
    end: Position,
    rows: ReadOnlyTable<&'static [u8], &'static [u8]>,
    lines: ReadOnlyTable<&'static [u8], ()>,
    listings: ReadOnlyTable<&'static [u8], &'static [u8]>,
    lists: ReadOnlyTable<&'static str, (u64, u64)>,
    /// What the tables are in.
    _database: ReadOnlyDatabase,
}

impl Index {
    /// Opens an index. If a process was killed while it wrote to it, that is undone; if there is
    /// none, one is made, which has nothing of a journal that begins at `start`. So this asks for a
    /// turn.
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

    /// This, if what was written to it is on the disk: the database says nothing when it is closed.
    fn if_at(self, end: Position) -> Result<Self, LedgerError> {
        match self.end == end {
            true => Ok(self),
            false => Err(index_error(&self.path)(
                "it can't be written, perhaps for want of space",
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

    /// The first keys in an order, at most so many, or all. Those of several names come as they
    /// come.
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

    /// Shows what belongs on the list after the one that is the last here.
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

/// Brings the index from `from` up to `to`, and opens it.
///
/// # Errors
///
/// Nothing is changed then, nor if the process is killed.
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
        return Err(index_error(path)("it is another than before"));
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
    // Neighbours are on the same page.
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

/// Removes what has been on a list that was made after its expiry.
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

/// Makes an index that is there whole or not at all: redb can't open a file that it began to make.
fn create(path: &Path, end: Position) -> Result<(), LedgerError> {
    let draft = path.with_extension("new");
    fs::File::create(&draft).map_err(io_error("create", &draft))?;
    change(&draft, |transaction| {
        put(transaction, end, core::iter::empty(), &BTreeMap::new())
    })?;
    Index::open_there(&draft)?.if_at(end)?;
    put_in_place(&draft, path)
}

/// Changes an index in one transaction. Whether it is on the disk then, only a look at it says.
fn change<T>(
    path: &Path,
    change: impl FnOnce(&WriteTransaction) -> Result<T, Error>,
) -> Result<T, LedgerError> {
    let change = |database: &Database| {
        let mut transaction = database.begin_write()?;
        // To be closed so that it opens at once, the database commits by itself, with two-phase
        // commit and quick repair. Until then, this needn't be on the disk.
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

// The number in the names is the version of the format. Tables of another are not there, and then
// the index has to be made again.

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
