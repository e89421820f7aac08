//! The header parameters of RFC 9052, section 3.1.

use alloc::collections::BTreeSet;

use super::error::CoseError;
use crate::akp::Algorithm;
use crate::encoding::cbor::{self, Label, Reader, Writer};

const ALGORITHM: i64 = 1;
const CRITICAL: i64 = 2;
const KID: i64 = 4;

/// The protected header, as it is signed.
pub(super) fn protected(algorithm: Algorithm, kid: Option<&[u8]>) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut writer = Writer(&mut bytes);
    writer.map(1 + u64::from(kid.is_some()));
    writer.number(ALGORITHM);
    writer.number(algorithm.cose_number());
    if let Some(kid) = kid {
        writer.number(KID);
        writer.bytes(kid);
    }
    bytes
}

/// The parameters from both headers.
pub(super) struct Headers<'a> {
    /// A number, as for all algorithms in this crate, or a text.
    pub(super) algorithm: Label<'a>,
    pub(super) kid: Option<&'a [u8]>,
}

impl<'a> Headers<'a> {
    /// Reads the map in the protected bytes, and the unprotected map, which comes next.
    pub(super) fn read(
        protected: &'a [u8],
        unprotected: &mut Reader<'a>,
    ) -> Result<Self, CoseError> {
        let mut algorithm = None;
        let mut kid = None;
        let mut labels = BTreeSet::new();
        let read_protected = |reader: &mut Reader<'a>| {
            reader.map::<CoseError>("the protected header", |label, reader| {
                labels.insert(label);
                match label {
                    Label::Number(ALGORITHM) => algorithm = Some(reader.label("an algorithm")?),
                    Label::Number(CRITICAL) => return Err(CoseError::Critical),
                    Label::Number(KID) => kid = Some(reader.bytes("a key's identifier")?),
                    _ => return Ok(false),
                }
                Ok(true)
            })
        };
        // An empty header may be encoded as zero bytes.
        if !protected.is_empty() {
            cbor::read(protected, read_protected)?;
        }
        unprotected.map::<CoseError>("the unprotected header", |label, reader| match label {
            Label::Number(ALGORITHM) => Err(CoseError::Unprotected("algorithm")),
            Label::Number(CRITICAL) => Err(CoseError::Unprotected("\"crit\"")),
            _ if labels.contains(&label) => Err(CoseError::InBothHeaders),
            Label::Number(KID) => {
                kid = Some(reader.bytes("a key's identifier")?);
                Ok(true)
            }
            _ => Ok(false),
        })?;
        Ok(Self {
            algorithm: algorithm.ok_or(CoseError::NoAlgorithm)?,
            kid,
        })
    }
}
