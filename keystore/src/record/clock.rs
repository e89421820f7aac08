//! The record of the latest time that the store knows.

use crate::encoding::{InvalidRecord, Reader, Writer};

const FORMAT: u8 = 1;

/// The latest time of a change, up to a minute, or the one that somebody confirmed since.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct ClockRecord {
    /// How often it was written.
    pub(crate) serial: u64,
    /// In milliseconds since 1970.
    pub(crate) latest: u64,
}

impl ClockRecord {
    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut writer = Writer::of_format(FORMAT);
        writer.u64(self.serial).u64(self.latest).finish()
    }

    pub(crate) fn decode(bytes: &[u8]) -> Result<Self, InvalidRecord> {
        let mut reader = Reader::of_format(FORMAT, bytes)?;
        let record = Self {
            serial: reader.u64()?,
            latest: reader.u64()?,
        };
        reader.finish()?;
        Ok(record)
    }
}
