//! What came from another ledger, as records of the journal have it; and the file that says whether the ledger is in force.

use std::io::{self, ErrorKind, Read};
use std::path::Path;

use super::files::{Access, Disk, create_whole, io_error};
use super::row::{List, Lists};
use crate::ledger::audit::Deed;
use crate::ledger::codec::{Decoder, put_bytes, put_number};
use crate::ledger::encoded;
use crate::ledger::error::LedgerError;
use crate::ledger::events;
use crate::ledger::generation::Generation;
use crate::ledger::moving::{KeptEntry, KeptLists, KeptRevocation, Move, MoveId, Rest, Standing};
use crate::ledger::serial_number::SerialNumber;

/// The revocations that came with certificates.
pub(super) type Kept = Vec<(SerialNumber, KeptRevocation)>;

pub(super) fn revocations_of(entries: &[KeptEntry]) -> Kept {
    let revoked = entries.iter().filter_map(|one| {
        let number = one.entry.issued.serial_number;
        Some((number, one.revoked.clone()?))
    });
    revoked.collect()
}

pub(super) fn put_kept(out: &mut Vec<u8>, kept: &Kept) {
    put_number(out, kept.len() as u64);
    for (number, one) in kept {
        put_bytes(out, number.as_bytes());
        encoded::put_revocation(out, &one.revocation);
        put_number(out, one.last_list);
    }
}

pub(super) fn kept(decoder: &mut Decoder<impl Read>) -> io::Result<Kept> {
    let mut all = Vec::new();
    for _ in 0..decoder.number()? {
        let number = encoded::serial_number(decoder)?;
        let kept = KeptRevocation {
            revocation: encoded::revocation(decoder)?,
            last_list: decoder.number()?,
        };
        all.push((number, kept));
    }
    Ok(all)
}

/// What came besides certificates and history.
#[derive(Clone, Debug)]
pub(super) struct CarriedRest {
    pub(super) lists: Vec<(String, Lists)>,
    pub(super) generations: Vec<Generation>,
    pub(super) clock: Option<u64>,
}

impl CarriedRest {
    pub(super) fn of(rest: &Rest) -> Self {
        let Rest {
            lists,
            generations,
            clock,
        } = rest;
        let lists = lists.iter().map(|lists| {
            let KeptLists {
                issuer,
                begun,
                written,
                written_at,
            } = lists;
            let written = List {
                number: *written,
                at: written_at.as_secs(),
            };
            let number = *begun;
            (issuer.clone(), Lists { number, written })
        });
        Self {
            lists: lists.collect(),
            generations: generations.clone(),
            clock: clock.map(|clock| clock.as_secs()),
        }
    }

    pub(super) fn encode(&self) -> Vec<u8> {
        let mut out = Vec::new();
        put_number(&mut out, self.lists.len() as u64);
        for (issuer, lists) in &self.lists {
            put_bytes(&mut out, issuer.as_bytes());
            for number in [lists.number, lists.written.number, lists.written.at] {
                put_number(&mut out, number);
            }
        }
        encoded::put_generations(&mut out, &self.generations);
        out.push(self.clock.is_some().into());
        put_number(&mut out, self.clock.unwrap_or_default());
        out
    }

    pub(super) fn decode(decoder: &mut Decoder<impl Read>) -> io::Result<Self> {
        let mut lists = Vec::new();
        for _ in 0..decoder.number()? {
            let issuer = decoder.text()?;
            let (number, written) = (decoder.number()?, decoder.number()?);
            let written = List {
                number: written,
                at: decoder.number()?,
            };
            lists.push((issuer, Lists { number, written }));
        }
        let generations = encoded::generations(decoder)?;
        let (has_clock, clock) = (decoder.byte()? != 0, decoder.number()?);
        Ok(Self {
            lists,
            generations,
            clock: has_clock.then_some(clock),
        })
    }
}

pub(super) fn encode_history(history: &[Deed]) -> Vec<u8> {
    let mut out = Vec::new();
    events::put_deeds(&mut out, history);
    out
}

pub(super) fn history(decoder: &mut Decoder<impl Read>) -> io::Result<Vec<Deed>> {
    events::deeds(decoder)
}

/// What the file says. Without it, the ledger is in force.
pub(super) fn standing(disk: &dyn Disk, path: &Path) -> Result<Standing, LedgerError> {
    let file = match disk.open(path, Access::Read) {
        Err(cause) if cause.kind() == ErrorKind::NotFound => {
            return Ok(Standing::InForce { came_by: None });
        }
        opened => opened.map_err(io_error("open", path))?,
    };
    let length = file.length().map_err(io_error("read", path))?;
    let mut bytes = vec![0; usize::try_from(length.min(LONGEST)).unwrap_or_default()];
    file.read(0, &mut bytes).map_err(io_error("read", path))?;
    decode(&bytes).ok_or_else(|| LedgerError::Damaged {
        path: path.into(),
        what: "it does not say whether the ledger was moved",
    })
}

/// Writes the file, in place of the one that is there.
pub(super) fn put_standing(
    disk: &dyn Disk,
    path: &Path,
    standing: &Standing,
) -> Result<(), LedgerError> {
    create_whole(disk, path, &encode(standing))
}

fn encode(standing: &Standing) -> Vec<u8> {
    let (kind, by) = match standing {
        Standing::InForce { came_by } => {
            let came_by = came_by.map_or(String::new(), |id| hex(&id));
            return format!("{NAME}\n{IN_FORCE}\n{came_by}\n").into_bytes();
        }
        Standing::Leaving(by) => (LEAVING, by),
        Standing::Left(by) => (LEFT, by),
        Standing::Arriving(by) => (ARRIVING, by),
    };
    let Move {
        other,
        target,
        attempt,
    } = by;
    let (target, attempt) = (hex(target), hex(attempt));
    format!("{NAME}\n{kind}\n{target}\n{attempt}\n{other}\n").into_bytes()
}

fn decode(bytes: &[u8]) -> Option<Standing> {
    let text = core::str::from_utf8(bytes).ok()?.strip_suffix('\n')?;
    let (name, text) = text.split_once('\n')?;
    let (kind, text) = text.split_once('\n')?;
    if name != NAME {
        return None;
    }
    if kind == IN_FORCE {
        let came_by = match text {
            "" => None,
            id => Some(of_hex(id)?),
        };
        return Some(Standing::InForce { came_by });
    }
    let (target, text) = text.split_once('\n')?;
    let (attempt, other) = text.split_once('\n')?;
    let by = Move {
        other: other.into(),
        target: of_hex(target)?,
        attempt: of_hex(attempt)?,
    };
    Some(match kind {
        LEAVING => Standing::Leaving(by),
        LEFT => Standing::Left(by),
        ARRIVING => Standing::Arriving(by),
        _ => return None,
    })
}

fn hex(id: &MoveId) -> String {
    format!("{:032x}", u128::from_be_bytes(*id.as_bytes()))
}

fn of_hex(text: &str) -> Option<MoveId> {
    let number = u128::from_str_radix(text, 16).ok()?;
    let id = MoveId::from_bytes(number.to_be_bytes());
    (hex(&id) == text).then_some(id)
}

/// With the version of the format.
const NAME: &str = "pq-ca standing 1";
const IN_FORCE: &str = "in force";
const LEAVING: &str = "leaving";
const LEFT: &str = "left";
const ARRIVING: &str = "arriving";
/// How many bytes the file has at most.
const LONGEST: u64 = 64 * 1024;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn standings_are_read_as_they_were_written() {
        let id = |byte| MoveId::from_bytes([byte; 16]);
        let by = |other: &str| Move {
            other: other.into(),
            target: id(0),
            attempt: id(0xa7),
        };
        for standing in [
            Standing::InForce { came_by: None },
            Standing::InForce {
                came_by: Some(id(3)),
            },
            Standing::Leaving(by("postgres://ca@db/ca")),
            Standing::Left(by("ä\n\nb\n")),
            Standing::Arriving(by("")),
        ] {
            let bytes = encode(&standing);
            assert_eq!(decode(&bytes), Some(standing));
            for length in 0..bytes.len() {
                // What is cut off is not taken for what it was.
                let cut = decode(&bytes[..length]);
                assert!(cut.is_none() || bytes[length - 1] == b'\n', "{cut:?}");
            }
        }
    }
}
