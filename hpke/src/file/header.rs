//! The first 14 bytes of a file: format, version and algorithms. They become a part of the info of HPKE, so that a
//! change to them is noticed.

use std::io::Read;

use super::chunks::fill;
use super::error::DecryptionError;
use crate::context::{HpkeError, MAX_INFO_LEN};
use crate::recipient::Kem;
use crate::suite::{Aead, Kdf, Suite};

/// What a file begins with, whatever its version.
const MAGIC: &[u8; 7] = b"pq-hpke";

const VERSION: u8 = 1;

/// Length of the magic, the version and three numbers of two bytes.
const LEN: usize = 14;

/// The algorithms that a file is encrypted with.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct Header {
    pub(super) kem: Kem,
    pub(super) suite: Suite,
}

impl Header {
    pub(super) fn to_bytes(self) -> [u8; LEN] {
        let mut bytes = [0; LEN];
        let (magic, rest) = bytes.split_at_mut(MAGIC.len());
        magic.copy_from_slice(MAGIC);
        rest[0] = VERSION;
        let numbers = [self.kem.id(), self.suite.kdf.id(), self.suite.aead.id()];
        for (place, number) in rest[1..].chunks_exact_mut(2).zip(numbers) {
            place.copy_from_slice(&number.to_be_bytes());
        }
        bytes
    }

    pub(super) fn read(from: &mut impl Read) -> Result<Self, DecryptionError> {
        let mut bytes = [0; LEN];
        let len = fill(from, &mut bytes).map_err(DecryptionError::Read)?;
        let known = len.min(MAGIC.len());
        if len == 0 || bytes[..known] != MAGIC[..known] {
            return Err(DecryptionError::NotEncrypted);
        }
        if len > MAGIC.len() && bytes[MAGIC.len()] != VERSION {
            return Err(DecryptionError::Version(bytes[MAGIC.len()]));
        }
        if len < LEN {
            return Err(DecryptionError::NoChunk);
        }
        let number = |at: usize| u16::from_be_bytes([bytes[at], bytes[at + 1]]);
        let unknown = |what, number| move || DecryptionError::UnknownAlgorithm { what, number };
        let [kem, kdf, aead] = [number(8), number(10), number(12)];
        Ok(Self {
            kem: Kem::from_id(kem).ok_or_else(unknown("KEM", kem))?,
            suite: Suite {
                kdf: Kdf::from_id(kdf).ok_or_else(unknown("KDF", kdf))?,
                aead: Aead::from_id(aead).ok_or_else(unknown("AEAD", aead))?,
            },
        })
    }

    /// The info of the context: the header, followed by the info of the application.
    pub(super) fn info(self, application: &[u8]) -> Result<Vec<u8>, HpkeError> {
        let (len, most) = (application.len(), MAX_INFO_LEN - LEN);
        match len > most {
            true => Err(HpkeError::InfoTooLong { len, most }),
            false => Ok([&self.to_bytes()[..], application].concat()),
        }
    }
}
