//! The orders in which the index has the certificates, and the choice of an order for a filter.
//!
//! The index has a line for each certificate in each order that it belongs to: a prefix, which names the
//! order, and then the [`Key`]. So all lines with the same prefix are sorted by expiry.

use pq_x509::pki_types::UnixTime;

use super::row::Row;
use crate::ledger::codec::put_bytes;
use crate::ledger::filter::{Filter, NameFilter};
use crate::ledger::name;
use crate::ledger::serial_number::SerialNumber;

/// The sort key of certificates.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(super) struct Key {
    pub(super) not_after: UnixTime,
    pub(super) number: SerialNumber,
}

impl Key {
    pub(super) fn of(row: &Row) -> Self {
        Self {
            not_after: row.entry.issued.not_after,
            number: row.entry.issued.serial_number,
        }
    }

    /// Writes the key so that comparing the bytes compares the keys.
    fn put(&self, line: &mut Vec<u8>) {
        put_time(line, self.not_after);
        put_number(line, &self.number);
    }

    fn read(bytes: &[u8]) -> Option<Self> {
        let (not_after, number) = bytes.split_first_chunk()?;
        let seconds = u64::from_be_bytes(*not_after);
        Some(Self {
            not_after: UnixTime::since_unix_epoch(core::time::Duration::from_secs(seconds)),
            number: number_at_end(number)?,
        })
    }
}

/// The prefix that lines begin with.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) enum Order {
    /// All lines with this prefix belong to one order, so they are sorted by expiry.
    Single(Vec<u8>),
    /// Lines with this prefix belong to several names.
    Names(Vec<u8>),
}

impl Order {
    /// The order in which to search for a filter: the one that is likely to have the fewest other entries.
    pub(super) fn for_filter(filter: &Filter) -> Self {
        match (&filter.name, &filter.issuer) {
            (Some(NameFilter::Exactly(name)), _) => {
                Self::Single(named(&name::reversed(name).unwrap_or_default()))
            }
            (Some(NameFilter::Domain(domain)), _) => {
                let mut prefix = vec![NAME];
                prefix.extend(name::reversed(domain).unwrap_or_default());
                Self::Names(prefix)
            }
            _ if filter.revoked == Some(true) => Self::Single(vec![REVOKED]),
            (None, Some(issuer)) => Self::Single(issued_by(issuer)),
            (None, None) => Self::Single(vec![ALL]),
        }
    }

    /// The bounds of the lines that begin with the prefix and expire in the time of the filter. If `after` is
    /// given, only of the lines after this key.
    pub(super) fn lines(&self, filter: &Filter, after: Option<&Key>) -> (Vec<u8>, Vec<u8>) {
        // Greater than any byte after a prefix: texts don't contain it, and times and numbers don't begin with it.
        const BEHIND_ALL: u8 = 0xff;
        match self {
            Self::Names(prefix) => (prefix.clone(), [prefix.as_slice(), &[BEHIND_ALL]].concat()),
            Self::Single(prefix) => {
                let (mut first, mut last) = (prefix.clone(), prefix.clone());
                match (after, filter.expires_from) {
                    (Some(key), _) => {
                        key.put(&mut first);
                        first.push(BEHIND_ALL);
                    }
                    (None, Some(time)) => put_time(&mut first, time),
                    (None, None) => {}
                }
                match filter.expires_before {
                    Some(time) => put_time(&mut last, time),
                    None => last.push(BEHIND_ALL),
                }
                (first, last)
            }
        }
    }

    /// The key at the end of a line that begins with the prefix.
    pub(super) fn key(&self, line: &[u8]) -> Option<Key> {
        match self {
            Self::Single(prefix) => Key::read(line.get(prefix.len()..)?),
            Self::Names(_) => {
                let end = line.windows(2).position(|pair| pair == [0, 0])?;
                Key::read(&line[end + 2..])
            }
        }
    }
}

/// The lines that a certificate always has.
pub(super) fn lines_of(row: &Row) -> Vec<Vec<u8>> {
    let issued = &row.entry.issued;
    let names = issued.names.iter().filter_map(|name| name::reversed(name));
    let mut lines = vec![vec![ALL], issued_by(&issued.issuer)];
    lines.extend(names.map(|name| named(&name)));
    for line in &mut lines {
        Key::of(row).put(line);
    }
    lines
}

/// The line that a certificate has while it is revoked.
pub(super) fn revoked_line(row: &Row) -> Vec<u8> {
    let mut line = vec![REVOKED];
    Key::of(row).put(&mut line);
    line
}

/// The key of a certificate among those that belong on an issuer's revocation lists.
pub(super) fn listing_key(issuer: &str, number: &SerialNumber) -> Vec<u8> {
    let mut key = issued_by(issuer);
    put_number(&mut key, number);
    key
}

/// The bounds of the keys of all certificates that belong on an issuer's revocation lists.
pub(super) fn listing_keys(issuer: &str) -> (Vec<u8>, Vec<u8>) {
    let first = issued_by(issuer);
    let last = [first.as_slice(), &[0xff]].concat();
    (first, last)
}

/// The serial number in a [`listing_key`].
pub(super) fn listed_number(issuer: &str, key: &[u8]) -> Option<SerialNumber> {
    number_at_end(key.get(issued_by(issuer).len()..)?)
}

/// The prefix for one name. A further zero after the labels keeps out the lines of other names.
fn named(reversed: &[u8]) -> Vec<u8> {
    [&[NAME], reversed, &[0]].concat()
}

fn issued_by(issuer: &str) -> Vec<u8> {
    let mut line = vec![ISSUER];
    put_bytes(&mut line, issuer.as_bytes());
    line
}

fn put_time(line: &mut Vec<u8>, time: UnixTime) {
    line.extend_from_slice(&time.as_secs().to_be_bytes());
}

/// The length comes first, since a longer number is a larger one.
fn put_number(line: &mut Vec<u8>, number: &SerialNumber) {
    put_bytes(line, number.as_bytes());
}

fn number_at_end(bytes: &[u8]) -> Option<SerialNumber> {
    SerialNumber::from_bytes(bytes.get(1..)?).ok()
}

const ALL: u8 = b'a';
const ISSUER: u8 = b'i';
const NAME: u8 = b'n';
const REVOKED: u8 = b'r';
