//! The record of a version: its public key, and its private key under the key of the store.

use pq_keys::any::AnyAlgorithm;

use super::key::Origin;
use super::read_algorithm;
use crate::encoding::{InvalidRecord, Reader, Writer};
use crate::policy::Principal;

const FORMAT: u8 = 1;

/// A version of a key. Besides the private key's, nothing in it changes.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct VersionRecord {
    pub(crate) algorithm: AnyAlgorithm,
    /// The SubjectPublicKeyInfo, as DER.
    pub(crate) spki: Vec<u8>,
    /// When it was made, in milliseconds since 1970.
    pub(crate) created: u64,
    /// Who made it.
    pub(crate) by: Principal,
    pub(crate) origin: Origin,
    /// Whether the private key may be exported.
    pub(crate) exportable: bool,
    /// The private key as PKCS#8, sealed; `None` once it was destroyed.
    pub(crate) sealed: Option<Vec<u8>>,
}

impl VersionRecord {
    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut writer = Writer::of_format(FORMAT);
        writer
            .text(self.algorithm.name())
            .bytes(&self.spki)
            .u64(self.created)
            .text(self.by.as_str());
        self.origin.write(&mut writer);
        writer.bool(self.exportable);
        match &self.sealed {
            Some(sealed) => writer.bool(true).bytes(sealed),
            None => writer.bool(false),
        };
        writer.finish()
    }

    pub(crate) fn decode(bytes: &[u8]) -> Result<Self, InvalidRecord> {
        let mut reader = Reader::of_format(FORMAT, bytes)?;
        let record = Self {
            algorithm: read_algorithm(&mut reader)?,
            spki: reader.bytes()?.into(),
            created: reader.u64()?,
            by: Principal::new(reader.text()?)
                .map_err(|_| InvalidRecord::Value("no principal's name"))?,
            origin: Origin::read(&mut reader)?,
            exportable: reader.bool()?,
            sealed: match reader.bool()? {
                true => Some(reader.bytes()?.into()),
                false => None,
            },
        };
        reader.finish()?;
        Ok(record)
    }
}
