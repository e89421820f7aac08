//! An entry of the audit log.

use pq_keys::random;
use sha2::{Digest, Sha256};

use super::deed::{Act, Deed};
use crate::encoding::{InvalidRecord, Reader, Writer};
use crate::name::{KeyName, Version};
use crate::policy::{Principal, Verb};
use crate::sealing::Sealer;
use crate::storage::{LogEntry, LogHead};

const FORMAT: u8 = 1;

/// With a deed.
const FORMAT_WITH_DEED: u8 = 2;

/// The length of the MAC at the end of an entry.
const TAG_LEN: usize = 32;

/// The most characters of a code.
const MAX_CODE: usize = 64;

/// What the audit log says of one thing that was done or refused, or of several that are counted together.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct AuditEntry {
    /// The number of the store.
    pub store: [u8; 16],
    /// Its number in the log, from 1 on.
    pub sequence: u64,
    /// When it was written, by the clock of the machine, in milliseconds since 1970. A clock may be wrong; the order of
    /// entries is that of their numbers.
    pub time: u64,
    /// Random, so that no two entries are equal.
    pub nonce: [u8; 16],
    /// Who did it; `None` for refused attempts of many that are counted together.
    pub principal: Option<Principal>,
    /// What was done or refused.
    pub verb: Verb,
    /// What was done, where the verb stands for several things; `None` in entries that were written before there were deeds.
    pub deed: Option<Deed>,
    /// The key; `None` if it is about the store.
    pub key: Option<KeyName>,
    /// The version of the key, if it is about one.
    pub version: Option<Version>,
    /// How it went.
    pub outcome: Outcome,
    /// How many there were.
    pub count: u64,
    /// The SHA-256 of the row of the key or the store as this entry left it; `None` if it didn't change.
    pub row: Option<[u8; 32]>,
    /// The SHA-256 of that row before; `None` if there was none, or it didn't change.
    pub row_before: Option<[u8; 32]>,
}

/// How something went that the audit log has.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum Outcome {
    /// It was done.
    Done,
    /// It was refused or failed, with this [code](crate::StoreError::code).
    Refused(String),
}

/// What an entry says, without what it gets when it is written.
#[derive(Clone, Debug)]
pub(crate) struct Event {
    pub(crate) principal: Option<Principal>,
    pub(crate) verb: Verb,
    pub(crate) deed: Option<Deed>,
    pub(crate) key: Option<KeyName>,
    pub(crate) version: Option<Version>,
    pub(crate) outcome: Outcome,
    pub(crate) count: u64,
    pub(crate) row: Option<[u8; 32]>,
    pub(crate) row_before: Option<[u8; 32]>,
}

impl Event {
    /// Something that a principal did.
    pub(crate) fn done(principal: &Principal, act: impl Into<Act>) -> Self {
        let Act { verb, deed } = act.into();
        Self {
            principal: Some(principal.clone()),
            verb,
            deed,
            key: None,
            version: None,
            outcome: Outcome::Done,
            count: 1,
            row: None,
            row_before: None,
        }
    }

    /// With this key.
    pub(crate) fn with(mut self, key: &KeyName, version: Option<Version>) -> Self {
        self.key = Some(key.clone());
        self.version = version;
        self
    }

    /// Having found the row like this, if there was one, and left it like that.
    pub(crate) fn leaving(mut self, before: Option<&[u8]>, row: &[u8]) -> Self {
        self.row_before = before.map(|before| Sha256::digest(before).into());
        self.row = Some(Sha256::digest(row).into());
        self
    }

    /// The entry after `before`.
    pub(crate) fn entry_after(
        &self,
        sealer: &Sealer,
        before: &LogHead,
        store: [u8; 16],
        time: u64,
    ) -> Result<LogEntry, random::RandomnessError> {
        let mut nonce = [0; 16];
        random::fill(&mut nonce)?;
        let sequence = before.sequence.saturating_add(1);
        let entry = AuditEntry {
            store,
            sequence,
            time,
            nonce,
            principal: self.principal.clone(),
            verb: self.verb,
            deed: self.deed,
            key: self.key.clone(),
            version: self.version,
            outcome: self.outcome.clone(),
            count: self.count,
            row: self.row,
            row_before: self.row_before,
        };
        let mut value = entry.encode();
        value.extend_from_slice(&sealer.entry_tag(&before.hash, &value));
        Ok(LogEntry {
            sequence,
            hash: hash(&before.hash, &value),
            value,
        })
    }
}

/// Whether the store wrote an entry, after the one with the hash `before`.
pub(super) fn is_authentic(sealer: &Sealer, before: &LogHead, entry: &LogEntry) -> bool {
    let parts = entry.value.split_last_chunk::<TAG_LEN>();
    parts.is_some_and(|(record, tag)| sealer.check_entry(&before.hash, record, tag).is_ok())
}

/// The hash of an entry after the one with the hash `before`.
pub(super) fn hash(before: &[u8; 32], value: &[u8]) -> [u8; 32] {
    let mut hash = Sha256::new();
    hash.update(b"pq-keystore log\0");
    hash.update(before);
    hash.update(value);
    hash.finalize().into()
}

impl AuditEntry {
    pub(super) fn encode(&self) -> Vec<u8> {
        let mut writer = Writer::of_format(match self.deed {
            None => FORMAT,
            Some(_) => FORMAT_WITH_DEED,
        });
        writer
            .array(&self.store)
            .u64(self.sequence)
            .u64(self.time)
            .array(&self.nonce)
            .text(self.principal.as_ref().map_or("", Principal::as_str))
            .text(self.verb.name());
        if let Some(deed) = self.deed {
            writer.text(deed.name());
        }
        let key = self.key.as_ref().map(ToString::to_string);
        writer
            .text(key.as_deref().unwrap_or(""))
            .u32(self.version.map_or(0, Version::get));
        match &self.outcome {
            Outcome::Done => writer.text(""),
            Outcome::Refused(code) => writer.text(code),
        };
        writer.u64(self.count);
        for row in [&self.row, &self.row_before] {
            match row {
                Some(row) => writer.bool(true).array(row),
                None => writer.bool(false),
            };
        }
        writer.finish()
    }

    /// Reads the value of a [`LogEntry`], which ends with a MAC that only the store can check.
    ///
    /// # Errors
    ///
    /// If it is none.
    pub fn decode(value: &[u8]) -> Result<Self, InvalidRecord> {
        let (record, _) = value
            .split_last_chunk::<TAG_LEN>()
            .ok_or(InvalidRecord::CutShort)?;
        let (mut reader, format) = Reader::of_formats(&[FORMAT, FORMAT_WITH_DEED], record)?;
        let (store, sequence, time) = (reader.array()?, reader.u64()?, reader.u64()?);
        let nonce = reader.array()?;
        let principal = match reader.text()? {
            "" => None,
            name => Some(
                Principal::new(name).map_err(|_| InvalidRecord::Value("no principal's name"))?,
            ),
        };
        let verb = reader.text()?.parse();
        let verb = verb.map_err(|_| InvalidRecord::Value("no such verb"))?;
        let deed: Option<Deed> = match format {
            FORMAT_WITH_DEED => {
                let deed = reader.text()?.parse();
                Some(deed.map_err(|()| InvalidRecord::Value("no such deed"))?)
            }
            _ => None,
        };
        if deed.is_some_and(|deed| deed.verb() != verb) {
            return Err(InvalidRecord::Value("a deed of another verb"));
        }
        let key = match reader.text()? {
            "" => None,
            name => Some(
                name.parse()
                    .map_err(|_| InvalidRecord::Value("no name of a key"))?,
            ),
        };
        let version = Version::new(reader.u32()?);
        let outcome = match reader.text()? {
            "" => Outcome::Done,
            code if code.len() <= MAX_CODE => Outcome::Refused(code.into()),
            _ => return Err(InvalidRecord::Value("a code is too long")),
        };
        let count = reader.u64()?;
        let mut row = || match reader.bool()? {
            true => reader.array().map(Some),
            false => Ok(None),
        };
        let (row, row_before) = (row()?, row()?);
        reader.finish()?;
        Ok(Self {
            store,
            sequence,
            time,
            nonce,
            principal,
            verb,
            deed,
            key,
            version,
            outcome,
            count,
            row,
            row_before,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(verb: Verb, deed: Option<Deed>) -> AuditEntry {
        AuditEntry {
            store: [1; 16],
            sequence: 7,
            time: 8,
            nonce: [2; 16],
            principal: Some(Principal::new("ci").unwrap()),
            verb,
            deed,
            key: Some("shop/files/app".parse().unwrap()),
            version: Some(Version::FIRST),
            outcome: Outcome::Done,
            count: 1,
            row: Some([3; 32]),
            row_before: None,
        }
    }

    fn with_tag(record: &[u8]) -> Vec<u8> {
        [record, &[0; TAG_LEN]].concat()
    }

    #[test]
    fn deeds_are_read_again() {
        for deed in Deed::ALL {
            let entry = entry(deed.verb(), Some(*deed));
            let decoded = AuditEntry::decode(&with_tag(&entry.encode()));
            assert_eq!(decoded.unwrap(), entry);
            assert_eq!(deed.name().parse(), Ok(*deed));
        }
    }

    /// Logs have entries from before there were deeds, and an entry without one is written as they were.
    #[test]
    fn entries_without_a_deed_are_as_before() {
        let encoded = entry(Verb::Destroy, None).encode();
        let before = [
            &[1][..],
            &[1; 16],
            &7_u64.to_be_bytes(),
            &8_u64.to_be_bytes(),
            &[2; 16],
            b"\0\0\0\x02ci\0\0\0\x07destroy\0\0\0\x0eshop/files/app\0\0\0\x01\0\0\0\0",
            &1_u64.to_be_bytes(),
            &[1],
            &[3; 32],
            &[0],
        ];
        assert_eq!(encoded, before.concat());
        let decoded = AuditEntry::decode(&with_tag(&encoded)).unwrap();
        assert_eq!(decoded, entry(Verb::Destroy, None));
    }

    #[test]
    fn deeds_that_there_are_not() {
        let wrong = entry(Verb::Create, Some(Deed::Trim)).encode();
        let error = AuditEntry::decode(&with_tag(&wrong)).unwrap_err();
        assert_eq!(error, InvalidRecord::Value("a deed of another verb"));
        let mut unknown = entry(Verb::Destroy, Some(Deed::Trim)).encode();
        let at = unknown.windows(4).position(|window| window == b"trim");
        unknown[at.unwrap()] = b'p';
        let error = AuditEntry::decode(&with_tag(&unknown)).unwrap_err();
        assert_eq!(error, InvalidRecord::Value("no such deed"));
    }
}
