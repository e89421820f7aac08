//! The key that wraps the store's key, and the row in which the wrapped key stands.

use core::error::Error;

use sha2::{Digest, Sha256};
use zeroize::Zeroizing;

use super::{KEY_LEN, cipher};
use crate::encoding::{InvalidRecord, Reader, Writer};

const FORMAT: u8 = 1;

/// The most characters of a kind of key.
const MAX_KIND: usize = 32;

/// The most bytes of each part of a wrapped key.
const MAX_PART: usize = 8 * 1024;

/// The operator's key, which wraps the store's key: from a passphrase, a file, a credential of systemd, or elsewhere, such
/// as a token or another key management service.
pub trait Kek: Send + Sync {
    /// What wraps, in a word such as `passphrase`: at most 32 characters. It stands in the store.
    fn kind(&self) -> &'static str;

    /// Wraps the store's key. `bound` is additional data, which unwrapping has to be given again.
    ///
    /// # Errors
    ///
    /// If it can't wrap.
    fn wrap(&self, store_key: &[u8; KEY_LEN], bound: &[u8]) -> Result<WrappedKey, KekError>;

    /// Unwraps the store's key.
    ///
    /// # Errors
    ///
    /// [`KekError::Wrong`] if it was wrapped by another key, or bound to other data.
    fn unwrap(
        &self,
        wrapped: &WrappedKey,
        bound: &[u8],
    ) -> Result<Zeroizing<[u8; KEY_LEN]>, KekError>;
}

/// A wrapped key, and what unwrapping needs to know: at most 8 KiB each.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct WrappedKey {
    /// What isn't secret, such as a salt and the cost of a passphrase.
    pub parameters: Vec<u8>,
    /// The key, encrypted.
    pub ciphertext: Vec<u8>,
}

/// Why the store's key was not wrapped or unwrapped.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum KekError {
    /// The store is under another kind of key.
    #[error("the store is sealed under a key of another kind, {found:?}; give this one")]
    Kind {
        /// What kind it is.
        found: String,
    },
    /// The key doesn't unwrap.
    #[error("{kind}: it is not what the store is sealed under")]
    Wrong {
        /// The kind of the key.
        kind: &'static str,
    },
    /// What is needed to unwrap can't be read, or asks for too much.
    #[error("{kind}: {reason}")]
    Parameters {
        /// The kind of the key.
        kind: &'static str,
        /// What is wrong.
        reason: String,
    },
    /// The key can't be read or reached.
    #[error("{kind}: {error}")]
    NotAvailable {
        /// The kind of the key.
        kind: &'static str,
        /// Why.
        error: Box<dyn Error + Send + Sync>,
    },
}

/// The row of the wrapped key. It is read before the store's key is known, so it has no MAC: the KEK's own
/// authentication covers what it is bound to. The checksum tells a damaged row from a wrong key.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct KekRecord {
    /// How often it was written. The index has the same number.
    pub(crate) serial: u64,
    /// The number of the store.
    pub(crate) store: [u8; 16],
    pub(crate) kind: String,
    pub(crate) wrapped: WrappedKey,
}

impl KekRecord {
    /// Wraps the store's key.
    pub(crate) fn wrap(
        kek: &dyn Kek,
        serial: u64,
        store: [u8; 16],
        store_key: &[u8; KEY_LEN],
    ) -> Result<Self, KekError> {
        let kind = kek.kind();
        let wrapped = kek.wrap(store_key, &bound(serial, store, kind))?;
        if kind.len() > MAX_KIND
            || wrapped.parameters.len() > MAX_PART
            || wrapped.ciphertext.len() > MAX_PART
        {
            let reason = "the wrapped key is too long".into();
            return Err(KekError::Parameters { kind, reason });
        }
        Ok(Self {
            serial,
            store,
            kind: kind.into(),
            wrapped,
        })
    }

    /// Unwraps the store's key.
    pub(crate) fn unwrap(&self, kek: &dyn Kek) -> Result<Zeroizing<[u8; KEY_LEN]>, KekError> {
        if self.kind != kek.kind() {
            return Err(KekError::Kind {
                found: self.kind.clone(),
            });
        }
        kek.unwrap(&self.wrapped, &bound(self.serial, self.store, &self.kind))
    }

    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut record = Writer::of_format(FORMAT)
            .u64(self.serial)
            .array(&self.store)
            .text(&self.kind)
            .bytes(&self.wrapped.parameters)
            .bytes(&self.wrapped.ciphertext)
            .finish();
        let checksum = Sha256::digest(&record);
        record.extend_from_slice(&checksum);
        record
    }

    pub(crate) fn decode(value: &[u8]) -> Result<Self, InvalidRecord> {
        let (record, checksum) = value
            .split_last_chunk::<32>()
            .ok_or(InvalidRecord::CutShort)?;
        let mut reader = Reader::of_format(FORMAT, record)?;
        if Sha256::digest(record).as_slice() != checksum {
            return Err(InvalidRecord::Value("its checksum is another"));
        }
        let (serial, store) = (reader.u64()?, reader.array()?);
        let kind = reader.text()?;
        if kind.len() > MAX_KIND {
            return Err(InvalidRecord::Value("the kind of its key is too long"));
        }
        let (parameters, ciphertext) = (reader.bytes()?, reader.bytes()?);
        reader.finish()?;
        if parameters.len() > MAX_PART || ciphertext.len() > MAX_PART {
            return Err(InvalidRecord::Value("the wrapped key is too long"));
        }
        Ok(Self {
            serial,
            store,
            kind: kind.into(),
            wrapped: WrappedKey {
                parameters: parameters.into(),
                ciphertext: ciphertext.into(),
            },
        })
    }
}

/// What the wrapped key is bound to.
fn bound(serial: u64, store: [u8; 16], kind: &str) -> Vec<u8> {
    let mut writer = Writer::of_format(FORMAT);
    writer.u64(serial).array(&store).text(kind).finish()
}

/// Unwraps by a key of 32 bytes.
pub(super) fn open(
    kind: &'static str,
    key: &[u8; KEY_LEN],
    aad: &[u8],
    ciphertext: &[u8],
) -> Result<Zeroizing<[u8; KEY_LEN]>, KekError> {
    let wrong = || KekError::Wrong { kind };
    let text = cipher::open(key, aad, ciphertext).map_err(|_| wrong())?;
    let mut store_key = Zeroizing::new([0; KEY_LEN]);
    if text.len() != KEY_LEN {
        return Err(wrong());
    }
    store_key.copy_from_slice(&text);
    Ok(store_key)
}
