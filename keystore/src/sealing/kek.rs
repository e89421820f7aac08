//! The key that wraps the store's key, and the row in which the wrapped key stands.

use core::error::Error;
use std::path::PathBuf;

use sha2::{Digest, Sha256};
use zeroize::Zeroizing;

use super::{KEY_LEN, cipher};
use crate::encoding::{InvalidRecord, Reader, Writer};

const FORMAT: u8 = 1;

/// How much of a file is read: more than a key has in any form.
pub(super) const MOST_READ: usize = 4 * KEY_LEN;

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
    /// The store is under another key of this kind.
    #[error("{kind}: the store is sealed under {found}, not under {given}")]
    Other {
        /// The kind of the key.
        kind: &'static str,
        /// What the store says it is under.
        found: String,
        /// What was given.
        given: String,
    },
    /// The server that has the key did not use it.
    #[error("{kind}: {error}")]
    Server {
        /// The kind of the key.
        kind: &'static str,
        /// Whose turn it is.
        problem: KekServerProblem,
        /// What happened.
        error: Box<dyn Error + Send + Sync>,
    },
    /// What is needed to unwrap can't be read, or asks for too much.
    #[error("{kind}: {reason}")]
    Parameters {
        /// The kind of the key.
        kind: &'static str,
        /// What is wrong.
        reason: String,
    },
    /// A file has another length than a key.
    #[error(
        "{kind}: {} has {}, and a key has {KEY_LEN} bytes",
        .file.display(),
        match .form {
            Some(form) => form.to_string(),
            None if *len < MOST_READ => format!("{len} bytes"),
            None => format!("{len} bytes or more"),
        }
    )]
    Length {
        /// The kind of the key.
        kind: &'static str,
        /// The file.
        file: PathBuf,
        /// How many bytes it has, counted up to 128.
        len: usize,
        /// What of a key it may be.
        form: Option<KekForm>,
    },
    /// All bytes of a key that is to wrap are the same, so it was not made at random.
    #[error("{kind}: all {KEY_LEN} bytes of the key are the same, so anybody can guess it")]
    Guessable {
        /// The kind of the key.
        kind: &'static str,
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

impl KekError {
    /// A stable name for the error.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Kind { .. } | Self::Wrong { .. } | Self::Other { .. } => "wrong-kek",
            Self::Server { problem, .. } => problem.code(),
            Self::Parameters { .. }
            | Self::Length { .. }
            | Self::Guessable { .. }
            | Self::NotAvailable { .. } => "kek",
        }
    }

    /// Whether trying the same again helps.
    pub fn retry(&self) -> bool {
        match self {
            Self::Server { problem, .. } => matches!(problem, KekServerProblem::Away),
            _ => false,
        }
    }
}

/// Why a server that has a key did not use it.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum KekServerProblem {
    /// It isn't reached, is sealed, has too much to do, or has failed: trying the same again helps, once it is back.
    Away,
    /// It is not the server that it should be, or TLS with it fails.
    Tls,
    /// It doesn't accept the token, or that doesn't permit this.
    Token,
    /// It has no such key, or not the version that wrapped.
    NoKey,
    /// The key is one that wraps no key of a store.
    Unfit,
    /// Its answer is not understood, or can't be right.
    Answer,
    /// It refuses for another reason.
    Refused,
}

impl KekServerProblem {
    /// A stable name for the problem.
    pub fn code(self) -> &'static str {
        match self {
            Self::Away => "kek-away",
            Self::Tls => "kek-tls",
            Self::Token => "kek-token",
            Self::NoKey => "kek-missing",
            Self::Unfit => "kek-unfit",
            Self::Answer => "kek-answer",
            Self::Refused => "kek-refused",
        }
    }
}

/// What became of a key in a file with another length: the key is still there.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum KekForm {
    /// A line end follows it, which programs for texts write.
    #[error("a line end after {KEY_LEN} bytes")]
    LineEnd,
    /// In hexadecimal.
    #[error("{} hexadecimal digits", 2 * KEY_LEN)]
    Hexadecimal,
    /// In base64.
    #[error("the base64 of {KEY_LEN} bytes")]
    Base64,
}

impl KekForm {
    /// What contents are that have another length.
    pub(super) fn of(contents: &[u8]) -> Option<Self> {
        const BASE64_LEN: usize = KEY_LEN.div_ceil(3) * 4;
        let text = contents.trim_ascii();
        let is_base64 = || {
            let digits = text.strip_suffix(b"=").unwrap_or(text);
            let is_digit = |byte: &u8| byte.is_ascii_alphanumeric() || b"+/-_".contains(byte);
            digits.len() == BASE64_LEN - 1 && digits.iter().all(is_digit)
        };
        match contents.get(KEY_LEN..) {
            Some(b"\n" | b"\r\n") => Some(Self::LineEnd),
            _ if text.len() == 2 * KEY_LEN && text.iter().all(u8::is_ascii_hexdigit) => {
                Some(Self::Hexadecimal)
            }
            _ if is_base64() => Some(Self::Base64),
            _ => None,
        }
    }
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
