//! The index: how often each row of a key was written, by which older rows are noticed that were put back, and rows that
//! are missing.
//!
//! There are 128 rows of the index, and each row of a key belongs to one of them. Both are written together, and read
//! together. So whoever puts an older row back has to put back the row of the index, too, and with it those of other keys.
//!
//! Where a row stands, its key's MAC says, so that whoever may choose names can't choose one row of the index and fill it.

use crate::encoding::{InvalidRecord, Reader, Writer};

const FORMAT: u8 = 1;

/// The most rows of keys in one row of the index; those of the store itself find a place in any.
pub(crate) const MAX_KEYS: usize = 2_700;

/// The place of a row in the index: its row there, and what stands for it in that.
#[derive(Clone, Copy)]
pub(crate) struct IndexPlace {
    pub(crate) bucket: u8,
    place: Place,
}

/// The first half of a MAC, which stands for a row.
type Place = [u8; 16];

/// One row of the index.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub(crate) struct IndexRecord {
    /// The rows, ordered, with how often they were written.
    serials: Vec<(Place, u64)>,
}

/// How many rows the index has, all of which are made with the store.
pub(crate) const BUCKETS: u8 = 128;

impl IndexPlace {
    /// By the MAC of a row's key.
    pub(crate) fn new(mac: &[u8; 32]) -> Self {
        let mut place = [0; 16];
        place.copy_from_slice(&mac[..16]);
        Self {
            bucket: mac[31] % BUCKETS,
            place,
        }
    }
}

impl IndexRecord {
    /// How often a row was written, or 0 if it was never.
    pub(crate) fn serial(&self, place: IndexPlace) -> u64 {
        self.find(place).map_or(0, |at| self.serials[at].1)
    }

    /// How many rows stand in it.
    pub(crate) fn len(&self) -> usize {
        self.serials.len()
    }

    /// Notes how often a row was written.
    pub(crate) fn set(&mut self, place: IndexPlace, serial: u64) {
        match self.find(place) {
            Ok(at) => self.serials[at].1 = serial,
            Err(at) => self.serials.insert(at, (place.place, serial)),
        }
    }

    /// Whether a key that isn't in it finds no place.
    pub(crate) fn is_full(&self) -> bool {
        self.serials.len() >= MAX_KEYS
    }

    /// Where a row stands, or would.
    fn find(&self, place: IndexPlace) -> Result<usize, usize> {
        let place = place.place;
        self.serials
            .binary_search_by_key(&place, |(place, _)| *place)
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
