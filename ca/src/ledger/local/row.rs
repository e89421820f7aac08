//! The data that journal and index have about one certificate.

use std::io::{self, ErrorKind, Read};

use pq_x509::pki_types::UnixTime;
use pq_x509::revocation::CrlReason;

use super::codec::{Decoder, put_bytes, put_number};
use crate::ledger::entry::{Entry, Issued, Revocation, State};
use crate::ledger::generation::Generation;
use crate::ledger::serial_number::SerialNumber;
use crate::ledger::stage::Stage;
use crate::ledger::{KEPT, KeyHash};

/// An entry, and further data about it.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) struct Row {
    pub(super) entry: Entry,
    /// Where the certificate is in the journal.
    pub(super) place: Place,
    /// The number of the issuer's last revocation list that was begun before the revocation.
    pub(super) last_list: u64,
}

/// A part of the journal.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct Place {
    pub(super) offset: u64,
    pub(super) length: u64,
    /// The SHA-256 digest of what is there.
    pub(super) digest: [u8; 32],
}

/// A revocation list. Before the first one, the number is 0.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(super) struct List {
    pub(super) number: u64,
    /// The time of the list, in seconds since 1970.
    pub(super) at: u64,
}

/// What is known of an issuer's revocation lists.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(super) struct Lists {
    /// The number of the last one that was begun.
    pub(super) number: u64,
    /// The last one of which somebody said that it was written where clients get it.
    pub(super) written: List,
}

impl Lists {
    /// A list was begun. If the clock was set back, it had run ahead when a list was written, which counts as one of
    /// now at most.
    pub(super) fn begun(&mut self, list: List) {
        self.number = list.number;
        self.written.at = self.written.at.min(list.at);
    }

    /// A list was written. In journals of earlier versions, a later one may have been written before.
    pub(super) fn written(&mut self, list: List) {
        if self.written.number < list.number {
            self.written = list;
        }
    }
}

/// The data about a certificate that revocation lists need.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) struct Listing {
    pub(super) revocation: Revocation,
    not_after: UnixTime,
    last_list: u64,
}

impl Listing {
    /// Whether the certificate belongs on a list of the time `now`, before which `written` was the last one that
    /// clients could get.
    ///
    /// It has to have been on `written`, and both have to be from long after its expiry (RFC 5280 section 3.3). A list
    /// that could not be made or written leaves out nothing. One reading of a clock that is wrong doesn't either, and
    /// since nothing is remembered but `written`, two readings leave out nothing for good.
    pub(super) fn belongs_on(&self, now: UnixTime, written: List) -> bool {
        let kept_until = self.not_after.as_secs().saturating_add(KEPT.as_secs());
        written.number <= self.last_list || written.at.min(now.as_secs()) <= kept_until
    }

    pub(super) fn encode(&self) -> Vec<u8> {
        let mut out = Vec::new();
        put_time(&mut out, self.not_after);
        put_number(&mut out, self.last_list);
        put_revocation(&mut out, &self.revocation);
        out
    }

    pub(super) fn decode(bytes: &[u8]) -> io::Result<Self> {
        let mut decoder = Decoder::new(bytes);
        Ok(Self {
            not_after: time(&mut decoder)?,
            last_list: decoder.number()?,
            revocation: revocation(&mut decoder)?,
        })
    }
}

impl Row {
    /// The data that revocation lists need, if the certificate is revoked.
    pub(super) fn listing(&self) -> Option<Listing> {
        Some(Listing {
            revocation: self.entry.revocation()?.clone(),
            not_after: self.entry.issued.not_after,
            last_list: self.last_list,
        })
    }

    pub(super) fn encode(&self) -> Vec<u8> {
        let mut out = Vec::new();
        put_issued(&mut out, &self.entry.issued);
        put_number(&mut out, self.place.offset);
        put_number(&mut out, self.place.length);
        out.extend_from_slice(&self.place.digest);
        match &self.entry.state {
            State::Valid => out.push(VALID),
            State::Revoked(revocation) => {
                out.push(REVOKED);
                put_revocation(&mut out, revocation);
                put_number(&mut out, self.last_list);
            }
        }
        out
    }

    pub(super) fn decode(bytes: &[u8]) -> io::Result<Self> {
        let mut decoder = Decoder::new(bytes);
        let issued = issued(&mut decoder)?;
        let place = Place {
            offset: decoder.number()?,
            length: decoder.number()?,
            digest: decoder.array()?,
        };
        let (state, last_list) = match decoder.byte()? {
            VALID => (State::Valid, 0),
            REVOKED => {
                let revocation = revocation(&mut decoder)?;
                (State::Revoked(revocation), decoder.number()?)
            }
            _ => return Err(ErrorKind::InvalidData.into()),
        };
        Ok(Self {
            entry: Entry { issued, state },
            place,
            last_list,
        })
    }
}

const VALID: u8 = 0;
const REVOKED: u8 = 1;

pub(super) fn put_issued(out: &mut Vec<u8>, issued: &Issued) {
    put_bytes(out, issued.serial_number.as_bytes());
    for text in [
        &issued.issuer,
        &issued.subject,
        &issued.profile,
        &issued.key_algorithm,
        &issued.by,
    ] {
        put_bytes(out, text.as_bytes());
    }
    out.extend_from_slice(issued.key.as_bytes());
    put_number(out, issued.halves.len() as u64);
    for half in &issued.halves {
        out.extend_from_slice(half.as_bytes());
    }
    for time in [issued.not_before, issued.not_after, issued.at] {
        put_time(out, time);
    }
    put_number(out, issued.names.len() as u64);
    for name in &issued.names {
        put_bytes(out, name.as_bytes());
    }
}

pub(super) fn issued(decoder: &mut Decoder<impl Read>) -> io::Result<Issued> {
    let mut issued = Issued {
        serial_number: serial_number(decoder)?,
        issuer: decoder.text()?,
        subject: decoder.text()?,
        profile: decoder.text()?,
        key_algorithm: decoder.text()?,
        by: decoder.text()?,
        key: KeyHash::from_bytes(decoder.array()?),
        halves: (0..decoder.number()?)
            .map(|_| Ok(KeyHash::from_bytes(decoder.array()?)))
            .collect::<io::Result<_>>()?,
        not_before: time(decoder)?,
        not_after: time(decoder)?,
        at: time(decoder)?,
        names: Vec::new(),
    };
    for _ in 0..decoder.number()? {
        issued.names.push(decoder.text()?);
    }
    Ok(issued)
}

pub(super) fn put_revocation(out: &mut Vec<u8>, revocation: &Revocation) {
    put_time(out, revocation.at);
    put_number(out, revocation.reason as u64);
    put_bytes(out, revocation.by.as_bytes());
}

pub(super) fn revocation(decoder: &mut Decoder<impl Read>) -> io::Result<Revocation> {
    Ok(Revocation {
        at: time(decoder)?,
        reason: u32::try_from(decoder.number()?)
            .ok()
            .and_then(|number| CrlReason::try_from(number).ok())
            .ok_or(ErrorKind::InvalidData)?,
        by: decoder.text()?,
    })
}

pub(super) fn serial_number(decoder: &mut Decoder<impl Read>) -> io::Result<SerialNumber> {
    SerialNumber::from_bytes(&decoder.bytes()?).map_err(|_| ErrorKind::InvalidData.into())
}

pub(super) fn put_time(out: &mut Vec<u8>, time: UnixTime) {
    put_number(out, time.as_secs());
}

pub(super) fn time(decoder: &mut Decoder<impl Read>) -> io::Result<UnixTime> {
    let seconds = decoder.number()?;
    Ok(UnixTime::since_unix_epoch(core::time::Duration::from_secs(
        seconds,
    )))
}

pub(super) fn put_generations(out: &mut Vec<u8>, generations: &[Generation]) {
    put_number(out, generations.len() as u64);
    for generation in generations {
        put_bytes(out, generation.name.as_bytes());
        put_number(out, generation.chain.len() as u64);
        for certificate in &generation.chain {
            put_bytes(out, certificate);
        }
        out.push(match generation.stage {
            Stage::Published => 0,
            Stage::Issuing => 1,
            Stage::Retired => 2,
            Stage::Ended => 3,
        });
        put_time(out, generation.since);
        put_bytes(out, generation.by.as_bytes());
    }
}

pub(super) fn generations(decoder: &mut Decoder<impl Read>) -> io::Result<Vec<Generation>> {
    let mut generations = Vec::new();
    for _ in 0..decoder.number()? {
        generations.push(Generation {
            name: decoder.text()?,
            chain: (0..decoder.number()?)
                .map(|_| Ok(decoder.bytes()?.into()))
                .collect::<io::Result<_>>()?,
            stage: match decoder.byte()? {
                0 => Stage::Published,
                1 => Stage::Issuing,
                2 => Stage::Retired,
                3 => Stage::Ended,
                _ => return Err(ErrorKind::InvalidData.into()),
            },
            since: time(decoder)?,
            by: decoder.text()?,
        });
    }
    Ok(generations)
}
