//! The data that journal and index have about one certificate.

use std::io::{self, ErrorKind};

use pq_x509::pki_types::UnixTime;

use crate::ledger::KEPT;
use crate::ledger::codec::{Decoder, put_number};
use crate::ledger::encoded::{
    has_origin, issued, put_issued, put_origin, put_revocation, put_time, read_origin, revocation,
    time,
};
use crate::ledger::entry::{Entry, Revocation, State};

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
        let has_origin = has_origin(&self.entry.issued);
        let with_origin = if has_origin { WITH_ORIGIN } else { 0 };
        match &self.entry.state {
            State::Valid => out.push(VALID | with_origin),
            State::Revoked(revocation) => {
                out.push(REVOKED | with_origin);
                put_revocation(&mut out, revocation);
                put_number(&mut out, self.last_list);
            }
        }
        if has_origin {
            put_origin(&mut out, &self.entry.issued);
        }
        out
    }

    pub(super) fn decode(bytes: &[u8]) -> io::Result<Self> {
        let mut decoder = Decoder::new(bytes);
        let mut issued = issued(&mut decoder)?;
        let place = Place {
            offset: decoder.number()?,
            length: decoder.number()?,
            digest: decoder.array()?,
        };
        let kind = decoder.byte()?;
        let (state, last_list) = match kind & !WITH_ORIGIN {
            VALID => (State::Valid, 0),
            REVOKED => {
                let revocation = revocation(&mut decoder)?;
                (State::Revoked(revocation), decoder.number()?)
            }
            _ => return Err(ErrorKind::InvalidData.into()),
        };
        if kind & WITH_ORIGIN != 0 {
            read_origin(&mut decoder, &mut issued)?;
        }
        Ok(Self {
            entry: Entry { issued, state },
            place,
            last_list,
        })
    }
}

const VALID: u8 = 0;
const REVOKED: u8 = 1;
/// With how it came about, at the end.
const WITH_ORIGIN: u8 = 2;
