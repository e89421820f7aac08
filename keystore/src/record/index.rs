//! The index: how often each row of a key was written, by which older rows are noticed that were put back, and rows that
//! are missing.
//!
//! There are 128 rows of the index, and each row of a key belongs to one of them. Both are written together, and read
//! together. So whoever puts an older row back has to put back the row of the index, too, and with it those of other keys.

use sha2::{Digest, Sha256};

use crate::encoding::{InvalidRecord, Reader, Writer};

const FORMAT: u8 = 1;

/// The first half of a hash, which stands for a row.
type Place = [u8; 16];

/// One row of the index.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub(crate) struct IndexRecord {
    /// The rows, ordered, with how often they were written.
    serials: Vec<(Place, u64)>,
}

fn hash(key: &str) -> [u8; 32] {
    Sha256::digest(key).into()
}

/// How many rows the index has, all of which are made with the store.
pub(crate) const BUCKETS: u8 = 128;

/// The number of the index's row where a row stands.
pub(crate) fn bucket_of(key: &str) -> u8 {
    hash(key)[31] % BUCKETS
}

fn place(key: &str) -> Place {
    let mut place = [0; 16];
    place.copy_from_slice(&hash(key)[..16]);
    place
}

impl IndexRecord {
    /// How often a row was written, or 0 if it was never.
    pub(crate) fn serial(&self, key: &str) -> u64 {
        let found = self
            .serials
            .binary_search_by_key(&place(key), |(place, _)| *place);
        found.map_or(0, |at| self.serials[at].1)
    }

    /// Notes how often a row was written.
    pub(crate) fn set(&mut self, key: &str, serial: u64) {
        let place = place(key);
        match self
            .serials
            .binary_search_by_key(&place, |(place, _)| *place)
        {
            Ok(at) => self.serials[at].1 = serial,
            Err(at) => self.serials.insert(at, (place, serial)),
        }
    }

    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut writer = Writer::of_format(FORMAT);
        writer.u32(u32::try_from(self.serials.len()).unwrap_or(u32::MAX));
        for (place, serial) in &self.serials {
            writer.array(place).u64(*serial);
        }
        writer.finish()
    }

    pub(crate) fn decode(bytes: &[u8]) -> Result<Self, InvalidRecord> {
        let mut reader = Reader::of_format(FORMAT, bytes)?;
        let mut serials: Vec<(Place, u64)> = Vec::new();
        for _ in 0..reader.u32()? {
            let next: (Place, u64) = (reader.array()?, reader.u64()?);
            if serials.last().is_some_and(|last| last.0 >= next.0) {
                return Err(InvalidRecord::Value("the index is out of order"));
            }
            serials.push(next);
        }
        reader.finish()?;
        Ok(Self { serials })
    }
}
