//! The index: the content of the journal, sorted for searches, in a redb database.
//!
//! The index has everything from the journal up to some record. One transaction writes the changes of many
//! records. Transactions use redb's quick repair (two-phase commit, and a list of free pages), so the
//! index opens at once even after a process was killed. Nothing is only in the index: if it is lost, it is
//! rebuilt from the journal.
//!
//! redb doesn't look for changed bytes when it reads. So each entry of each table has a check. What would be missed
//! without a trace has a sum: each issuer's listings, which are compared when a revocation list is made; the numbers of
//! the lists, when the index is opened; and the keys that others may know, when one is looked for, together with those
//! that begin with the same byte. These sums and the single entries are always there.

use alloc::collections::{BTreeMap, BTreeSet};
use core::fmt::Display;
use core::ops::Bound;
use core::panic::AssertUnwindSafe;
use std::io::{Read, Seek};
use std::panic::catch_unwind;
use std::path::{Path, PathBuf};
use std::{fs, io};

use redb::{
    Builder, Database, DatabaseError, Durability, Error, ReadOnlyDatabase, ReadOnlyTable,
    ReadableDatabase, ReadableTable, ReadableTableMetadata, TableDefinition, TableError,
    WriteTransaction,
};

use sha2::{Digest, Sha256};

use super::files::{Access, OfMachine, create_anew, io_error, open_own, put_in_place};
use super::head::Position;
use super::order::{self, Key, Order};
use super::row::{List, Listing, Lists, Row};
use super::storage::Storage;
use crate::ledger::KeyHash;
use crate::ledger::codec::Decoder;
use crate::ledger::encoded;
use crate::ledger::entry::State;
use crate::ledger::error::LedgerError;
use crate::ledger::filter::Filter;
use crate::ledger::generation::Generation;
use crate::ledger::request_id::RequestId;
use crate::ledger::serial_number::SerialNumber;

/// The index, open for reading.
pub(super) struct Index {
    path: PathBuf,
    /// The end of the last record that is in the index.
    end: Position,
    /// Where the records of its journal begin, which is another position in each journal.
    start: Position,
    /// The last time that the ledger knows.
    clock: Option<u64>,
    /// `None` if there is no index, and this process may not make one.
    tables: Option<Tables>,
}

struct Tables {
    rows: Table,
    lines: Table,
    listings: Table,
    sums: Table,
    lists: Table,
    keys: Table,
    /// `None` in an index of an earlier version, which knew no requests.
    requests: Option<Table>,
    /// The database that contains the tables.
    _database: ReadOnlyDatabase,
}

type Table = ReadOnlyTable<&'static [u8], &'static [u8]>;

impl Index {
    /// Opens an index. The caller needs the turn: if a process was killed while it wrote the index, its
    /// changes are undone. If there is no index, an empty one is made for a journal that begins at `start`. Who may
    /// only read, and can't use the index as it is, does without one.
    pub(super) fn open(path: &Path, start: Position, access: Access) -> Result<Self, LedgerError> {
        if access == Access::Read {
            if !path.exists() {
                return Ok(Self::none(path, start));
            }
            check_file(path, access)?;
            return guarded(path, || match builder().open_read_only(path) {
                Err(DatabaseError::RepairAborted) => Ok(Self::none(path, start)),
                database => {
                    let database = database.map_err(index_error(path))?;
                    Self::read(path, database).map_err(index_error(path))
                }
            });
        }
        if !path.exists() {
            create(path, start)?;
        }
        Self::open_there(path)
    }

    fn none(path: &Path, start: Position) -> Self {
        Self {
            path: path.into(),
            end: start,
            start,
            clock: None,
            tables: None,
        }
    }

    fn open_there(path: &Path) -> Result<Self, LedgerError> {
        check_file(path, Access::Change)?;
        guarded(path, || {
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
        })
    }

    fn read(path: &Path, database: ReadOnlyDatabase) -> Result<Self, Error> {
        let transaction = database.begin_read()?;
        let ends = transaction.open_table(ENDS)?;
        let end = decode_end(&single(&ends)?)?;
        let start = decode_end(&single(&transaction.open_table(STARTS)?)?)?;
        let clocks = transaction.open_table(CLOCKS)?;
        let clock = decode_clock(&single(&clocks)?)?;
        let tables = Tables {
            rows: transaction.open_table(ROWS)?,
            lines: transaction.open_table(LINES)?,
            listings: transaction.open_table(LISTINGS)?,
            sums: transaction.open_table(SUMS)?,
            lists: transaction.open_table(LISTS)?,
            keys: transaction.open_table(KEYS)?,
            requests: match transaction.open_table(REQUESTS) {
                Err(TableError::TableDoesNotExist(_)) => None,
                table => Some(table?),
            },
            _database: database,
        };
        // There are few, so all are read.
        tables.check_sum(&tables.lists, SUM_OF_LISTS, all(), |_, _| Ok(()))?;
        Ok(Self {
            path: path.into(),
            end,
            start,
            clock,
            tables: Some(tables),
        })
    }

    /// Checks that the changes are on the disk: closing the database reports no errors.
    fn if_at(self, end: Position) -> Result<Self, LedgerError> {
        match self.end == end {
            true => Ok(self),
            false => Err(index_error(&self.path)(
                "it can't be written, perhaps because the disk is full: then free some space there",
            )),
        }
    }

    /// The end of the last record that is in the index.
    pub(super) fn end(&self) -> Position {
        self.end
    }

    /// Checks that it was made from the journal whose records begin there.
    pub(super) fn check_start(&self, start: Position) -> Result<(), LedgerError> {
        match self.start == start {
            true => Ok(()),
            false => Err(self.of_another()),
        }
    }

    /// The last time that the ledger knows, in seconds since 1970.
    pub(super) fn clock(&self) -> Option<u64> {
        self.clock
    }

    pub(super) fn row(&self, number: &SerialNumber) -> Result<Option<Row>, LedgerError> {
        let Some(tables) = &self.tables else {
            return Ok(None);
        };
        let key = number.as_bytes();
        guarded(&self.path, || {
            let row = tables.rows.get(key).map_err(index_error(&self.path))?;
            row.map(|row| {
                let row = unseal(key, row.value()).and_then(Row::decode);
                row.map_err(index_error(&self.path))
            })
            .transpose()
        })
    }

    /// Some rows after this number, in the order of the numbers' bytes.
    pub(super) fn rows_after(
        &self,
        after: Option<&SerialNumber>,
        limit: usize,
    ) -> Result<Vec<Row>, LedgerError> {
        let Some(tables) = &self.tables else {
            return Ok(Vec::new());
        };
        let first = after.map_or(Bound::Unbounded, |after| Bound::Excluded(after.as_bytes()));
        guarded(&self.path, || {
            let rows = tables.rows.range::<&[u8]>((first, Bound::Unbounded));
            let rows = rows.map_err(index_error(&self.path))?.take(limit);
            let rows = rows.map(|row| {
                let (key, sealed) = row.map_err(index_error(&self.path))?;
                let row = unseal(key.value(), sealed.value()).and_then(Row::decode);
                row.map_err(index_error(&self.path))
            });
            rows.collect()
        })
    }

    /// What is known of all revocation lists, in the order of their issuers' names.
    pub(super) fn all_lists(&self) -> Result<Vec<(String, Lists)>, LedgerError> {
        let Some(tables) = &self.tables else {
            return Ok(Vec::new());
        };
        let mut all = Vec::new();
        guarded(&self.path, || {
            let checked =
                tables.check_sum(&tables.lists, SUM_OF_LISTS, self::all(), |key, value| {
                    if key != GENERATIONS {
                        let issuer = core::str::from_utf8(key).map_err(io::Error::other)?;
                        all.push((issuer.to_owned(), decode_lists(value)?));
                    }
                    Ok(())
                });
            checked.map_err(index_error(&self.path))
        })?;
        Ok(all)
    }

    /// What is known of an issuer's revocation lists.
    pub(super) fn lists_of(&self, issuer: &str) -> Result<Lists, LedgerError> {
        let Some(tables) = &self.tables else {
            return Ok(Lists::default());
        };
        guarded(&self.path, || {
            let key = issuer.as_bytes();
            let lists = tables.lists.get(key).map_err(index_error(&self.path))?;
            lists.map_or(Ok(Lists::default()), |lists| {
                let lists = unseal(key, lists.value()).and_then(decode_lists);
                lists.map_err(index_error(&self.path))
            })
        })
    }

    /// The generations of the issuing key.
    pub(super) fn generations(&self) -> Result<Vec<Generation>, LedgerError> {
        let Some(tables) = &self.tables else {
            return Ok(Vec::new());
        };
        guarded(&self.path, || {
            let kept = tables.lists.get(GENERATIONS);
            kept.map_err(index_error(&self.path))?
                .map_or(Ok(Vec::new()), |kept| {
                    let generations = unseal(GENERATIONS, kept.value())
                        .and_then(|bytes| encoded::generations(&mut Decoder::new(bytes)));
                    generations.map_err(index_error(&self.path))
                })
        })
    }

    /// The certificate that was revoked because others may know this key.
    pub(super) fn compromised(&self, key: &KeyHash) -> Result<Option<SerialNumber>, LedgerError> {
        let Some(tables) = &self.tables else {
            return Ok(None);
        };
        guarded(&self.path, || {
            let mut found = None;
            let [first, ..] = *key.as_bytes();
            // All that begin as this one does, to see that none is missing.
            let checked = tables.check_sum(
                &tables.keys,
                &sum_of_keys(first),
                beginning_with(&[first]),
                |other, number| {
                    if other == key.as_bytes() {
                        found = Some(SerialNumber::from_bytes(number).map_err(io::Error::other)?);
                    }
                    Ok(())
                },
            );
            checked.map_err(index_error(&self.path))?;
            Ok(found)
        })
    }

    /// The certificate that was issued for this request.
    pub(super) fn of_request(
        &self,
        request: &RequestId,
    ) -> Result<Option<SerialNumber>, LedgerError> {
        let Some(tables) = &self.tables else {
            return Ok(None);
        };
        guarded(&self.path, || {
            let mut found = None;
            // All that begin as this one does, to see that none is missing.
            let [first, second, ..] = *request.as_bytes();
            let summed = tables.requests.as_ref().map_or(Ok([0; SUM]), |requests| {
                let part = beginning_with(&[first, second]);
                sum_of(requests, part, |other, number| {
                    if other == request.as_bytes() {
                        found = Some(SerialNumber::from_bytes(number).map_err(io::Error::other)?);
                    }
                    Ok(())
                })
            });
            let is_whole = summed.and_then(|sum| {
                let kept = sum_in(&tables.sums, &sum_of_requests(request))?;
                Ok(kept.unwrap_or_default() == sum)
            });
            match is_whole.map_err(index_error(&self.path))? {
                true => Ok(found),
                false => Err(index_error(&self.path)("something in it is missing")),
            }
        })
    }

    /// The first keys in an order, at most `limit`. With several names, the keys are not sorted.
    pub(super) fn keys(
        &self,
        order: &Order,
        filter: &Filter,
        after: Option<&Key>,
        limit: usize,
    ) -> Result<Vec<Key>, LedgerError> {
        let Some(tables) = &self.tables else {
            return Ok(Vec::new());
        };
        let (first, last) = order.lines(filter, after);
        let range = between(&first, &last);
        guarded(&self.path, || {
            let lines = tables.lines.range::<&[u8]>(range);
            let mut keys = Vec::new();
            for line in lines.map_err(index_error(&self.path))?.take(limit) {
                let (line, check) = line.map_err(index_error(&self.path))?;
                unseal(line.value(), check.value()).map_err(index_error(&self.path))?;
                keys.extend(order.key(line.value()));
            }
            Ok(keys)
        })
    }

    /// Shows all stored listings of an issuer: candidates for its next revocation list.
    pub(super) fn listings(
        &self,
        issuer: &str,
        mut show: impl FnMut(SerialNumber, Listing),
    ) -> Result<(), LedgerError> {
        let Some(tables) = &self.tables else {
            return Ok(());
        };
        let (first, last) = order::listing_keys(issuer);
        let range = || tables.listings.range::<&[u8]>(between(&first, &last));
        let mut listings = guarded(&self.path, || range().map_err(index_error(&self.path)))?;
        let mut sum = [0; SUM];
        // What `show` does is none of the index's business.
        let mut next = || guarded(&self.path, || Ok(listings.next()));
        while let Some(listing) = next()? {
            let (key, sealed) = listing.map_err(index_error(&self.path))?;
            add(&mut sum, key.value(), sealed.value());
            let listing = unseal(key.value(), sealed.value()).and_then(Listing::decode);
            let listing = listing.map_err(index_error(&self.path))?;
            if let Some(number) = order::listed_number(issuer, key.value()) {
                show(number, listing);
            }
        }
        guarded(&self.path, || {
            let expected = sum_in(&tables.sums, &sum_of_listings(issuer));
            match expected
                .map_err(index_error(&self.path))?
                .unwrap_or_default()
                == sum
            {
                true => Ok(()),
                false => Err(index_error(&self.path)("it lacks a revocation")),
            }
        })
    }

    /// Compares everything in the index with what the journal says up to its end.
    ///
    /// # Errors
    ///
    /// Also if it says the same, and something in it was changed.
    pub(super) fn compare(&self, expected: &Expected) -> Result<(), LedgerError> {
        let Some(tables) = &self.tables else {
            return Ok(());
        };
        let (mut lines, mut listings) = ([0; SUM], [0; SUM]);
        for (number, state) in &expected.states {
            let row = self.row(number)?;
            let Some(row) = row.filter(|row| row.entry.state == *state) else {
                return Err(self.differs());
            };
            let revoked = row.listing().map(|_| order::revoked_line(&row));
            let mut all: Vec<_> = order::lines_of(&row).into_iter().chain(revoked).collect();
            all.sort_unstable();
            all.dedup();
            for line in all {
                add(&mut lines, &line, &seal(&line, Vec::new()));
            }
            if let Some(listing) = row.listing() {
                let key = order::listing_key(&row.entry.issued.issuer, number);
                add(&mut listings, &key, &seal(&key, listing.encode()));
            }
        }
        let mut keys = BTreeSet::new();
        for first in 0..=u8::MAX {
            guarded(&self.path, || {
                let sum = sum_of_keys(first);
                let checked =
                    tables.check_sum(&tables.keys, &sum, beginning_with(&[first]), |key, _| {
                        keys.insert(key.to_vec());
                        Ok(())
                    });
                checked.map_err(index_error(&self.path))
            })?;
        }
        let known = expected
            .compromised
            .iter()
            .map(|key| key.as_bytes().to_vec());
        let has_requests = self.all_requests()? == expected.requests;
        let has_keys = keys == known.collect();
        let mut has_lists = true;
        for (issuer, list) in &expected.lists {
            has_lists &= self.lists_of(issuer)? == *list;
        }
        let counts = guarded(&self.path, || {
            let count = || Ok([tables.rows.len()?, tables.lists.len()?, tables.keys.len()?]);
            count().map_err(|cause: Error| index_error(&self.path)(cause))
        })?;
        let is_same = has_keys
            && has_requests
            && has_lists
            && counts
                == [
                    expected.states.len() as u64,
                    (expected.lists.len() + usize::from(!expected.generations.is_empty())) as u64,
                    expected.compromised.len() as u64,
                ]
            && self.clock == expected.clock
            && self.generations()? == expected.generations
            && self.sum_of_all(&tables.lines)? == lines
            && self.sum_of_all(&tables.listings)? == listings;
        match is_same {
            true => Ok(()),
            false => Err(self.differs()),
        }
    }

    fn all_requests(&self) -> Result<BTreeMap<RequestId, SerialNumber>, LedgerError> {
        let mut found = BTreeMap::new();
        let Some(tables) = &self.tables else {
            return Ok(found);
        };
        let Some(requests) = &tables.requests else {
            return Ok(found);
        };
        let mut sums: BTreeMap<_, [u8; SUM]> = BTreeMap::new();
        guarded(&self.path, || {
            let read = (|| {
                for entry in requests.range::<&[u8]>(..)? {
                    let (key, sealed) = entry?;
                    let number = unseal(key.value(), sealed.value())?;
                    let request =
                        RequestId::from_bytes(key.value().try_into().map_err(io::Error::other)?);
                    let sum = sums.entry(sum_of_requests(&request)).or_default();
                    add(sum, key.value(), sealed.value());
                    let number = SerialNumber::from_bytes(number).map_err(io::Error::other)?;
                    found.insert(request, number);
                }
                for (key, sum) in &sums {
                    if sum_in(&tables.sums, key)? != Some(*sum) {
                        return Err(io::Error::other("something in it is missing").into());
                    }
                }
                Ok(())
            })();
            read.map_err(|cause: Error| index_error(&self.path)(cause))
        })?;
        Ok(found)
    }

    fn sum_of_all(&self, table: &Table) -> Result<[u8; SUM], LedgerError> {
        guarded(&self.path, || {
            sum_of(table, all(), |_, _| Ok(())).map_err(index_error(&self.path))
        })
    }

    /// It was not made from this journal, and either of them may be the one that is wrong.
    pub(super) fn of_another(&self) -> LedgerError {
        LedgerError::OtherIndex(self.path.clone())
    }

    pub(super) fn differs(&self) -> LedgerError {
        index_error(&self.path)("it says something else than the journal")
    }
}

impl Tables {
    /// Shows a part of a table, if its sum is there and right.
    fn check_sum(
        &self,
        table: &Table,
        sum: &[u8],
        part: Part,
        show: impl FnMut(&[u8], &[u8]) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let expected = sum_in(&self.sums, sum)?;
        match expected == Some(sum_of(table, part, show)?) {
            true => Ok(()),
            false => Err(io::Error::other("something in it is missing").into()),
        }
    }
}

/// Shows a part of a table, and adds it up.
fn sum_of(
    table: &Table,
    part: Part,
    mut show: impl FnMut(&[u8], &[u8]) -> Result<(), Error>,
) -> Result<[u8; SUM], Error> {
    let mut sum = [0; SUM];
    let (first, last) = &part;
    let bounds = (
        first.as_ref().map(Vec::as_slice),
        last.as_ref().map(Vec::as_slice),
    );
    for entry in table.range::<&[u8]>(bounds)? {
        let (key, sealed) = entry?;
        let value = unseal(key.value(), sealed.value())?;
        add(&mut sum, key.value(), sealed.value());
        show(key.value(), value)?;
    }
    Ok(sum)
}

/// A sum that is kept.
fn sum_in(
    sums: &impl ReadableTable<&'static [u8], &'static [u8]>,
    key: &[u8],
) -> Result<Option<[u8; SUM]>, Error> {
    let Some(sealed) = sums.get(key)? else {
        return Ok(None);
    };
    let sum = unseal(key, sealed.value())?;
    Ok(Some(sum.try_into().map_err(io::Error::other)?))
}

/// The bounds of a part of a table.
type Part = (Bound<Vec<u8>>, Bound<Vec<u8>>);

fn all() -> Part {
    (Bound::Unbounded, Bound::Unbounded)
}

fn beginning_with(first: &[u8]) -> Part {
    // The last byte that has a next one is counted on, and those behind it are left out.
    let last = first.iter().rposition(|byte| *byte < u8::MAX);
    let next = last.map(|last| {
        let mut next = first[..=last].to_vec();
        next[last] += 1;
        Bound::Excluded(next)
    });
    (
        Bound::Included(first.to_vec()),
        next.unwrap_or(Bound::Unbounded),
    )
}

/// The value in a table that has one.
fn single(table: &Table) -> Result<Vec<u8>, Error> {
    let sealed = table.get(NO_KEY)?;
    let sealed = sealed.ok_or_else(|| io::Error::other("something in it is missing"))?;
    Ok(unseal(NO_KEY, sealed.value())?.to_vec())
}

fn encode_end(end: Position) -> Vec<u8> {
    [&end.offset.to_le_bytes()[..], &end.digest].concat()
}

fn decode_end(bytes: &[u8]) -> io::Result<Position> {
    let (offset, digest) = bytes
        .split_first_chunk()
        .ok_or(io::ErrorKind::InvalidData)?;
    Ok(Position {
        offset: u64::from_le_bytes(*offset),
        digest: digest.try_into().map_err(io::Error::other)?,
    })
}

/// A clock that saw no time is of no bytes.
fn encode_clock(clock: Option<u64>) -> Vec<u8> {
    clock.map_or_else(Vec::new, |clock| clock.to_le_bytes().to_vec())
}

fn decode_clock(bytes: &[u8]) -> io::Result<Option<u64>> {
    if bytes.is_empty() {
        return Ok(None);
    }
    let bytes = bytes.try_into().map_err(io::Error::other)?;
    Ok(Some(u64::from_le_bytes(bytes)))
}

fn encode_lists(lists: &Lists) -> Vec<u8> {
    let numbers = [lists.number, lists.written.number, lists.written.at];
    numbers.map(u64::to_le_bytes).concat()
}

fn decode_lists(bytes: &[u8]) -> io::Result<Lists> {
    let (numbers, _) = bytes.as_chunks();
    match numbers {
        [number, written, at] => Ok(Lists {
            number: u64::from_le_bytes(*number),
            written: List {
                number: u64::from_le_bytes(*written),
                at: u64::from_le_bytes(*at),
            },
        }),
        _ => Err(io::ErrorKind::InvalidData.into()),
    }
}

/// What the journal says up to the index's end.
#[derive(Debug, Default)]
pub(super) struct Expected {
    pub(super) states: BTreeMap<SerialNumber, State>,
    pub(super) lists: BTreeMap<String, Lists>,
    pub(super) compromised: BTreeSet<KeyHash>,
    pub(super) clock: Option<u64>,
    pub(super) generations: Vec<Generation>,
    pub(super) requests: BTreeMap<RequestId, SerialNumber>,
}

/// What the index lacks.
pub(super) struct News<'a, R> {
    pub(super) rows: R,
    pub(super) lists: &'a BTreeMap<String, Lists>,
    pub(super) compromised: &'a BTreeMap<KeyHash, SerialNumber>,
    pub(super) requests: &'a BTreeMap<RequestId, SerialNumber>,
    /// The last time that the ledger knows, if it is another than in the index.
    pub(super) clock: Option<u64>,
    /// The generations of the issuing key, if they are others than in the index.
    pub(super) generations: Option<&'a [Generation]>,
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
    news: News<'a, impl Iterator<Item = &'a Row>>,
) -> Result<Index, LedgerError> {
    let is_read_from = change(path, |transaction| {
        let end = match transaction.open_table(ENDS)?.get(NO_KEY)? {
            Some(end) => decode_end(unseal(NO_KEY, end.value())?)?,
            None => return Ok(false),
        };
        if end != from {
            return Ok(false);
        }
        put(transaction, to, news)?;
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
    news: News<'a, impl Iterator<Item = &'a Row>>,
) -> Result<(), Error> {
    let mut table = transaction.open_table(ROWS)?;
    let mut listings = transaction.open_table(LISTINGS)?;
    let mut sums = transaction.open_table(SUMS)?;
    let (mut added, mut removed) = (Vec::new(), Vec::new());
    for row in news.rows {
        let issued = &row.entry.issued;
        let number = &issued.serial_number;
        let is_new = table
            .insert(
                number.as_bytes(),
                seal(number.as_bytes(), row.encode()).as_slice(),
            )?
            .is_none();
        if is_new {
            added.extend(order::lines_of(row));
        }
        let key = order::listing_key(&issued.issuer, number);
        let issuer = issued.issuer.as_str();
        let kept = sum_of_listings(issuer);
        let mut sum = sum_in(&sums, &kept)?.unwrap_or_default();
        let before = sum;
        match row.listing() {
            Some(listing) => {
                added.push(order::revoked_line(row));
                let sealed = seal(&key, listing.encode());
                add(&mut sum, &key, &sealed);
                if let Some(old) = listings.insert(key.as_slice(), sealed.as_slice())? {
                    add(&mut sum, &key, old.value());
                }
            }
            None if !is_new => {
                removed.push(order::revoked_line(row));
                if let Some(old) = listings.remove(key.as_slice())? {
                    add(&mut sum, &key, old.value());
                }
            }
            None => {}
        }
        if sum != before {
            put_sum(&mut sums, &kept, sum)?;
        }
    }
    let mut lines = transaction.open_table(LINES)?;
    // Sorted, because neighbouring lines are on the same page.
    added.sort_unstable();
    for line in &added {
        lines.insert(line.as_slice(), seal(line, Vec::new()).as_slice())?;
    }
    for line in &removed {
        lines.remove(line.as_slice())?;
    }
    let mut last = transaction.open_table(LISTS)?;
    for (issuer, list) in news.lists {
        let issuer = issuer.as_bytes();
        put_summed(
            &mut last,
            &mut sums,
            SUM_OF_LISTS,
            issuer,
            encode_lists(list),
        )?;
    }
    if let Some(generations) = news.generations {
        let mut encoded = Vec::new();
        encoded::put_generations(&mut encoded, generations);
        put_summed(&mut last, &mut sums, SUM_OF_LISTS, GENERATIONS, encoded)?;
    }
    let mut keys = transaction.open_table(KEYS)?;
    for (key, number) in news.compromised {
        let [first, ..] = *key.as_bytes();
        let number = number.as_bytes().to_vec();
        put_summed(
            &mut keys,
            &mut sums,
            &sum_of_keys(first),
            key.as_bytes(),
            number,
        )?;
    }
    let mut requests = transaction.open_table(REQUESTS)?;
    for (request, number) in news.requests {
        let kept = sum_of_requests(request);
        // Of few requests that begin alike; where there are none, no sum is kept.
        if sum_in(&sums, &kept)?.is_none() {
            put_sum(&mut sums, &kept, [0; SUM])?;
        }
        let number = number.as_bytes().to_vec();
        put_summed(&mut requests, &mut sums, &kept, request.as_bytes(), number)?;
    }
    let mut clocks = transaction.open_table(CLOCKS)?;
    if let Some(clock) = news.clock {
        clocks.insert(NO_KEY, seal(NO_KEY, encode_clock(Some(clock))).as_slice())?;
    }
    transaction
        .open_table(ENDS)?
        .insert(NO_KEY, seal(NO_KEY, encode_end(end)).as_slice())?;
    Ok(())
}

/// Puts in what is always there, and so is noticed if it is not: where the journal's records begin, the clock, and the
/// sums of nothing.
fn put_start(transaction: &WriteTransaction, start: Position) -> Result<(), Error> {
    transaction
        .open_table(STARTS)?
        .insert(NO_KEY, seal(NO_KEY, encode_end(start)).as_slice())?;
    transaction
        .open_table(CLOCKS)?
        .insert(NO_KEY, seal(NO_KEY, encode_clock(None)).as_slice())?;
    let mut sums = transaction.open_table(SUMS)?;
    put_sum(&mut sums, SUM_OF_LISTS, [0; SUM])?;
    for first in 0..=u8::MAX {
        put_sum(&mut sums, &sum_of_keys(first), [0; SUM])?;
    }
    Ok(())
}

type Written<'a> = redb::Table<'a, &'static [u8], &'static [u8]>;

fn put_sum(sums: &mut Written<'_>, key: &[u8], sum: [u8; SUM]) -> Result<(), Error> {
    sums.insert(key, seal(key, sum.to_vec()).as_slice())?;
    Ok(())
}

/// Puts an entry into a table, and changes the sum that it is in.
fn put_summed(
    table: &mut Written<'_>,
    sums: &mut Written<'_>,
    kept: &[u8],
    key: &[u8],
    value: Vec<u8>,
) -> Result<(), Error> {
    let missing = || io::Error::other("something in it is missing");
    let mut sum = sum_in(sums, kept)?.ok_or_else(missing)?;
    let sealed = seal(key, value);
    add(&mut sum, key, &sealed);
    if let Some(old) = table.insert(key, sealed.as_slice())? {
        add(&mut sum, key, old.value());
    }
    put_sum(sums, kept, sum)
}

/// Makes an index completely or not at all: redb can't open a file that is only partly made.
fn create(path: &Path, end: Position) -> Result<(), LedgerError> {
    let draft = path.with_extension("new");
    create_anew(&draft).map_err(io_error("create", &draft))?;
    change(&draft, |transaction| {
        let nothing = News {
            rows: core::iter::empty(),
            lists: &BTreeMap::new(),
            compromised: &BTreeMap::new(),
            requests: &BTreeMap::new(),
            clock: None,
            generations: None,
        };
        put_start(transaction, end)?;
        put(transaction, end, nothing)
    })?;
    Index::open_there(&draft)?.if_at(end)?;
    put_in_place(&OfMachine, &draft, path)
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
    guarded(path, || {
        change(&writable(path)?).map_err(|cause: Error| index_error(path)(cause))
    })
}

/// Does something with an index. redb panics where a file isn't as it wrote it. Nothing is lost then: the index is
/// opened again for the next call, and can be made again. A program whose panics abort ends here, so what can be
/// checked before is, by [`check_header`].
fn guarded<T>(path: &Path, act: impl FnOnce() -> Result<T, LedgerError>) -> Result<T, LedgerError> {
    catch_unwind(AssertUnwindSafe(act)).unwrap_or_else(|_| Err(index_error(path)("it is damaged")))
}

/// Checks whose file an index is, and its header.
pub(super) fn check_file(path: &Path, access: Access) -> Result<(), LedgerError> {
    let file = open_own(fs::File::options().read(true), path, access);
    check_header(&file.map_err(io_error("open", path))?, path)
}

/// Checks that a file is as long as its header says, since redb panics if it is not.
///
/// The header of redb's format 3 has a name of nine bytes, a byte of flags, two zeros, and five numbers of four bytes:
/// the size of a page; how many pages of a region are its header, and how many at most its data; how many regions
/// are full; and how many pages of data the last one has, if it is not full.
fn check_header(mut file: &fs::File, path: &Path) -> Result<(), LedgerError> {
    let length = file.metadata().map_err(io_error("read", path))?.len();
    let mut header = [0; HEADER];
    if length < PAGE {
        return Err(index_error(path)("it is cut off"));
    }
    file.rewind()
        .and_then(|()| file.read_exact(&mut header))
        .map_err(io_error("read", path))?;
    let numbers = header
        .strip_prefix(MAGIC)
        .and_then(|rest| rest.get(3..))
        .ok_or_else(|| index_error(path)("it is not an index"))?;
    let mut numbers = numbers.as_chunks().0.iter();
    let mut next = || {
        u64::from(
            numbers
                .next()
                .map_or(0, |number| u32::from_le_bytes(*number)),
        )
    };
    let (page, heads, most, full, last) = (next(), next(), next(), next(), next());
    let tail = if last == 0 { 0 } else { heads + last };
    let pages = full
        .checked_mul(heads + most)
        .and_then(|pages| pages.checked_add(1 + tail));
    let expected = pages.and_then(|pages| pages.checked_mul(PAGE));
    if page != PAGE || most == 0 || last > most || full + last == 0 {
        return Err(index_error(path)("its header was changed"));
    }
    match expected.is_some_and(|expected| expected <= length) {
        true => Ok(()),
        false => Err(index_error(path)(
            "it is cut off, or its header was changed",
        )),
    }
}

/// The beginning of a database of redb.
const MAGIC: &[u8; 9] = b"redb\x1a\x0a\xa9\x0d\x0a";
const HEADER: usize = MAGIC.len() + 3 + 5 * 4;
const PAGE: u64 = 4096;

pub(super) fn writable(path: &Path) -> Result<Database, LedgerError> {
    let mut options = fs::File::options();
    let file = open_own(options.read(true).write(true), path, Access::Change)
        .map_err(io_error("open", path))?;
    let length = file.metadata().map_err(io_error("read", path))?.len();
    // redb makes a database of an empty file, as a draft is one.
    if length > 0 {
        check_header(&file, path)?;
    }
    builder()
        .create_with_backend(Storage::new(file))
        .map_err(index_error(path))
}

fn builder() -> Builder {
    let mut builder = Builder::new();
    builder.set_cache_size(CACHE_BYTES);
    builder
}

/// Puts a check in front of a value, since redb doesn't look for changed bytes when it reads.
fn seal(key: &[u8], value: Vec<u8>) -> Vec<u8> {
    let mut sealed = check_of(key, &value).to_vec();
    sealed.extend_from_slice(&value);
    sealed
}

/// Checks a value, and takes the check off.
fn unseal<'a>(key: &[u8], sealed: &'a [u8]) -> io::Result<&'a [u8]> {
    match sealed.split_first_chunk() {
        Some((check, value)) if *check == check_of(key, value) => Ok(value),
        _ => Err(io::Error::other("a row was changed")),
    }
}

fn check_of(key: &[u8], value: &[u8]) -> [u8; 8] {
    let mut digest = Sha256::new_with_prefix((key.len() as u64).to_le_bytes());
    digest.update(key);
    let digest = digest.chain_update(value).finalize();
    digest.first_chunk().copied().unwrap_or_default()
}

/// Adds a listing to the sum of an issuer's listings, or takes it out again.
fn add(sum: &mut [u8; SUM], key: &[u8], sealed: &[u8]) {
    let digest = Sha256::new_with_prefix(key).chain_update(sealed).finalize();
    for (sum, byte) in sum.iter_mut().zip(digest) {
        *sum ^= byte;
    }
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
const ROWS: TableDefinition<'_, &[u8], &[u8]> = TableDefinition::new("rows 4");
/// The serial numbers in every order.
const LINES: TableDefinition<'_, &[u8], &[u8]> = TableDefinition::new("lines 4");
/// What belongs on revocation lists, by issuer and serial number.
const LISTINGS: TableDefinition<'_, &[u8], &[u8]> = TableDefinition::new("listings 4");
/// Sums of the digests of each issuer's listings, of the keys that begin with each byte, and of the lists, so that none
/// gets lost unnoticed. The keys are those of [`sum_of_listings`], [`sum_of_keys`] and [`SUM_OF_LISTS`].
const SUMS: TableDefinition<'_, &[u8], &[u8]> = TableDefinition::new("sums 4");
/// The digests of keys that others may know, each with a certificate that was revoked for it.
const KEYS: TableDefinition<'_, &[u8], &[u8]> = TableDefinition::new("keys 4");
/// The requests for which certificates were issued. An index of an earlier version lacks this table until it is written.
pub(super) const REQUESTS: TableDefinition<'_, &[u8], &[u8]> = TableDefinition::new("requests 4");
/// The last time that the ledger knows.
const CLOCKS: TableDefinition<'_, &[u8], &[u8]> = TableDefinition::new("clock 4");
/// What is known of each issuer's revocation lists.
const LISTS: TableDefinition<'_, &[u8], &[u8]> = TableDefinition::new("lists 4");
/// Where the first record begins, with the digest of what is before it. It is another one in each journal.
const STARTS: TableDefinition<'_, &[u8], &[u8]> = TableDefinition::new("start 4");
/// The end of the last record: its offset and its digest.
const ENDS: TableDefinition<'_, &[u8], &[u8]> = TableDefinition::new("end 4");

/// The key of the only entry of a table.
const NO_KEY: &[u8] = &[];
const SUM_OF_LISTS: &[u8] = b"l";
/// The key of the generations of the issuing key, among the lists. It is no text, and so no issuer's name. An index
/// without it is of a CA that has none.
const GENERATIONS: &[u8] = &[0xff];

/// The key of the sum of the digests of keys that begin with this byte.
fn sum_of_keys(first: u8) -> [u8; 2] {
    [b'k', first]
}

/// The key of the sum of the requests that begin as this one does.
fn sum_of_requests(request: &RequestId) -> [u8; 3] {
    let [first, second, ..] = *request.as_bytes();
    [b'r', first, second]
}

/// The key of the sum of an issuer's listings.
fn sum_of_listings(issuer: &str) -> Vec<u8> {
    [b"i", issuer.as_bytes()].concat()
}

/// How many bytes a sum has.
const SUM: usize = 16;

/// How much of the database is kept in memory. redb's default is 1 GiB.
const CACHE_BYTES: usize = 16 * 1024 * 1024;
