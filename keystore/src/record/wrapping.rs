//! The record of the key under which private keys are wrapped that are imported.

use crate::encoding::{InvalidRecord, Reader, Writer};

const FORMAT: u8 = 1;

/// The key that unwraps imported keys. It is made once, when it is first asked for.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct WrappingRecord {
    /// When it was made, in milliseconds since 1970.
    pub(crate) created: u64,
    /// The public key, as SubjectPublicKeyInfo.
    pub(crate) spki: Vec<u8>,
    /// The private key as PKCS#8, sealed.
    pub(crate) sealed: Vec<u8>,
}

impl WrappingRecord {
    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut writer = Writer::of_format(FORMAT);
        let writer = writer.u64(self.created).bytes(&self.spki);
        writer.bytes(&self.sealed).finish()
    }

    pub(crate) fn decode(bytes: &[u8]) -> Result<Self, InvalidRecord> {
        let mut reader = Reader::of_format(FORMAT, bytes)?;
        let record = Self {
            created: reader.u64()?,
            spki: reader.bytes()?.into(),
            sealed: reader.bytes()?.into(),
        };
        reader.finish()?;
        Ok(record)
    }
}
