//! The journal: a file with all changes in their order, which is only ever appended to.
//!
//! It begins with [`HEADER`] bytes: a name, the version of the format, 16 random bytes, and the
//! SHA-256 digest of these. Then it has a record for each change: the length of the body in 8 bytes,
//! little-endian; the body; and the SHA-256 digest of the previous digest, the length and the body. So the
//! last digest covers the whole file. A serial number that is in the journal stays there.
//!
//! The [head](super::head) says where the last acknowledged record ends. In front of it, whatever is not as it was
//! written is damage: that is an error, and nothing is changed. Behind it there may be one record that a process wrote
//! and did not acknowledge, because it was killed. If it is whole, it counts, for those who only read, too: it may
//! have been acknowledged, if the newer half of the head was lost, or if a backup has a head from just before it. If
//! it is not, nobody was told of it: whoever appends next keeps its bytes in a file beside the journal, and writes
//! over it. If more than one record was begun behind the head, the head is an old copy: that is damage, too.
//!
//! What [`audit`](crate::ledger::Ledger::audit) shows are the records, and its heads are their numbers and digests.
//!
//! After the last record there are zeros, up to a multiple of a megabyte. Overwriting them takes a disk
//! half as long as extending the file, and extending takes longer the larger the file is.

use std::io::{self, BufRead, BufReader, ErrorKind, Read};
use std::path::{Path, PathBuf};

use pq_keys::random;
use pq_x509::pki_types::UnixTime;
use sha2::{Digest, Sha256};

use super::carried::{self, CarriedRest, Kept};
use super::files::{Access, Disk, Medium, Part, create_numbered, create_whole, io_error};
use super::head::{Head, Position};
use super::row::{List, Place, Row};
use crate::ledger::audit::Deed;
use crate::ledger::codec::{Decoder, put_bytes, put_number};
use crate::ledger::encoded;
use crate::ledger::entry::{Entry, Issued, NewEntry, Revocation, State};
use crate::ledger::error::LedgerError;
use crate::ledger::generation::Generation;
use crate::ledger::moving::KeptEntry;
use crate::ledger::serial_number::{NoRandomness, SerialNumber};

/// The file, and the position up to which it was read.
#[derive(Debug)]
pub(super) struct Journal {
    file: Box<dyn Medium>,
    path: PathBuf,
    access: Access,
    format: u32,
    /// What tells it from other journals.
    identity: Vec<u8>,
    head: Head,
    /// Where its records begin.
    start: Position,
    end: Position,
    /// Whether a record was begun behind the end, and not finished.
    is_unfinished: bool,
    /// Whether everything behind the end was seen to be zeros.
    is_rest_empty: bool,
}

/// What a record says.
#[derive(Debug)]
pub(super) enum Event {
    Issued(Vec<Row>),
    /// Each revocation with the certificates that it is for.
    Revoked(Revocations),
    /// Certificates that were issued earlier, with their revocations.
    Adopted(Vec<Row>, Revocations),
    Reinstated {
        number: SerialNumber,
        at: UnixTime,
        by: String,
    },
    Listed {
        issuer: String,
        list: List,
    },
    Written {
        issuer: String,
        list: List,
    },
    Confirmed {
        at: UnixTime,
        by: String,
    },
    /// Certificates, and what the generations are from then on.
    Succeeded(Vec<Row>, Vec<Generation>),
    /// Certificates from another ledger, with their revocations.
    Carried(Vec<Row>, Kept),
    /// What else that had.
    CarriedRest(CarriedRest),
    /// Its history.
    CarriedHistory(Vec<Deed>),
}

/// Revocations, each with the certificates that it is for.
pub(super) type Revocations = Vec<(Revocation, Vec<SerialNumber>)>;

impl Journal {
    /// Makes an empty journal. Without a head it is none yet.
    pub(super) fn create(disk: &dyn Disk, path: &Path, head: &Path) -> Result<(), LedgerError> {
        let mut identity = [0; 16];
        random::fill(&mut identity).map_err(NoRandomness::from)?;
        let (header, start) = header(FORMAT, &identity);
        Head::create(disk, head, start)?;
        create_whole(disk, path, &header)
    }

    /// Opens an existing journal, at its beginning.
    pub(super) fn open(
        disk: &dyn Disk,
        path: &Path,
        head: &Path,
        access: Access,
    ) -> Result<Self, LedgerError> {
        let file = disk.open(path, access).map_err(io_error("open", path))?;
        let mut header = [0; HEADER as usize];
        let damaged = |what| LedgerError::Damaged {
            path: path.into(),
            what,
        };
        match file.read(0, &mut header) {
            Ok(()) => {}
            Err(cause) if cause.kind() == ErrorKind::UnexpectedEof => {
                return Err(damaged("it is not a journal, or is cut off"));
            }
            Err(cause) => return Err(io_error("read", path)(cause)),
        }
        let (content, digest) = header.split_at(HEADER as usize - DIGEST);
        let Some((format, identity)) =
            (content.strip_prefix(NAME)).and_then(|rest| rest.split_first_chunk())
        else {
            return Err(damaged("it is not a journal"));
        };
        let computed = Sha256::digest(content);
        if computed[..] != *digest {
            return Err(damaged("its first bytes were changed"));
        }
        let format = u32::from_le_bytes(*format);
        if format > FORMAT {
            return Err(LedgerError::Newer {
                path: path.into(),
                format,
                known: FORMAT,
            });
        }
        if format < OLDEST_FORMAT {
            return Err(LedgerError::Older {
                path: path.into(),
                format,
                known: OLDEST_FORMAT,
            });
        }
        // The header that it had when it was made.
        let starts = (OLDEST_FORMAT..=format).map(|format| self::header(format, identity).1);
        let starts: Vec<_> = starts.collect();
        let (head, start) = Head::open(disk, head, access, &starts)?;
        let journal = Self {
            file,
            path: path.into(),
            access,
            format,
            identity: identity.to_vec(),
            head,
            start,
            end: start,
            is_unfinished: false,
            is_rest_empty: false,
        };
        let end = journal.head.end();
        journal.check_end(
            end,
            "it ends before the last record that was acknowledged, so it was shortened, changed or replaced by an old \
             copy",
        )?;
        Ok(journal)
    }

    /// The position up to which the journal was read.
    pub(super) fn end(&self) -> Position {
        self.end
    }

    /// Continues at the end of the index.
    ///
    /// # Errors
    ///
    /// If no record ends there: the index belongs to another journal, or has more than this journal.
    pub(super) fn resume(&mut self, end: Position) -> Result<(), LedgerError> {
        if end.offset > self.head.end().offset {
            return Err(self.damaged(OLDER_THAN_INDEX));
        }
        self.end = end;
        self.check()
    }

    /// Whether everything from the first record on is as it was written.
    pub(super) fn is_whole_from(&mut self, start: Position) -> bool {
        self.end = start;
        loop {
            match self.next() {
                Ok(Some(_)) => {}
                Ok(None) => return true,
                Err(_) => return false,
            }
        }
    }

    /// Whether less was acknowledged than up to this position.
    pub(super) fn ends_before(&self, end: Position) -> bool {
        self.head.end().offset < end.offset
    }

    /// Reads the head again, which other processes write. They may also have removed what was unfinished.
    pub(super) fn read_head(&mut self) -> Result<(), LedgerError> {
        self.is_unfinished = false;
        self.head.read()
    }

    /// Checks that the files are still those with their names, so that others read what is written to them.
    pub(super) fn check_in_place(&self) -> Result<(), LedgerError> {
        let is_at = self.file.is_at(&self.path);
        let is_at = is_at.map_err(io_error("open", &self.path))?;
        match is_at && self.head.is_in_place()? {
            true => Ok(()),
            false => Err(LedgerError::Replaced(self.path.clone())),
        }
    }

    /// Checks that the records that were read are still there.
    pub(super) fn check(&self) -> Result<(), LedgerError> {
        self.check_end(
            self.end,
            "it was replaced or shortened after it was last read",
        )
    }

    fn check_end(&self, end: Position, what: &'static str) -> Result<(), LedgerError> {
        let mut digest = [0; DIGEST];
        if HEADER <= end.offset && end.offset <= self.length()? {
            self.file
                .read(end.offset - DIGEST as u64, &mut digest)
                .map_err(io_error("read", &self.path))?;
        }
        let is_there = match end == self.start {
            // Another process may have written the header anew.
            true => self.headers().any(|start| start.digest == digest),
            false => digest == end.digest,
        };
        match is_there {
            true => Ok(()),
            false => Err(self.damaged(what)),
        }
    }

    /// What the headers end with that this journal can have.
    fn headers(&self) -> impl Iterator<Item = Position> {
        (OLDEST_FORMAT..=FORMAT).map(|format| header(format, &self.identity).1)
    }

    /// The next record, or `None` at the end. The caller needs the turn.
    pub(super) fn next(&mut self) -> Result<Option<Event>, LedgerError> {
        let acknowledged = self.head.end();
        if self.end.offset >= acknowledged.offset {
            let is_acknowledged = self.end == acknowledged;
            if self.end.offset == acknowledged.offset && !is_acknowledged {
                return Err(self.damaged("its last record is not the one that was acknowledged"));
            }
            return self.next_unacknowledged(is_acknowledged);
        }
        match self.look()? {
            Found::Record(next) if next.offset <= acknowledged.offset => self.take(next).map(Some),
            Found::Record(_) => Err(self.damaged("a record was changed")),
            Found::Nothing => Err(self.damaged("a record was overwritten with zeros")),
            Found::Broken(_) => Err(self.damaged("a record was changed")),
        }
    }

    /// The next record behind the head. Each record is acknowledged before the next one is written, so there is at
    /// most one: `is_first`. More are there if the head is an old copy, or if its newer half was lost.
    fn next_unacknowledged(&mut self, is_first: bool) -> Result<Option<Event>, LedgerError> {
        let found = self.look()?;
        match &found {
            Found::Record(_) if !is_first && self.head.is_whole() => {
                return Err(self.damaged(TOO_MANY));
            }
            Found::Record(next) if self.head.is_whole() => self.check_behind(*next)?,
            Found::Record(_) => {}
            Found::Nothing if is_first && self.head.lost_newer() => {
                return Err(self.damaged("the last record that was acknowledged is not there"));
            }
            Found::Nothing if self.is_rest_empty => {}
            Found::Nothing => match self.first_written(self.end.offset)? {
                None => self.is_rest_empty = true,
                // The beginning of a record did not get onto the disk, and more of it did.
                Some(_) => return self.unfinished(is_first, None),
            },
            Found::Broken(end) => return self.unfinished(is_first, *end),
        }
        match found {
            // It counts for who can't make sure that it is on the disk, too: whether it was acknowledged, only a head
            // can say of which nothing was lost, and which is as new as the journal.
            Found::Record(next) => self.take(next).map(Some),
            _ => Ok(None),
        }
    }

    /// Leaves out a record that was begun behind the head, and may say where it was to end. Nothing that was
    /// acknowledged may be behind its beginning.
    fn unfinished(
        &mut self,
        is_first: bool,
        end: Option<u64>,
    ) -> Result<Option<Event>, LedgerError> {
        if !self.head.is_whole() {
            return Err(self.damaged("a record was changed, or its head was"));
        }
        if !is_first {
            return Err(self.damaged("a record behind the head was changed"));
        }
        if let Some(end) = end
            && self.first_written(end)?.is_some()
        {
            return Err(self.damaged(TOO_MANY));
        }
        self.check_has_no_record()?;
        self.is_unfinished = true;
        Ok(None)
    }

    /// Checks that nothing was written behind the one record that may be unacknowledged.
    fn check_behind(&self, next: Position) -> Result<(), LedgerError> {
        let mut prefix = [0; LENGTH];
        let rest = self
            .length()?
            .saturating_sub(next.offset)
            .min(LENGTH as u64);
        self.file
            .read(next.offset, &mut prefix[..rest as usize])
            .map_err(io_error("read", &self.path))?;
        match prefix == [0; LENGTH] {
            true => Ok(()),
            false => Err(self.damaged(TOO_MANY)),
        }
    }

    /// Where the first byte from `start` on is that is not zero.
    fn first_written(&self, start: u64) -> Result<Option<u64>, LedgerError> {
        let rest = self.length()?.saturating_sub(start);
        let part = Part::new(&*self.file, start, rest);
        let mut reader = BufReader::with_capacity(buffer(rest), part);
        let mut offset = start;
        loop {
            let read = reader.fill_buf().map_err(io_error("read", &self.path))?;
            if read.is_empty() {
                return Ok(None);
            }
            if let Some(place) = first_not_zero(read) {
                return Ok(Some(offset + place as u64));
            }
            let length = read.len();
            offset += length as u64;
            reader.consume(length);
        }
    }

    /// Checks that no whole record begins behind the beginning of an unfinished one, whose length may be wrong. The
    /// digest before a record is in front of it, so a record can be told wherever it is.
    fn check_has_no_record(&self) -> Result<(), LedgerError> {
        const STEP: usize = DIGEST + LENGTH;
        let length = self.length()?;
        let mut work = SEARCH;
        let mut bytes = Vec::new();
        let mut start = self.end.offset;
        while length.saturating_sub(start) > STEP as u64 {
            let size = (length - start).min(BUFFER as u64) as usize;
            bytes.resize(size, 0);
            self.file
                .read(start, &mut bytes)
                .map_err(io_error("read", &self.path))?;
            for (place, window) in bytes.windows(STEP).enumerate() {
                let Some((digest, prefix)) = window.split_first_chunk::<DIGEST>() else {
                    continue;
                };
                let body = prefix.first_chunk().copied().map_or(0, u64::from_le_bytes);
                let from = Position {
                    offset: start + (place + DIGEST) as u64,
                    digest: *digest,
                };
                if body == 0 || body > (length - from.offset).saturating_sub(OVERHEAD) {
                    continue;
                }
                let found = self.look_at(from).map_err(io_error("read", &self.path))?;
                work = work.saturating_sub(body);
                if matches!(found, Found::Record(_)) || work == 0 {
                    return Err(self.damaged(TOO_MANY));
                }
            }
            start += (size - (STEP - 1)) as u64;
        }
        Ok(())
    }

    fn take(&mut self, next: Position) -> Result<Event, LedgerError> {
        let event = self.decode(next)?;
        self.end = next;
        self.is_unfinished = false;
        Ok(event)
    }

    /// Has the header say that it is of the present format, so that programs of before leave it alone.
    fn raise_format(&mut self) -> Result<(), LedgerError> {
        if self.format == FORMAT {
            return Ok(());
        }
        let (header, _) = header(FORMAT, &self.identity);
        let written = self.file.write(0, &header);
        let written = written.and_then(|()| self.file.sync());
        written.map_err(io_error("write", &self.path))?;
        self.format = FORMAT;
        Ok(())
    }

    /// Appends certificates, and returns their rows.
    pub(super) fn append_issued(
        &mut self,
        entries: &[NewEntry<'_>],
    ) -> Result<Vec<Row>, LedgerError> {
        self.append_certificates(Certificates::Issued, entries.iter(), &[])
    }

    /// Appends certificates that were issued earlier with their revocations, and returns their rows.
    pub(super) fn append_adopted<'a>(
        &mut self,
        entries: impl ExactSizeIterator<Item = &'a NewEntry<'a>> + Clone,
        revoked: &[(Revocation, Vec<SerialNumber>)],
    ) -> Result<Vec<Row>, LedgerError> {
        let mut rest = Vec::new();
        encoded::put_revocations(&mut rest, revoked);
        self.append_certificates(Certificates::Adopted, entries, &rest)
    }

    fn append_certificates<'a>(
        &mut self,
        kind: Certificates,
        entries: impl ExactSizeIterator<Item = &'a NewEntry<'a>> + Clone,
        rest: &[u8],
    ) -> Result<Vec<Row>, LedgerError> {
        // Without anything new, records are as earlier programs wrote them, and read them.
        let has_origin = matches!(kind, Certificates::Carried)
            || (entries.clone()).any(|entry| encoded::has_origin(&entry.issued));
        if has_origin {
            self.raise_format()?;
        }
        let mut start = vec![kind.number(has_origin)];
        put_number(&mut start, entries.len() as u64);
        let heads = entries.clone().map(|entry| {
            let mut head = Vec::new();
            encoded::put_issued(&mut head, &entry.issued);
            if has_origin {
                encoded::put_origin(&mut head, &entry.issued);
            }
            put_number(&mut head, entry.certificate.len() as u64);
            head
        });
        let heads: Vec<Vec<u8>> = heads.collect();

        let mut parts = vec![start.as_slice()];
        let mut rows = Vec::with_capacity(entries.len());
        let mut offset = self.end.offset + LENGTH as u64 + start.len() as u64;
        for (entry, head) in entries.zip(&heads) {
            parts.push(head);
            parts.push(&entry.certificate);
            let place = Place {
                offset: offset + head.len() as u64,
                length: entry.certificate.len() as u64,
                digest: Sha256::digest(&entry.certificate).into(),
            };
            offset = place.offset + place.length;
            rows.push(row_of(entry.issued.clone(), place));
        }
        parts.push(rest);
        self.append(&parts)?;
        Ok(rows)
    }

    /// Appends revocations, each with the certificates that it is for.
    pub(super) fn append_revoked(
        &mut self,
        revoked: &[(Revocation, Vec<SerialNumber>)],
    ) -> Result<(), LedgerError> {
        let mut body = vec![REVOKED];
        encoded::put_revocations(&mut body, revoked);
        self.append(&[&body])
    }

    /// Appends the release of a certificate from a hold.
    pub(super) fn append_reinstated(
        &mut self,
        number: &SerialNumber,
        at: UnixTime,
        by: &str,
    ) -> Result<(), LedgerError> {
        let mut body = vec![REINSTATED];
        put_bytes(&mut body, number.as_bytes());
        encoded::put_time(&mut body, at);
        put_bytes(&mut body, by.as_bytes());
        self.append(&[&body])
    }

    /// Appends the number of a new revocation list.
    pub(super) fn append_listed(&mut self, issuer: &str, list: List) -> Result<(), LedgerError> {
        self.append_list(LISTED, issuer, list)
    }

    /// Appends that a list was written where clients get it.
    pub(super) fn append_written(&mut self, issuer: &str, list: List) -> Result<(), LedgerError> {
        self.append_list(WRITTEN, issuer, list)
    }

    fn append_list(&mut self, kind: u8, issuer: &str, list: List) -> Result<(), LedgerError> {
        let mut body = vec![kind];
        put_bytes(&mut body, issuer.as_bytes());
        put_number(&mut body, list.number);
        put_number(&mut body, list.at);
        self.append(&[&body])
    }

    /// Appends the confirmation of a time.
    pub(super) fn append_confirmed(&mut self, at: UnixTime, by: &str) -> Result<(), LedgerError> {
        let mut body = vec![CONFIRMED];
        encoded::put_time(&mut body, at);
        put_bytes(&mut body, by.as_bytes());
        self.append(&[&body])
    }

    /// Appends certificates with what the generations are from now on, and returns the rows of the certificates.
    pub(super) fn append_succeeded(
        &mut self,
        entries: &[NewEntry<'_>],
        generations: &[Generation],
    ) -> Result<Vec<Row>, LedgerError> {
        let mut rest = Vec::new();
        encoded::put_generations(&mut rest, generations);
        self.append_certificates(Certificates::Succeeded, entries.iter(), &rest)
    }

    /// Appends certificates from another ledger with their revocations, and returns the rows of the certificates.
    pub(super) fn append_carried(
        &mut self,
        entries: &[KeptEntry],
        kept: &Kept,
    ) -> Result<Vec<Row>, LedgerError> {
        let mut rest = Vec::new();
        carried::put_kept(&mut rest, kept);
        self.append_certificates(
            Certificates::Carried,
            entries.iter().map(|one| &one.entry),
            &rest,
        )
    }

    /// Appends what else that ledger had.
    pub(super) fn append_carried_rest(&mut self, rest: &CarriedRest) -> Result<(), LedgerError> {
        self.append(&[&[CARRIED_REST], &rest.encode()])
    }

    /// Appends its history.
    pub(super) fn append_carried_history(&mut self, history: &[Deed]) -> Result<(), LedgerError> {
        self.append(&[&[CARRIED_HISTORY], &carried::encode_history(history)])
    }

    /// Reads a certificate.
    pub(super) fn read(&self, place: Place) -> Result<Vec<u8>, LedgerError> {
        let end = place.offset.checked_add(place.length);
        if end.is_none_or(|end| end > self.end.offset) {
            return Err(self.damaged("it ends before a certificate that the index knows"));
        }
        let mut bytes = vec![0; place.length as usize];
        self.file
            .read(place.offset, &mut bytes)
            .map_err(io_error("read", &self.path))?;
        if Sha256::digest(&bytes)[..] != place.digest {
            return Err(self.damaged("a certificate in it was changed"));
        }
        Ok(bytes)
    }

    /// Makes sure that everything that was read is on the disk, even if another process wrote it, and notes that it
    /// is. The head never goes back: in front of it, all was acknowledged.
    pub(super) fn acknowledge(&mut self) -> Result<(), LedgerError> {
        if self.end.offset <= self.head.end().offset || self.access == Access::Read {
            return Ok(());
        }
        self.file.sync().map_err(io_error("sync", &self.path))?;
        self.head.advance(self.end)
    }

    /// Makes sure that the head is on the disk, too. A process may have been killed before it had synced it.
    pub(super) fn sync_head(&self) -> Result<(), LedgerError> {
        self.head.sync()
    }

    /// Writes a record whose body consists of these parts. It is on the disk when this returns.
    fn append(&mut self, parts: &[&[u8]]) -> Result<(), LedgerError> {
        self.acknowledge()?;
        self.clear()?;
        let written = self.write(parts);
        if written.is_err() {
            // Nobody needs what this process was just told that it could not write. Errors are ignored: the next
            // process that appends finds what is left of the record.
            let _ = self.cut_off();
        }
        let end = written.map_err(io_error("write", &self.path))?;
        self.head.advance(end)?;
        self.end = end;
        Ok(())
    }

    /// Removes an unfinished record, of which nobody was told. Its bytes are kept in a file beside the journal.
    fn clear(&mut self) -> Result<(), LedgerError> {
        if !self.is_unfinished {
            return Ok(());
        }
        let rest = self.length()?.saturating_sub(self.end.offset);
        let unfinished = self.path.with_extension("unfinished");
        let contents = Part::new(&*self.file, self.end.offset, rest);
        match create_numbered(&unfinished, contents) {
            // This is only for people who want to see it, and a full disk must not keep anybody from revoking.
            Err(cause)
                if !matches!(
                    cause.kind(),
                    ErrorKind::StorageFull | ErrorKind::QuotaExceeded
                ) =>
            {
                return Err(io_error("write", &unfinished)(cause));
            }
            _ => {}
        }
        self.cut_off().map_err(io_error("shorten", &self.path))?;
        self.is_unfinished = false;
        Ok(())
    }

    /// Removes whatever is behind the end.
    fn cut_off(&self) -> io::Result<()> {
        self.file.set_length(self.end.offset)?;
        self.file.sync()
    }

    fn write(&self, parts: &[&[u8]]) -> io::Result<Position> {
        let length = parts.iter().map(|part| part.len() as u64).sum::<u64>();
        let prefix = length.to_le_bytes();
        let mut record = Vec::with_capacity((length + OVERHEAD) as usize);
        record.extend_from_slice(&prefix);
        for part in parts {
            record.extend_from_slice(part);
        }
        let digest = Sha256::new_with_prefix(self.end.digest).chain_update(&record);
        let digest = <[u8; DIGEST]>::from(digest.finalize());
        record.extend_from_slice(&digest);
        let offset = self.end.offset + record.len() as u64;
        match offset > self.file.length()? {
            true => self.extend(record, offset)?,
            false => self.file.write(self.end.offset, &record)?,
        }
        self.file.sync()?;
        Ok(Position { offset, digest })
    }

    /// Writes a record behind the end of the file, with zeros up to a multiple of a megabyte if there is space.
    fn extend(&self, mut record: Vec<u8>, offset: u64) -> io::Result<()> {
        let length = record.len();
        let whole = offset.next_multiple_of(MEGABYTE) - self.end.offset;
        record.resize(whole as usize, 0);
        self.file.write(self.end.offset, &record).or_else(|_| {
            // There may be space for the record alone.
            self.cut_off()?;
            self.file.write(self.end.offset, &record[..length])
        })
    }

    /// Looks at what follows the end.
    fn look(&self) -> Result<Found, LedgerError> {
        self.look_at(self.end).map_err(io_error("read", &self.path))
    }

    fn look_at(&self, from: Position) -> io::Result<Found> {
        let rest = self.file.length()?.saturating_sub(from.offset);
        if rest == 0 {
            return Ok(Found::Nothing);
        }
        if rest < LENGTH as u64 {
            return Ok(Found::Broken(None));
        }
        let mut prefix = [0; LENGTH];
        self.file.read(from.offset, &mut prefix)?;
        let body = u64::from_le_bytes(prefix);
        if body == 0 {
            return Ok(Found::Nothing);
        }
        if body > rest.saturating_sub(OVERHEAD) {
            return Ok(Found::Broken(None));
        }
        let mut computed = Sha256::new_with_prefix(from.digest);
        computed.update(prefix);
        let part = Part::new(
            &*self.file,
            from.offset + LENGTH as u64,
            body + DIGEST as u64,
        );
        let mut reader = BufReader::with_capacity(buffer(body), part);
        let mut left = body;
        while left > 0 {
            let read = reader.fill_buf()?;
            let part = &read[..read.len().min(usize::try_from(left).unwrap_or(usize::MAX))];
            let length = part.len();
            if length == 0 {
                return Err(ErrorKind::UnexpectedEof.into());
            }
            computed.update(part);
            reader.consume(length);
            left -= length as u64;
        }
        let mut digest = [0; DIGEST];
        reader.read_exact(&mut digest)?;
        let next = Position {
            offset: from.offset + OVERHEAD + body,
            digest,
        };
        Ok(match computed.finalize()[..] == digest {
            true => Found::Record(next),
            false => Found::Broken(Some(next.offset)),
        })
    }

    /// Decodes the record between the current position and `next`.
    fn decode(&self, next: Position) -> Result<Event, LedgerError> {
        let start = self.end.offset + LENGTH as u64;
        let length = next.offset - DIGEST as u64 - start;
        let part = Part::new(&*self.file, start, length);
        let event = event(
            Decoder::new(BufReader::with_capacity(buffer(length), part)),
            start,
        );
        event.map_err(|cause| match cause.kind() {
            ErrorKind::InvalidData | ErrorKind::UnexpectedEof => {
                self.damaged("a record is not of this format")
            }
            _ => io_error("read", &self.path)(cause),
        })
    }

    fn length(&self) -> Result<u64, LedgerError> {
        self.file.length().map_err(io_error("read", &self.path))
    }

    fn damaged(&self, what: &'static str) -> LedgerError {
        LedgerError::Damaged {
            path: self.path.clone(),
            what,
        }
    }
}

/// How much to read at once of this many bytes.
fn buffer(length: u64) -> usize {
    usize::try_from(length).map_or(BUFFER, |length| length.clamp(DIGEST, BUFFER))
}

/// What a record with certificates is for.
#[derive(Clone, Copy)]
enum Certificates {
    Issued,
    Adopted,
    Succeeded,
    /// Always with their origin.
    Carried,
}

impl Certificates {
    fn number(self, has_origin: bool) -> u8 {
        match (self, has_origin) {
            (Self::Issued, false) => ISSUED,
            (Self::Issued, true) => ISSUED_WITH_ORIGIN,
            (Self::Adopted, false) => ADOPTED,
            (Self::Adopted, true) => ADOPTED_WITH_ORIGIN,
            (Self::Succeeded, false) => SUCCEEDED,
            (Self::Succeeded, true) => SUCCEEDED_WITH_ORIGIN,
            (Self::Carried, _) => CARRIED,
        }
    }
}

/// The header of a journal of this format, and where its records begin.
fn header(format: u32, identity: &[u8]) -> (Vec<u8>, Position) {
    let mut header = Vec::with_capacity(HEADER as usize);
    header.extend_from_slice(NAME);
    header.extend_from_slice(&format.to_le_bytes());
    header.extend_from_slice(identity);
    let digest = Sha256::digest(&header);
    header.extend_from_slice(&digest);
    let start = Position {
        offset: HEADER,
        digest: digest.into(),
    };
    (header, start)
}

enum Found {
    /// No record: there are zeros instead of a length.
    Nothing,
    /// A valid record, which ends here.
    Record(Position),
    /// No valid record. It was to end here, if it says so.
    Broken(Option<u64>),
}

/// The place of the first byte that is not zero. Blocks are compared as a whole: a journal ends in megabytes of zeros.
fn first_not_zero(bytes: &[u8]) -> Option<usize> {
    const ZEROS: [u8; 4096] = [0; 4096];
    let mut blocks = bytes.chunks(ZEROS.len()).enumerate();
    let (number, block) = blocks.find(|(_, block)| **block != ZEROS[..block.len()])?;
    let place = block.iter().position(|byte| *byte != 0)?;
    Some(number * ZEROS.len() + place)
}

/// Reads the body of a record that starts at `start`.
fn event(mut decoder: Decoder<impl Read>, start: u64) -> io::Result<Event> {
    Ok(match decoder.byte()? {
        ISSUED => Event::Issued(rows(&mut decoder, start, false)?),
        ISSUED_WITH_ORIGIN => Event::Issued(rows(&mut decoder, start, true)?),
        REVOKED => Event::Revoked(encoded::revocations(&mut decoder)?),
        kind @ (ADOPTED | ADOPTED_WITH_ORIGIN) => Event::Adopted(
            rows(&mut decoder, start, kind == ADOPTED_WITH_ORIGIN)?,
            encoded::revocations(&mut decoder)?,
        ),
        REINSTATED => Event::Reinstated {
            number: encoded::serial_number(&mut decoder)?,
            at: encoded::time(&mut decoder)?,
            by: decoder.text()?,
        },
        LISTED => Event::Listed {
            issuer: decoder.text()?,
            list: list(&mut decoder)?,
        },
        WRITTEN => Event::Written {
            issuer: decoder.text()?,
            list: list(&mut decoder)?,
        },
        CONFIRMED => Event::Confirmed {
            at: encoded::time(&mut decoder)?,
            by: decoder.text()?,
        },
        kind @ (SUCCEEDED | SUCCEEDED_WITH_ORIGIN) => Event::Succeeded(
            rows(&mut decoder, start, kind == SUCCEEDED_WITH_ORIGIN)?,
            encoded::generations(&mut decoder)?,
        ),
        CARRIED => Event::Carried(
            rows(&mut decoder, start, true)?,
            carried::kept(&mut decoder)?,
        ),
        CARRIED_REST => Event::CarriedRest(CarriedRest::decode(&mut decoder)?),
        CARRIED_HISTORY => Event::CarriedHistory(carried::history(&mut decoder)?),
        _ => return Err(ErrorKind::InvalidData.into()),
    })
}

fn list(decoder: &mut Decoder<impl Read>) -> io::Result<List> {
    Ok(List {
        number: decoder.number()?,
        at: decoder.number()?,
    })
}

/// Reads the certificates in the body of a record that starts at `start`.
fn rows(decoder: &mut Decoder<impl Read>, start: u64, has_origin: bool) -> io::Result<Vec<Row>> {
    let mut rows = Vec::new();
    for _ in 0..decoder.number()? {
        let mut issued = encoded::issued(decoder)?;
        if has_origin {
            encoded::read_origin(decoder, &mut issued)?;
        }
        let certificate = decoder.bytes()?;
        let length = certificate.len() as u64;
        let place = Place {
            offset: start + decoder.position() - length,
            length,
            digest: Sha256::digest(&certificate).into(),
        };
        rows.push(row_of(issued, place));
    }
    Ok(rows)
}

fn row_of(issued: Issued, place: Place) -> Row {
    Row {
        entry: Entry {
            issued,
            state: State::Valid,
        },
        place,
        last_list: 0,
    }
}

const NAME: &[u8; 12] = b"pq-ca ledger";
/// Format 4 has records of generations, and is otherwise as format 3. Format 5 has records of certificates with how they
/// came about. Before such a record is appended, an earlier journal's header is written anew, so that earlier programs
/// say that it is of a newer one. Its digests go on from the header that it had, by which its head knows it.
const FORMAT: u32 = 5;
const OLDEST_FORMAT: u32 = 3;
/// How many bytes are before the first record.
const HEADER: u64 = 64;
const LENGTH: usize = 8;
const DIGEST: usize = 32;
/// How much longer a record is than its body.
const OVERHEAD: u64 = (LENGTH + DIGEST) as u64;
const MEGABYTE: u64 = 1024 * 1024;
const BUFFER: usize = 64 * 1024;
/// How many bytes of supposed records are hashed in search of a whole one behind an unfinished one. What looks like
/// records in more places than an unfinished one has is not taken for one.
const SEARCH: u64 = 256 * MEGABYTE;
const OLDER_THAN_INDEX: &str = "it or its head is older than the index, so it is an old copy; if it is the newest \
    backup, move the index out of the folder, and it is made again from the journal";
const TOO_MANY: &str = "more than one record is behind its head, so the head is an old copy";

const ISSUED: u8 = 1;
const REVOKED: u8 = 2;
const REINSTATED: u8 = 3;
const LISTED: u8 = 4;
const CONFIRMED: u8 = 5;
const WRITTEN: u8 = 6;
const ADOPTED: u8 = 7;
const SUCCEEDED: u8 = 8;
const ISSUED_WITH_ORIGIN: u8 = 9;
const ADOPTED_WITH_ORIGIN: u8 = 10;
const SUCCEEDED_WITH_ORIGIN: u8 = 11;
/// Far from those that other changes get.
const CARRIED: u8 = 64;
const CARRIED_REST: u8 = 65;
const CARRIED_HISTORY: u8 = 66;
