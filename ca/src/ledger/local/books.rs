//! Journal and index combined: the current state of the ledger.

use alloc::collections::BTreeMap;
use alloc::vec;
use core::mem;
use std::path::{Path, PathBuf};

use pq_x509::CrlReason;
use pq_x509::pki_types::{CertificateDer, UnixTime};

use super::index::{self, Index};
use super::journal::{Event, Journal};
use super::lock::Turn;
use super::order::{Key, Order};
use super::row::{List, Row};
use crate::ledger::entry::{Entry, NewEntry, Revocation, State};
use crate::ledger::error::LedgerError;
use crate::ledger::filter::Filter;
use crate::ledger::serial_number::SerialNumber;

/// The journal, the index, and the changes in the journal that are not in the index yet.
pub(super) struct Books {
    journal: Journal,
    index_path: PathBuf,
    index: Index,
    /// How often the index had been written when it was opened.
    writings: u64,
    /// Rows that are missing in the index, or outdated there.
    rows: BTreeMap<SerialNumber, Row>,
    lists: BTreeMap<String, List>,
}

impl Books {
    /// Opens these files. If there is no index, it is made.
    pub(super) fn open(journal: &Path, index: &Path, turn: &Turn<'_>) -> Result<Self, LedgerError> {
        let mut journal = Journal::open(journal)?;
        let writings = turn.writings()?;
        let index_path = index.to_path_buf();
        let index = Index::open(index, journal.end())?;
        journal.resume(index.end())?;
        Ok(Self {
            journal,
            index_path,
            index,
            writings,
            rows: BTreeMap::new(),
            lists: BTreeMap::new(),
        })
    }

    /// Whether the open index is still current: nobody has written it since.
    pub(super) fn is_current(&self, turn: &Turn<'_>) -> Result<bool, LedgerError> {
        Ok(self.writings == turn.writings()?)
    }

    /// Reads the changes that others have made.
    pub(super) fn catch_up(&mut self, turn: &Turn<'_>) -> Result<(), LedgerError> {
        self.journal.check()?;
        let start = self.journal.end();
        while let Some(event) = self.journal.next()? {
            self.apply(event)?;
            if self.waiting() >= MANY {
                self.write_index(turn)?;
            }
        }
        if self.journal.end() != start {
            // The process that wrote a record may have been killed before the record was on the disk, and
            // before it returned. From now on the record is used, so it has to be on the disk.
            self.journal.sync()?;
        }
        Ok(())
    }

    /// Writes the index if at least `least` changes are missing in it.
    pub(super) fn write_index_if_waiting(
        &mut self,
        least: usize,
        turn: &Turn<'_>,
    ) -> Result<(), LedgerError> {
        if self.waiting() >= least {
            self.write_index(turn)?;
        }
        Ok(())
    }

    /// How many changed certificates and lists are not in the index yet.
    pub(super) fn waiting(&self) -> usize {
        self.rows.len() + self.lists.len()
    }

    fn write_index(&mut self, turn: &Turn<'_>) -> Result<(), LedgerError> {
        // Even after a crash of the machine, the index must have nothing that the journal lacks.
        self.journal.sync()?;
        // From here on this object is outdated, unless everything succeeds.
        let writings = turn.count_writing()?;
        let rows = mem::take(&mut self.rows);
        let lists = mem::take(&mut self.lists);
        let (from, to) = (self.index.end(), self.journal.end());
        self.index = index::write(&self.index_path, from, to, rows.values(), &lists)?;
        self.writings = writings;
        Ok(())
    }

    pub(super) fn record(&mut self, entries: &[NewEntry<'_>]) -> Result<(), LedgerError> {
        let numbers = in_order(entries.iter().map(|entry| entry.issued.serial_number));
        if let Some(twice) = numbers.windows(2).find(|pair| pair[0] == pair[1]) {
            return Err(LedgerError::SerialNumberTaken(twice[0]));
        }
        for number in numbers {
            if self.row(&number)?.is_some() {
                return Err(LedgerError::SerialNumberTaken(number));
            }
        }
        if entries.is_empty() {
            return Ok(());
        }
        let rows = self.journal.append_issued(entries)?;
        self.apply(Event::Issued(rows))
    }

    pub(super) fn entry(&self, number: &SerialNumber) -> Result<Option<Entry>, LedgerError> {
        Ok(self.row(number)?.map(|row| row.entry))
    }

    pub(super) fn known_entry(&self, number: &SerialNumber) -> Result<Entry, LedgerError> {
        Ok(self.known(number)?.entry)
    }

    pub(super) fn certificate(
        &self,
        number: &SerialNumber,
    ) -> Result<Option<CertificateDer<'static>>, LedgerError> {
        let Some(row) = self.row(number)? else {
            return Ok(None);
        };
        Ok(Some(self.journal.read(row.place)?.into()))
    }

    pub(super) fn revoke(
        &mut self,
        numbers: &[SerialNumber],
        revocation: &Revocation,
    ) -> Result<(), LedgerError> {
        if revocation.reason == CrlReason::RemoveFromCRL {
            return Err(LedgerError::NotAReason);
        }
        let mut changing = Vec::new();
        for number in in_order(numbers.iter().copied()) {
            if self
                .known_entry(&number)?
                .revocation()
                .is_none_or(|first| first.is_hold() && !revocation.is_hold())
            {
                changing.push(number);
            }
        }
        changing.dedup();
        if changing.is_empty() {
            return Ok(());
        }
        self.journal.append_revoked(&changing, revocation)?;
        self.apply(Event::Revoked {
            numbers: changing,
            revocation: revocation.clone(),
        })
    }

    pub(super) fn reinstate(
        &mut self,
        number: &SerialNumber,
        at: UnixTime,
        by: &str,
    ) -> Result<(), LedgerError> {
        let row = self.known(number)?;
        if !row.entry.revocation().is_some_and(Revocation::is_hold) {
            return Err(LedgerError::NotOnHold(*number));
        }
        self.journal.append_reinstated(number, at, by)?;
        self.apply(Event::Reinstated { number: *number })
    }

    /// Begins a search for the entries that match a filter.
    pub(super) fn search(&self, filter: &Filter) -> Result<Search, LedgerError> {
        let order = Order::for_filter(filter);
        let place = match order {
            Order::Single(_) => Place::After(None),
            Order::Names(_) => {
                let mut keys = self.index.keys(&order, filter, None, usize::MAX)?;
                keys.retain(|key| filter.allows_expiry(key.not_after));
                keys.extend(self.keys_outside_index(filter));
                keys.sort_unstable();
                keys.dedup();
                Place::At(keys.into_iter())
            }
        };
        Ok(Search { order, place })
    }

    /// Continues a search, and returns up to `limit` more entries: fewer after a whole page of candidates, and `None`
    /// at the end.
    pub(super) fn look_on(
        &self,
        filter: &Filter,
        search: &mut Search,
        limit: usize,
    ) -> Result<Option<Vec<Entry>>, LedgerError> {
        let keys = match &mut search.place {
            Place::At(keys) => keys.take(PAGE).collect(),
            Place::After(after) => {
                let mut keys = self
                    .index
                    .keys(&search.order, filter, after.as_ref(), PAGE)?;
                let others = self.keys_outside_index(filter);
                keys.extend(others.filter(|key| after.is_none_or(|after| *key > after)));
                keys.sort_unstable();
                keys.dedup();
                keys.truncate(PAGE);
                *after = keys.last().copied().or(*after);
                keys
            }
        };
        if keys.is_empty() {
            return Ok(None);
        }
        let mut entries = Vec::new();
        for key in keys {
            if entries.len() == limit {
                break;
            }
            let entry = self.entry(&key.number)?;
            entries.extend(entry.filter(|entry| filter.matches(entry)));
        }
        Ok(Some(entries))
    }

    pub(super) fn next_list(
        &mut self,
        issuer: &str,
        now: UnixTime,
        show: &mut dyn FnMut(&SerialNumber, &Revocation),
    ) -> Result<u64, LedgerError> {
        let last = self.last_list(issuer)?;
        self.index.listings(issuer, |number, listing| {
            if listing.belongs_after(last) && !self.rows.contains_key(&number) {
                show(&number, &listing.revocation);
            }
        })?;
        for (number, row) in &self.rows {
            if let Some(listing) = row.listing()
                && listing.belongs_after(last)
                && row.entry.issued.issuer == issuer
            {
                show(number, &listing.revocation);
            }
        }
        let list = List {
            number: last.number + 1,
            // If the clock is set back, certificates that left the lists don't come back.
            at: now.as_secs().max(last.at),
        };
        self.journal.append_listed(issuer, list)?;
        self.lists.insert(issuer.into(), list);
        Ok(list.number)
    }

    fn row(&self, number: &SerialNumber) -> Result<Option<Row>, LedgerError> {
        match self.rows.get(number) {
            Some(row) => Ok(Some(row.clone())),
            None => self.index.row(number),
        }
    }

    fn known(&self, number: &SerialNumber) -> Result<Row, LedgerError> {
        self.row(number)?.ok_or(LedgerError::Unknown(*number))
    }

    fn last_list(&self, issuer: &str) -> Result<List, LedgerError> {
        match self.lists.get(issuer) {
            Some(list) => Ok(*list),
            None => self.index.last_list(issuer),
        }
    }

    fn keys_outside_index(&self, filter: &Filter) -> impl Iterator<Item = Key> {
        self.rows
            .values()
            .filter(|row| filter.matches(&row.entry))
            .map(Key::of)
    }

    /// Applies a record of the journal.
    fn apply(&mut self, event: Event) -> Result<(), LedgerError> {
        match event {
            Event::Issued(rows) => {
                let rows = rows.into_iter();
                self.rows
                    .extend(rows.map(|row| (row.entry.issued.serial_number, row)));
            }
            Event::Revoked {
                numbers,
                revocation,
            } => {
                for number in numbers {
                    self.set_state(&number, State::Revoked(revocation.clone()))?;
                }
            }
            Event::Reinstated { number } => self.set_state(&number, State::Valid)?,
            Event::Listed { issuer, list } => {
                self.lists.insert(issuer, list);
            }
        }
        Ok(())
    }

    fn set_state(&mut self, number: &SerialNumber, state: State) -> Result<(), LedgerError> {
        let mut row = self.known(number)?;
        row.last_list = self.last_list(&row.entry.issued.issuer)?.number;
        row.entry.state = state;
        self.rows.insert(*number, row);
        Ok(())
    }
}

/// Sorts the numbers: in this order, the index is read page by page.
fn in_order(numbers: impl Iterator<Item = SerialNumber>) -> Vec<SerialNumber> {
    let mut numbers: Vec<_> = numbers.collect();
    numbers.sort_unstable();
    numbers
}

/// The state of a search.
pub(super) struct Search {
    order: Order,
    place: Place,
}

enum Place {
    /// After this key, in an order of the index.
    After(Option<Key>),
    /// At these remaining keys.
    At(vec::IntoIter<Key>),
}

/// While the journal is read, or certificates are recorded several at a time, the index is written after
/// this many changes, which take a few megabytes of memory.
pub(super) const MANY: usize = 8192;
/// How many entries a search looks at before it gives up its turn.
const PAGE: usize = 1000;
