//! The record of a version: its public key, and its private key under the key of the store.

use pq_keys::any::AnyAlgorithm;

use super::key::Origin;
use super::{read_algorithm, read_token};
use crate::custody::{ObjectId, TokenName, TokenSerial};
use crate::encoding::{InvalidRecord, Reader, Writer};
use crate::policy::Principal;

const FORMAT: u8 = 1;

/// With the private key in a token.
const FORMAT_WITH_TOKEN: u8 = 2;

/// And with the serial number of that token.
const FORMAT_WITH_SERIAL: u8 = 3;

/// Where in which token a private key was made.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct TokenPlace {
    pub(crate) token: TokenName,
    /// The serial number of the token; `None` if it tells none, and in rows of before it was noted.
    pub(crate) serial: Option<TokenSerial>,
    pub(crate) object: ObjectId,
}

/// Where the private key of a version is, or was until it was destroyed.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) enum PrivatePart {
    /// Here, as PKCS#8, sealed; `None` once it was destroyed.
    Sealed(Option<Vec<u8>>),
    /// In a token.
    InToken {
        place: TokenPlace,
        is_destroyed: bool,
    },
}

impl PrivatePart {
    /// Whether there is a private key.
    pub(crate) fn exists(&self) -> bool {
        match self {
            Self::Sealed(sealed) => sealed.is_some(),
            Self::InToken { is_destroyed, .. } => !is_destroyed,
        }
    }

    /// Where it is, or was, if that is a token.
    pub(crate) fn in_token(&self) -> Option<&TokenPlace> {
        match self {
            Self::Sealed(_) => None,
            Self::InToken { place, .. } => Some(place),
        }
    }

    /// The same when it was destroyed.
    pub(crate) fn destroyed(self) -> Self {
        match self {
            Self::Sealed(_) => Self::Sealed(None),
            Self::InToken { place, .. } => Self::InToken {
                place,
                is_destroyed: true,
            },
        }
    }
}

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
    pub(crate) private: PrivatePart,
}

impl VersionRecord {
    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut writer = Writer::of_format(match self.private.in_token() {
            None => FORMAT,
            Some(TokenPlace { serial: None, .. }) => FORMAT_WITH_TOKEN,
            Some(TokenPlace {
                serial: Some(_), ..
            }) => FORMAT_WITH_SERIAL,
        });
        writer
            .text(self.algorithm.name())
            .bytes(&self.spki)
            .u64(self.created)
            .text(self.by.as_str());
        self.origin.write(&mut writer);
        writer.bool(self.exportable);
        match &self.private {
            PrivatePart::Sealed(Some(sealed)) => writer.bool(true).bytes(sealed),
            PrivatePart::Sealed(None) => writer.bool(false),
            PrivatePart::InToken {
                place,
                is_destroyed,
            } => {
                writer.text(place.token.as_str());
                if let Some(serial) = &place.serial {
                    writer.text(serial.as_str());
                }
                writer.array(place.object.as_bytes()).bool(*is_destroyed)
            }
        };
        writer.finish()
    }

    pub(crate) fn decode(bytes: &[u8]) -> Result<Self, InvalidRecord> {
        let formats = [FORMAT, FORMAT_WITH_TOKEN, FORMAT_WITH_SERIAL];
        let (mut reader, format) = Reader::of_formats(&formats, bytes)?;
        let record = Self {
            algorithm: read_algorithm(&mut reader)?,
            spki: reader.bytes()?.into(),
            created: reader.u64()?,
            by: Principal::new(reader.text()?)
                .map_err(|_| InvalidRecord::Value("no principal's name"))?,
            origin: Origin::read(&mut reader)?,
            exportable: reader.bool()?,
            private: match format {
                FORMAT => PrivatePart::Sealed(match reader.bool()? {
                    true => Some(reader.bytes()?.into()),
                    false => None,
                }),
                _ => PrivatePart::InToken {
                    place: TokenPlace {
                        token: read_token(&mut reader)?,
                        serial: match format {
                            FORMAT_WITH_SERIAL => Some(read_serial(&mut reader)?),
                            _ => None,
                        },
                        object: ObjectId::from_bytes(reader.array()?),
                    },
                    is_destroyed: reader.bool()?,
                },
            },
        };
        reader.finish()?;
        Ok(record)
    }
}

/// Reads the serial number of a token, as it is written.
fn read_serial(reader: &mut Reader<'_>) -> Result<TokenSerial, InvalidRecord> {
    let text = reader.text()?;
    let serial = TokenSerial::new(text).filter(|serial| serial.as_str() == text);
    serial.ok_or(InvalidRecord::Value("no token's serial number"))
}
