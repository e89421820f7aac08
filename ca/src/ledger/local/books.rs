//! Journal and index combined: the current state of the ledger.

use alloc::collections::BTreeMap;
use alloc::vec;
use core::time::Duration;
use std::path::{Path, PathBuf};

use pq_x509::pki_types::{CertificateDer, UnixTime};
use pq_x509::revocation::CrlReason;

use super::carried::{self, CarriedRest, Kept};
use super::files::Access;
use super::head::Position;
use super::index::{self, Expected, Index, News};
use super::journal::{Event, Journal, Revocations};
use super::lock::Turn;
use super::order::{Key, Order};
use super::row::{List, Lists, Row};
use crate::ledger::audit::Deed;
use crate::ledger::condition::Condition;
use crate::ledger::entry::{
    AdoptedEntry, Change, Entry, Issued, NewEntry, Revocation, Revoked, State,
};
use crate::ledger::error::LedgerError;
use crate::ledger::filter::Filter;
use crate::ledger::generation::Generation;
use crate::ledger::moving::{KeptEntry, KeptLists, KeptRevocation, Rest};
use crate::ledger::request_id::RequestId;
use crate::ledger::serial_number::SerialNumber;
use crate::ledger::{GREATEST_NUMBER, KeyHash, clock, lists};

/// The journal, the index, and the changes in the journal that are not in the index yet.
pub(super) struct Books {
    journal: Journal,
    index_path: PathBuf,
    index: Index,
    access: Access,
    /// How often the index had been written when it was opened.
    writings: u64,
    /// Rows that are missing in the index, or outdated there.
    rows: BTreeMap<SerialNumber, Row>,
    lists: BTreeMap<String, Lists>,
    /// Keys that others may know.
    compromised: BTreeMap<KeyHash, SerialNumber>,
    /// Requests for which certificates were issued.
    requests: BTreeMap<RequestId, SerialNumber>,
    /// The last time that the ledger knows, if it is another than in the index.
    clock: Option<u64>,
    /// The generations of the issuing key, if they are others than in the index.
    generations: Option<Vec<Generation>>,
}

impl Books {
    /// Takes a journal that was opened, and opens its index. If there is no index, it is made.
    pub(super) fn open(
        mut journal: Journal,
        index: &Path,
        access: Access,
        turn: &Turn<'_>,
    ) -> Result<Self, LedgerError> {
        let writings = turn.writings()?;
        let index_path = index.to_path_buf();
        let start = journal.end();
        let index = Index::open(index, start, access)?;
        index.check_start(start)?;
        if let Err(error) = journal.resume(index.end()) {
            // A journal in which everything is as it was written is not what is wrong.
            return Err(
                match journal.is_whole_from(start) && !journal.ends_before(index.end()) {
                    true => index.of_another(),
                    false => error,
                },
            );
        }
        Ok(Self {
            journal,
            index_path,
            index,
            access,
            writings,
            rows: BTreeMap::new(),
            lists: BTreeMap::new(),
            compromised: BTreeMap::new(),
            requests: BTreeMap::new(),
            clock: None,
            generations: None,
        })
    }

    /// Whether the open index is still current: nobody has written it since.
    pub(super) fn is_current(&self, turn: &Turn<'_>) -> Result<bool, LedgerError> {
        Ok(self.writings == turn.writings()?)
    }

    /// Checks that the files are still those with their names.
    pub(super) fn check_in_place(&self) -> Result<(), LedgerError> {
        self.journal.check_in_place()
    }

    /// Reads the changes that others have made.
    pub(super) fn catch_up(&mut self, turn: &Turn<'_>) -> Result<(), LedgerError> {
        self.journal.read_head()?;
        self.journal.check()?;
        while let Some(event) = self.journal.next()? {
            self.apply(event)?;
            if self.waiting() >= MANY {
                self.write_index(turn)?;
            }
        }
        // The process that wrote a record may have been killed before the record was on the disk, and before it
        // returned. From now on the record is used, so it has to be on the disk.
        self.journal.acknowledge()
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

    /// Writes the index if it lacks anything.
    pub(super) fn write_whole_index(&mut self, turn: &Turn<'_>) -> Result<(), LedgerError> {
        match self.index.end() == self.journal.end() {
            true => Ok(()),
            false => self.write_index(turn),
        }
    }

    /// How many changed certificates and lists are not in the index yet.
    pub(super) fn waiting(&self) -> usize {
        self.rows.len() + self.lists.len() + usize::from(self.generations.is_some())
    }

    fn write_index(&mut self, turn: &Turn<'_>) -> Result<(), LedgerError> {
        if self.access == Access::Read {
            return Ok(());
        }
        // Even after a crash of the machine, the index must have nothing that the journal and its head lack.
        self.journal.acknowledge()?;
        self.journal.sync_head()?;
        // From here on the open index is outdated, unless everything succeeds.
        let writings = turn.count_writing()?;
        let (from, to) = (self.index.end(), self.journal.end());
        let news = News {
            rows: self.rows.values(),
            lists: &self.lists,
            compromised: &self.compromised,
            requests: &self.requests,
            clock: self.clock,
            generations: self.generations.as_deref(),
        };
        // What is to be in the index is forgotten only when it is there.
        self.index = index::write(&self.index_path, from, to, news)?;
        self.rows.clear();
        self.lists.clear();
        self.compromised.clear();
        self.requests.clear();
        self.clock = None;
        self.generations = None;
        self.writings = writings;
        Ok(())
    }

    /// Checks conditions for a change.
    pub(super) fn check(&self, conditions: &[Condition<'_>]) -> Result<(), LedgerError> {
        conditions.iter().try_for_each(|condition| {
            condition.check(
                |number| self.entry(number),
                |key| self.compromised(key),
                || self.generations(),
                |filter| self.matching(filter),
            )
        })
    }

    /// The numbers of all certificates that match a filter.
    fn matching(&self, filter: &Filter) -> Result<Vec<SerialNumber>, LedgerError> {
        let mut numbers = Vec::new();
        let mut search = self.search(filter)?;
        while let Some(entries) = self.look_on(filter, &mut search, usize::MAX)? {
            numbers.extend(entries.iter().map(|entry| entry.issued.serial_number));
        }
        Ok(numbers)
    }

    pub(super) fn record(&mut self, entries: &[NewEntry<'_>]) -> Result<(), LedgerError> {
        self.check_new(entries)?;
        if entries.is_empty() {
            return Ok(());
        }
        let rows = self.journal.append_issued(entries)?;
        self.apply(Event::Issued(rows))
    }

    /// Checks that certificates can be recorded.
    fn check_new(&self, entries: &[NewEntry<'_>]) -> Result<(), LedgerError> {
        self.check_numbers_are_free(entries.iter())?;
        self.check_requests_are_free(entries.iter())?;
        entries.iter().try_for_each(|entry| {
            self.check_key(&entry.issued)?;
            clock::check_is_not_ahead(entry.issued.at, self.clock())
        })
    }

    pub(super) fn generations(&self) -> Result<Vec<Generation>, LedgerError> {
        match &self.generations {
            Some(generations) => Ok(generations.clone()),
            None => self.index.generations(),
        }
    }

    /// Records certificates and what the generations are from now on.
    pub(super) fn change_generations(
        &mut self,
        before: &[Generation],
        after: &[Generation],
        entries: &[NewEntry<'_>],
    ) -> Result<(), LedgerError> {
        if self.generations()? != before {
            return Err(LedgerError::GenerationsChanged);
        }
        Generation::check_change(before, after)?;
        self.check_new(entries)?;
        let rows = self.journal.append_succeeded(entries, after)?;
        self.apply(Event::Succeeded(rows, after.to_vec()))
    }

    fn check_numbers_are_free<'a>(
        &self,
        entries: impl Iterator<Item = &'a NewEntry<'a>>,
    ) -> Result<(), LedgerError> {
        let numbers = in_order(entries.map(|entry| entry.issued.serial_number));
        if let Some(twice) = numbers.windows(2).find(|pair| pair[0] == pair[1]) {
            return Err(LedgerError::SerialNumberTaken(twice[0]));
        }
        for number in numbers {
            if self.row(&number)?.is_some() {
                return Err(LedgerError::SerialNumberTaken(number));
            }
        }
        Ok(())
    }

    fn check_requests_are_free<'a>(
        &self,
        entries: impl Iterator<Item = &'a NewEntry<'a>>,
    ) -> Result<(), LedgerError> {
        let mut these = BTreeMap::new();
        for entry in entries {
            let Some(request) = entry.issued.request else {
                continue;
            };
            let before = these.insert(request, entry.issued.serial_number);
            if let Some(number) =
                before.map_or_else(|| self.number_of(&request), |one| Ok(Some(one)))?
            {
                return Err(LedgerError::RequestTaken { request, number });
            }
        }
        Ok(())
    }

    /// That nobody else may know a certificate's key.
    fn check_key(&self, issued: &Issued) -> Result<(), LedgerError> {
        for key in issued.keys() {
            if let Some(number) = self.compromised(&key)? {
                return Err(LedgerError::KeyCompromised(number));
            }
        }
        Ok(())
    }

    /// Records certificates that were issued earlier with their revocations, in one record.
    pub(super) fn adopt(&mut self, adopted: &[AdoptedEntry<'_>]) -> Result<(), LedgerError> {
        let certificates = || adopted.iter().map(|one| &one.entry);
        self.check_numbers_are_free(certificates())?;
        self.check_requests_are_free(certificates())?;
        let mut revoked = Vec::new();
        let mut compromised = BTreeMap::new();
        for AdoptedEntry { entry, revocation } in adopted {
            let (issued, number) = (&entry.issued, entry.issued.serial_number);
            let Some(revocation) = revocation else {
                continue;
            };
            if revocation.reason == CrlReason::RemoveFromCRL {
                return Err(LedgerError::NotAReason);
            }
            if revocation.is_compromise() {
                compromised.extend(issued.keys().map(|key| (key, number)));
            }
            revoked.push((revocation.for_certificate(issued), vec![number]));
        }
        for one in adopted.iter().filter(|one| one.revocation.is_none()) {
            let issued = &one.entry.issued;
            if let Some(number) = issued.keys().find_map(|key| compromised.get(&key)) {
                return Err(LedgerError::KeyCompromised(*number));
            }
            self.check_key(issued)?;
        }
        if adopted.is_empty() {
            return Ok(());
        }
        let rows = self.journal.append_adopted(certificates(), &revoked)?;
        self.apply(Event::Adopted(rows, revoked))
    }

    pub(super) fn entry(&self, number: &SerialNumber) -> Result<Option<Entry>, LedgerError> {
        Ok(self.row(number)?.map(|row| row.entry))
    }

    pub(super) fn of_request(&self, request: &RequestId) -> Result<Option<Entry>, LedgerError> {
        match self.number_of(request)? {
            Some(number) => self.known_entry(&number).map(Some),
            None => Ok(None),
        }
    }

    /// The number of the certificate that was issued for a request.
    fn number_of(&self, request: &RequestId) -> Result<Option<SerialNumber>, LedgerError> {
        match self.requests.get(request) {
            Some(number) => Ok(Some(*number)),
            None => self.index.of_request(request),
        }
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
    ) -> Result<Vec<Revoked>, LedgerError> {
        if revocation.reason == CrlReason::RemoveFromCRL {
            return Err(LedgerError::NotAReason);
        }
        // By the revocation that each gets: an updated one may have an earlier time, or keep its reason. There may be
        // as many as certificates.
        let mut changing: BTreeMap<_, (Revocation, Vec<SerialNumber>)> = BTreeMap::new();
        let mut changes = BTreeMap::new();
        for number in in_order(numbers.iter().copied()) {
            if changes.contains_key(&number) {
                continue;
            }
            let (new, change) = revocation.applied_to(&self.known_entry(&number)?);
            changes.insert(number, change);
            let Some(new) = new else { continue };
            let differing = (new.at.as_secs(), new.reason as u32);
            let (_, numbers) = changing
                .entry(differing)
                .or_insert_with(|| (new, Vec::new()));
            numbers.push(number);
        }
        let changing: Revocations = changing.into_values().collect();
        if !changing.is_empty() {
            self.journal.append_revoked(&changing)?;
            self.apply(Event::Revoked(changing))?;
        }
        let revoked = numbers.iter().map(|number| {
            Ok(Revoked {
                entry: self.known_entry(number)?,
                change: changes.get(number).cloned().unwrap_or(Change::Unchanged),
            })
        });
        revoked.collect()
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
        self.check_key(&row.entry.issued)?;
        self.journal.append_reinstated(number, at, by)?;
        self.apply(Event::Reinstated {
            number: *number,
            at,
            by: by.into(),
        })
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
            // A line for a certificate that is not there
            let entry = self
                .entry(&key.number)?
                .ok_or_else(|| self.index.differs())?;
            entries.extend(Some(entry).filter(|entry| filter.matches(entry)));
        }
        Ok(Some(entries))
    }

    pub(super) fn numbered_list(
        &mut self,
        issuer: &str,
        given: Option<u64>,
        now: UnixTime,
        show: &mut dyn FnMut(&SerialNumber, &Revocation),
    ) -> Result<u64, LedgerError> {
        self.check_time(now)?;
        let Lists {
            number: last,
            written,
        } = self.lists_of(issuer)?;
        let number = match given {
            None => last + 1,
            Some(number) if number > last && self.may_be_given(number)? => number,
            Some(number) => {
                return Err(LedgerError::NotAboveLists {
                    issuer: issuer.into(),
                    number,
                    last,
                });
            }
        };
        self.index.listings(issuer, |number, listing| {
            if listing.belongs_on(now, written) && !self.rows.contains_key(&number) {
                show(&number, &listing.revocation);
            }
        })?;
        for (number, row) in &self.rows {
            if let Some(listing) = row.listing()
                && listing.belongs_on(now, written)
                && row.entry.issued.issuer == issuer
            {
                show(number, &listing.revocation);
            }
        }
        let list = List {
            number,
            at: now.as_secs(),
        };
        self.journal.append_listed(issuer, list)?;
        self.apply(Event::Listed {
            issuer: issuer.into(),
            list,
        })?;
        Ok(list.number)
    }

    /// Checks that a list was numbered, and that no later one was begun.
    pub(super) fn check_list(&self, issuer: &str, number: u64) -> Result<(), LedgerError> {
        lists::check_begun(issuer, number, self.numbered(issuer, number)?.number)
    }

    /// Whether a list may have this number, which was given. Above the greatest one only if it follows the last list of
    /// another generation: those of one name share a sequence.
    fn may_be_given(&self, number: u64) -> Result<bool, LedgerError> {
        if number <= GREATEST_NUMBER {
            return Ok(true);
        }
        for generation in self.generations()? {
            if self.lists_of(&generation.name)?.number == number - 1 {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// What is known of an issuer's lists, if it has one of this number.
    fn numbered(&self, issuer: &str, number: u64) -> Result<Lists, LedgerError> {
        let lists = self.lists_of(issuer)?;
        lists::check_numbered(issuer, number, lists.number)?;
        Ok(lists)
    }

    pub(super) fn confirm_list(&mut self, issuer: &str, list: List) -> Result<(), LedgerError> {
        let written = self.numbered(issuer, list.number)?.written.number;
        lists::check_written(issuer, list.number, written)?;
        self.journal.append_written(issuer, list)?;
        self.apply(Event::Written {
            issuer: issuer.into(),
            list,
        })
    }

    pub(super) fn confirm_time(&mut self, now: UnixTime, by: &str) -> Result<(), LedgerError> {
        self.journal.append_confirmed(now, by)?;
        self.apply(Event::Confirmed {
            at: now,
            by: by.into(),
        })
    }

    /// Reads a whole journal, which was just opened, and compares it with what the index and the later changes say.
    pub(super) fn compare(&self, mut journal: Journal) -> Result<(), LedgerError> {
        let mut expected = Expected::default();
        let saw = |time: UnixTime, clock: &mut Option<u64>| {
            *clock = (*clock).max(Some(time.as_secs()));
        };
        loop {
            if journal.end() == self.index.end() {
                self.index.compare(&expected)?;
            }
            if journal.end() == self.journal.end() {
                break;
            }
            let Some(event) = journal.next()? else { break };
            match event {
                Event::Issued(rows) => {
                    for row in rows {
                        saw(row.entry.issued.at, &mut expected.clock);
                        self.compare_issued(row, &mut expected)?;
                    }
                }
                Event::Revoked(revoked) => self.expect_revoked(revoked, &mut expected)?,
                Event::Adopted(rows, revoked) => {
                    for row in rows {
                        self.compare_issued(row, &mut expected)?;
                    }
                    self.expect_revoked(revoked, &mut expected)?;
                }
                Event::Reinstated { number, .. } => {
                    expected.states.insert(number, State::Valid);
                }
                Event::Listed { issuer, list } => {
                    let at = UnixTime::since_unix_epoch(Duration::from_secs(list.at));
                    saw(at, &mut expected.clock);
                    expected.lists.entry(issuer).or_default().begun(list);
                }
                Event::Written { issuer, list } => {
                    expected.lists.entry(issuer).or_default().written(list);
                }
                Event::Confirmed { at, .. } => expected.clock = Some(at.as_secs()),
                Event::Succeeded(rows, generations) => {
                    for row in rows {
                        saw(row.entry.issued.at, &mut expected.clock);
                        self.compare_issued(row, &mut expected)?;
                    }
                    expected.generations = generations;
                }
                Event::Carried(rows, kept) => {
                    for row in rows {
                        self.compare_issued(row, &mut expected)?;
                    }
                    let kept = kept.into_iter();
                    let revoked = kept.map(|(number, one)| (one.revocation, vec![number]));
                    self.expect_revoked(revoked.collect(), &mut expected)?;
                }
                Event::CarriedRest(rest) => {
                    expected.lists.extend(rest.lists);
                    expected.generations = rest.generations;
                    expected.clock = rest.clock;
                }
                Event::CarriedHistory(_) => {}
            }
        }
        if self.generations()? != expected.generations {
            return Err(self.index.differs());
        }
        for (number, state) in expected.states {
            if self.known(&number)?.entry.state != state {
                return Err(self.index.differs());
            }
        }
        Ok(())
    }

    fn compare_issued(&self, row: Row, expected: &mut Expected) -> Result<(), LedgerError> {
        let number = row.entry.issued.serial_number;
        let known = self.row(&number)?;
        let is_same =
            |known: &Row| (&known.entry.issued, known.place) == (&row.entry.issued, row.place);
        if !known.as_ref().is_some_and(is_same) {
            return Err(self.index.differs());
        }
        let request = known.and_then(|known| known.entry.issued.request);
        expected
            .requests
            .extend(request.map(|request| (request, number)));
        expected.states.insert(number, State::Valid);
        Ok(())
    }

    fn expect_revoked(
        &self,
        revoked: Revocations,
        expected: &mut Expected,
    ) -> Result<(), LedgerError> {
        for (revocation, numbers) in revoked {
            for number in numbers {
                if revocation.is_compromise() {
                    let issued = self.known(&number)?.entry.issued;
                    expected.compromised.extend(issued.keys());
                }
                let state = State::Revoked(revocation.clone());
                expected.states.insert(number, state);
            }
        }
        Ok(())
    }

    /// Some entries after this number, in the order of the numbers' bytes. All have to be in the index.
    pub(super) fn kept_after(
        &self,
        after: Option<&SerialNumber>,
    ) -> Result<Vec<KeptEntry>, LedgerError> {
        let rows = self.index.rows_after(after, PAGE)?;
        let kept = rows.into_iter().map(|row| {
            let certificate = self.journal.read(row.place)?.into();
            let Entry { issued, state } = row.entry;
            Ok(KeptEntry {
                entry: NewEntry {
                    issued,
                    certificate,
                },
                revoked: match state {
                    State::Valid => None,
                    State::Revoked(revocation) => Some(KeptRevocation {
                        revocation,
                        last_list: row.last_list,
                    }),
                },
            })
        });
        kept.collect()
    }

    /// What there is besides entries and history. All lists have to be in the index.
    pub(super) fn kept_rest(&self) -> Result<Rest, LedgerError> {
        let lists = self.index.all_lists()?;
        let seconds = |seconds| UnixTime::since_unix_epoch(Duration::from_secs(seconds));
        let lists = lists.into_iter().map(|(issuer, lists)| {
            let Lists { number, written } = lists;
            KeptLists {
                issuer,
                begun: number,
                written: written.number,
                written_at: seconds(written.at),
            }
        });
        Ok(Rest {
            lists: lists.collect(),
            generations: self.generations()?,
            clock: self.clock().map(seconds),
        })
    }

    /// Whether nothing was ever recorded.
    pub(super) fn is_empty(&self, journal: &Journal) -> bool {
        self.journal.end() == journal.end()
    }

    /// How far the journal goes.
    pub(super) fn end(&self) -> Position {
        self.journal.end()
    }

    pub(super) fn carry(&mut self, entries: &[KeptEntry]) -> Result<(), LedgerError> {
        self.check_numbers_are_free(entries.iter().map(|one| &one.entry))?;
        let kept = carried::revocations_of(entries);
        let rows = self.journal.append_carried(entries, &kept)?;
        self.apply(Event::Carried(rows, kept))
    }

    pub(super) fn carry_rest(&mut self, rest: &Rest) -> Result<(), LedgerError> {
        let rest = CarriedRest::of(rest);
        self.journal.append_carried_rest(&rest)?;
        self.apply(Event::CarriedRest(rest))
    }

    pub(super) fn carry_history(&mut self, history: &[Deed]) -> Result<(), LedgerError> {
        self.journal.append_carried_history(history)
    }

    /// The last time that the ledger knows.
    fn clock(&self) -> Option<u64> {
        self.clock.or_else(|| self.index.clock())
    }

    pub(super) fn check_time(&self, now: UnixTime) -> Result<(), LedgerError> {
        clock::check(now, self.clock())
    }

    fn saw(&mut self, time: u64) {
        if self.clock().is_none_or(|last| last < time) {
            self.clock = Some(time);
        }
    }

    pub(super) fn compromised(&self, key: &KeyHash) -> Result<Option<SerialNumber>, LedgerError> {
        match self.compromised.get(key) {
            Some(number) => Ok(Some(*number)),
            None => self.index.compromised(key),
        }
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

    fn lists_of(&self, issuer: &str) -> Result<Lists, LedgerError> {
        match self.lists.get(issuer) {
            Some(lists) => Ok(*lists),
            None => self.index.lists_of(issuer),
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
            Event::Issued(rows) => self.apply_issued(rows),
            Event::Succeeded(rows, generations) => {
                self.apply_issued(rows);
                self.generations = Some(generations);
            }
            Event::Revoked(revoked) => self.apply_revoked(revoked)?,
            // Their times are from before, and say nothing of today.
            Event::Adopted(rows, revoked) => {
                for row in rows {
                    self.insert(row);
                }
                self.apply_revoked(revoked)?;
            }
            Event::Reinstated { number, .. } => self.set_state(&number, State::Valid)?,
            Event::Listed { issuer, list } => {
                self.saw(list.at);
                let mut lists = self.lists_of(&issuer)?;
                lists.begun(list);
                self.lists.insert(issuer, lists);
            }
            Event::Written { issuer, list } => {
                let mut lists = self.lists_of(&issuer)?;
                lists.written(list);
                self.lists.insert(issuer, lists);
            }
            Event::Confirmed { at, .. } => self.clock = Some(at.as_secs()),
            Event::Carried(rows, kept) => self.apply_carried(rows, kept)?,
            Event::CarriedRest(rest) => {
                self.lists.extend(rest.lists);
                if !rest.generations.is_empty() {
                    self.generations = Some(rest.generations);
                }
                self.clock = rest.clock;
            }
            Event::CarriedHistory(_) => {}
        }
        Ok(())
    }

    fn apply_issued(&mut self, rows: Vec<Row>) {
        for row in rows {
            self.saw(row.entry.issued.at.as_secs());
            self.insert(row);
        }
    }

    /// Takes the row of a certificate that is new.
    fn insert(&mut self, row: Row) {
        let Issued {
            serial_number,
            request,
            ..
        } = row.entry.issued;
        self.requests
            .extend(request.map(|one| (one, serial_number)));
        self.rows.insert(serial_number, row);
    }

    fn apply_revoked(&mut self, revoked: Revocations) -> Result<(), LedgerError> {
        for (revocation, numbers) in revoked {
            for number in numbers {
                self.set_state(&number, State::Revoked(revocation.clone()))?;
            }
        }
        Ok(())
    }

    fn apply_carried(&mut self, rows: Vec<Row>, kept: Kept) -> Result<(), LedgerError> {
        for row in rows {
            self.insert(row);
        }
        for (number, one) in kept {
            self.set_state(&number, State::Revoked(one.revocation))?;
            if let Some(row) = self.rows.get_mut(&number) {
                row.last_list = one.last_list;
            }
        }
        Ok(())
    }

    fn set_state(&mut self, number: &SerialNumber, state: State) -> Result<(), LedgerError> {
        let mut row = self.known(number)?;
        row.last_list = self.lists_of(&row.entry.issued.issuer)?.number;
        row.entry.state = state;
        if row
            .entry
            .revocation()
            .is_some_and(Revocation::is_compromise)
        {
            for key in row.entry.issued.keys() {
                self.compromised.entry(key).or_insert(*number);
            }
        }
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
