//! The journal: a file with all changes in their order, which is only ever appended to.
//!
//! It begins with [`HEADER`] bytes: a name, the version of the format, 16 random bytes, and the
//! SHA-256 digest of these. Then it has a record for each change: the length of the body in 8 bytes,
//! little-endian; the body; and the SHA-256 digest of the previous digest, the length and the body. So the
//! last digest covers the whole file, and incomplete records are recognized. A serial number that is in
//! the journal stays there.
//!
//! After the last record there are zeros, up to a multiple of a megabyte. Overwriting them takes a disk
//! half as long as extending the file, and extending takes longer the larger the file is.

use std::fs;
use std::io::{self, BufRead, BufReader, BufWriter, ErrorKind, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use pq_x509::pki_types::UnixTime;
use sha2::{Digest, Sha256};

use super::codec::{Decoder, put_bytes, put_number};
use super::files::{create_whole, io_error};
use super::row::{self, List, Place, Row};
use crate::ledger::entry::{Entry, Issued, NewEntry, Revocation, State};
use crate::ledger::error::LedgerError;
use crate::ledger::serial_number::{NoRandomness, SerialNumber};

/// The file, and the position up to which it was read.
#[derive(Debug)]
pub(super) struct Journal {
    file: fs::File,
    path: PathBuf,
    end: Position,
}

/// The end of a record.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct Position {
    pub(super) offset: u64,
    /// The digest that ends the record.
    pub(super) digest: [u8; DIGEST],
}

/// What a record says.
#[derive(Debug)]
pub(super) enum Event {
    Issued(Vec<Row>),
    Revoked {
        numbers: Vec<SerialNumber>,
        revocation: Revocation,
    },
    /// The record also has the time and the person. These are only for people who read the journal.
    Reinstated {
        number: SerialNumber,
    },
    Listed {
        issuer: String,
        list: List,
    },
}

impl Journal {
    /// Makes an empty journal.
    pub(super) fn create(path: &Path) -> Result<(), LedgerError> {
        let mut header = Vec::with_capacity(HEADER as usize);
        header.extend_from_slice(NAME);
        header.extend_from_slice(&FORMAT.to_le_bytes());
        let mut identity = [0; 16];
        getrandom::fill(&mut identity).map_err(NoRandomness::from)?;
        header.extend_from_slice(&identity);
        header.extend_from_slice(&Sha256::digest(&header));
        create_whole(path, &header)
    }

    /// Opens an existing journal, at its beginning.
    pub(super) fn open(path: &Path) -> Result<Self, LedgerError> {
        let mut file = fs::File::options()
            .read(true)
            .write(true)
            .open(path)
            .map_err(io_error("open", path))?;
        let mut header = [0; HEADER as usize];
        let damaged = |what| LedgerError::Damaged {
            path: path.into(),
            what,
        };
        match file.read_exact(&mut header) {
            Ok(()) => {}
            Err(cause) if cause.kind() == ErrorKind::UnexpectedEof => {
                return Err(damaged("it is not a journal, or is cut off"));
            }
            Err(cause) => return Err(io_error("read", path)(cause)),
        }
        let (content, digest) = header.split_at(HEADER as usize - DIGEST);
        let Some(([format, ..], _)) = content.strip_prefix(NAME).map(|rest| rest.as_chunks())
        else {
            return Err(damaged("it is not a journal"));
        };
        let format = u32::from_le_bytes(*format);
        if format != FORMAT {
            return Err(LedgerError::Newer {
                path: path.into(),
                format,
                known: FORMAT,
            });
        }
        let computed = Sha256::digest(content);
        if computed[..] != *digest {
            return Err(damaged("its first bytes were changed"));
        }
        Ok(Self {
            file,
            path: path.into(),
            end: Position {
                offset: HEADER,
                digest: computed.into(),
            },
        })
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
        self.end = end;
        self.check()
    }

    /// Checks that the records that were read are still there.
    pub(super) fn check(&self) -> Result<(), LedgerError> {
        let offset = self.end.offset;
        let mut digest = [0; DIGEST];
        if HEADER <= offset && offset <= self.length()? {
            self.read_at(offset - DIGEST as u64, &mut digest)
                .map_err(io_error("read", &self.path))?;
        }
        if digest != self.end.digest {
            return Err(self.damaged("it was replaced or shortened after it was last read"));
        }
        Ok(())
    }

    /// The next record, or `None` at the end. The caller needs the turn: this cuts off an incomplete record of
    /// a process that was killed.
    pub(super) fn next(&mut self) -> Result<Option<Event>, LedgerError> {
        let length = self.length()?;
        if length == self.end.offset {
            return Ok(None);
        }
        let look = |from| {
            self.look(from, length)
                .map_err(io_error("read", &self.path))
        };
        match look(self.end)? {
            Found::Nothing => Ok(None),
            Found::Record(next) => {
                let event = self.decode(next)?;
                self.end = next;
                Ok(Some(event))
            }
            Found::Broken(next) => {
                // Nobody appends to an incomplete record. So if a record follows, this one was complete,
                // and was damaged later.
                if let Some(next) = next
                    && matches!(look(next)?, Found::Record(_))
                {
                    return Err(self.damaged("a record in the middle was changed"));
                }
                self.cut_off().map_err(io_error("shorten", &self.path))?;
                Ok(None)
            }
        }
    }

    /// Appends certificates, and returns their rows.
    pub(super) fn append_issued(
        &mut self,
        entries: &[NewEntry<'_>],
    ) -> Result<Vec<Row>, LedgerError> {
        let mut start = vec![ISSUED];
        put_number(&mut start, entries.len() as u64);
        let heads = entries.iter().map(|entry| {
            let mut head = Vec::new();
            row::put_issued(&mut head, &entry.issued);
            put_number(&mut head, entry.certificate.len() as u64);
            head
        });
        let heads: Vec<Vec<u8>> = heads.collect();

        let mut parts = vec![start.as_slice()];
        let mut rows = Vec::with_capacity(entries.len());
        let mut offset = self.end.offset + LENGTH as u64 + start.len() as u64;
        for (entry, head) in entries.iter().zip(&heads) {
            parts.push(head);
            parts.push(&entry.certificate);
            let place = Place {
                offset: offset + head.len() as u64,
                length: entry.certificate.len() as u64,
            };
            offset = place.offset + place.length;
            rows.push(row_of(entry.issued.clone(), place));
        }
        self.append(&parts)?;
        Ok(rows)
    }

    /// Appends a revocation of certificates.
    pub(super) fn append_revoked(
        &mut self,
        numbers: &[SerialNumber],
        revocation: &Revocation,
    ) -> Result<(), LedgerError> {
        let mut body = vec![REVOKED];
        row::put_revocation(&mut body, revocation);
        put_number(&mut body, numbers.len() as u64);
        for number in numbers {
            put_bytes(&mut body, number.as_bytes());
        }
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
        row::put_time(&mut body, at);
        put_bytes(&mut body, by.as_bytes());
        self.append(&[&body])
    }

    /// Appends the number of a new revocation list.
    pub(super) fn append_listed(&mut self, issuer: &str, list: List) -> Result<(), LedgerError> {
        let mut body = vec![LISTED];
        put_bytes(&mut body, issuer.as_bytes());
        put_number(&mut body, list.number);
        put_number(&mut body, list.at);
        self.append(&[&body])
    }

    /// Reads a certificate.
    pub(super) fn read(&self, place: Place) -> Result<Vec<u8>, LedgerError> {
        let end = place.offset.checked_add(place.length);
        if end.is_none_or(|end| end > self.end.offset) {
            return Err(self.damaged("it ends before a certificate that the index knows"));
        }
        let mut bytes = vec![0; place.length as usize];
        self.read_at(place.offset, &mut bytes)
            .map_err(io_error("read", &self.path))?;
        Ok(bytes)
    }

    /// Makes sure that everything that was read is on the disk, even if another process wrote it.
    pub(super) fn sync(&self) -> Result<(), LedgerError> {
        self.file.sync_data().map_err(io_error("sync", &self.path))
    }

    /// Writes a record whose body consists of these parts. It is on the disk when this returns.
    fn append(&mut self, parts: &[&[u8]]) -> Result<(), LedgerError> {
        match self.write(parts) {
            Ok(end) => {
                self.end = end;
                Ok(())
            }
            Err(cause) => {
                // Errors are ignored: the next process that reads the journal cuts it off, too.
                let _ = self.cut_off();
                Err(io_error("write", &self.path)(cause))
            }
        }
    }

    fn write(&self, parts: &[&[u8]]) -> io::Result<Position> {
        let length = parts.iter().map(|part| part.len() as u64).sum::<u64>();
        let mut digest = Sha256::new_with_prefix(self.end.digest);
        let mut file = &self.file;
        file.seek(SeekFrom::Start(self.end.offset))?;
        let mut writer = BufWriter::with_capacity(BUFFER, file);
        for part in [&length.to_le_bytes()]
            .iter()
            .map(|part| part.as_slice())
            .chain(parts.iter().copied())
        {
            digest.update(part);
            writer.write_all(part)?;
        }
        let digest = <[u8; DIGEST]>::from(digest.finalize());
        writer.write_all(&digest)?;
        let offset = self.end.offset + OVERHEAD + length;
        if offset > self.file.metadata()?.len() {
            let zeros = offset.next_multiple_of(MEGABYTE) - offset;
            writer.write_all(&vec![0; zeros as usize])?;
        }
        writer.flush()?;
        self.file.sync_data()?;
        Ok(Position { offset, digest })
    }

    fn cut_off(&self) -> io::Result<()> {
        self.file.set_len(self.end.offset)
    }

    /// Looks at what follows a position in a file of this length.
    fn look(&self, from: Position, length: u64) -> io::Result<Found> {
        let rest = length.saturating_sub(from.offset);
        if rest < LENGTH as u64 {
            return Ok(Found::Broken(None));
        }
        let mut file = &self.file;
        file.seek(SeekFrom::Start(from.offset))?;
        let mut prefix = [0; LENGTH];
        file.read_exact(&mut prefix)?;
        let body = u64::from_le_bytes(prefix);
        if body == 0 {
            return Ok(Found::Nothing);
        }
        if body > rest.saturating_sub(OVERHEAD) {
            return Ok(Found::Broken(None));
        }
        let mut computed = Sha256::new_with_prefix(from.digest);
        computed.update(prefix);
        let mut reader = BufReader::with_capacity(BUFFER, file.take(body + DIGEST as u64));
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
        if computed.finalize()[..] == digest {
            Ok(Found::Record(next))
        } else {
            Ok(Found::Broken(Some(next)))
        }
    }

    /// Decodes the record between the current position and `next`.
    fn decode(&self, next: Position) -> Result<Event, LedgerError> {
        let start = self.end.offset + LENGTH as u64;
        let length = next.offset - DIGEST as u64 - start;
        let mut file = &self.file;
        let event = file.seek(SeekFrom::Start(start)).and_then(|_| {
            let reader = BufReader::with_capacity(BUFFER, file.take(length));
            event(Decoder::new(reader), start)
        });
        event.map_err(|cause| match cause.kind() {
            ErrorKind::InvalidData | ErrorKind::UnexpectedEof => {
                self.damaged("a record is not of this format")
            }
            _ => io_error("read", &self.path)(cause),
        })
    }

    fn read_at(&self, offset: u64, bytes: &mut [u8]) -> io::Result<()> {
        let mut file = &self.file;
        file.seek(SeekFrom::Start(offset))?;
        file.read_exact(bytes)
    }

    fn length(&self) -> Result<u64, LedgerError> {
        let metadata = self.file.metadata().map_err(io_error("read", &self.path))?;
        Ok(metadata.len())
    }

    fn damaged(&self, what: &'static str) -> LedgerError {
        LedgerError::Damaged {
            path: self.path.clone(),
            what,
        }
    }
}

enum Found {
    /// No record: there are zeros instead of a length.
    Nothing,
    /// A valid record, which ends here.
    Record(Position),
    /// An invalid record, which ends here if its length is right.
    Broken(Option<Position>),
}

/// Reads the body of a record that starts at `start`.
fn event(mut decoder: Decoder<impl Read>, start: u64) -> io::Result<Event> {
    Ok(match decoder.byte()? {
        ISSUED => {
            let mut rows = Vec::new();
            for _ in 0..decoder.number()? {
                let issued = row::issued(&mut decoder)?;
                let length = decoder.number()?;
                let place = Place {
                    offset: start + decoder.position(),
                    length,
                };
                decoder.skip(length)?;
                rows.push(row_of(issued, place));
            }
            Event::Issued(rows)
        }
        REVOKED => {
            let revocation = row::revocation(&mut decoder)?;
            let numbers = (0..decoder.number()?).map(|_| row::serial_number(&mut decoder));
            Event::Revoked {
                numbers: numbers.collect::<io::Result<_>>()?,
                revocation,
            }
        }
        REINSTATED => Event::Reinstated {
            number: row::serial_number(&mut decoder)?,
        },
        LISTED => Event::Listed {
            issuer: decoder.text()?,
            list: List {
                number: decoder.number()?,
                at: decoder.number()?,
            },
        },
        _ => return Err(ErrorKind::InvalidData.into()),
    })
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
const FORMAT: u32 = 1;
/// How many bytes are before the first record.
const HEADER: u64 = 64;
const LENGTH: usize = 8;
const DIGEST: usize = 32;
/// How much longer a record is than its body.
const OVERHEAD: u64 = (LENGTH + DIGEST) as u64;
const MEGABYTE: u64 = 1024 * 1024;
const BUFFER: usize = 64 * 1024;

const ISSUED: u8 = 1;
const REVOKED: u8 = 2;
const REINSTATED: u8 = 3;
const LISTED: u8 = 4;
