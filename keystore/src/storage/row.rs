//! Rows and what they are called.

use core::borrow::Borrow;
use core::fmt;
use core::str::FromStr;

use super::LogHead;
use crate::name::{KeyId, KeyName};

/// The most characters of a row's key.
const MAX_LEN: usize = 255;

/// The key of a row: visible ASCII, at most 255 characters. Keys are ordered as bytes.
///
/// | key | row |
/// |---|---|
/// | `kek` | the key of the store, under the operator's key |
/// | `store` | what the store is, and who may do what in it |
/// | `clock` | the latest time that the store knows |
/// | `wrapping` | the key under which imported keys are wrapped, once somebody asked for it |
/// | `index/3f` | how often rows were written; a row belongs to one of 128 |
/// | `key/tenant/purpose/name` | a key's algorithm, policy and newest version |
/// | `version/tenant/purpose/name#0000000012` | a version, its number as ten digits |
#[derive(Clone, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct RowKey(Box<str>);

impl RowKey {
    /// The row that says what the store is.
    pub fn store() -> Self {
        Self("store".into())
    }

    /// The row that has the store's key under the operator's.
    pub fn kek() -> Self {
        Self("kek".into())
    }

    /// The row that has the latest time that the store knows.
    pub fn clock() -> Self {
        Self("clock".into())
    }

    /// The row that has the key under which imported keys are wrapped.
    pub fn wrapping() -> Self {
        Self("wrapping".into())
    }

    /// A row of the index.
    pub fn index(bucket: u8) -> Self {
        Self(format!("index/{bucket:02x}").into())
    }

    /// The row of a key.
    pub fn key(name: &KeyName) -> Self {
        Self(format!("key/{name}").into())
    }

    /// The row of a version of a key.
    pub fn version(id: &KeyId) -> Self {
        let (name, version) = (id.name(), id.version().get());
        Self(format!("version/{name}#{version:010}").into())
    }

    /// The key as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Borrow<str> for RowKey {
    fn borrow(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for RowKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl FromStr for RowKey {
    type Err = InvalidRowKey;

    /// Takes what a storage has read.
    fn from_str(text: &str) -> Result<Self, InvalidRowKey> {
        let is_visible = text.bytes().all(|byte| byte.is_ascii_graphic());
        if text.is_empty() || text.len() > MAX_LEN || !is_visible {
            return Err(InvalidRowKey);
        }
        Ok(Self(text.into()))
    }
}

/// What a storage has is no [`RowKey`].
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[error("the key of a row has 1 to {MAX_LEN} characters of visible ASCII")]
pub struct InvalidRowKey;

/// What the keys of several rows begin with.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct RowPrefix(Box<str>);

impl RowPrefix {
    /// All rows.
    pub fn all() -> Self {
        Self("".into())
    }

    /// The rows of all keys.
    pub fn keys() -> Self {
        Self("key/".into())
    }

    /// The rows of a tenant's keys. No key is found if `tenant` can't be part of a name.
    pub fn keys_of_tenant(tenant: &str) -> Self {
        Self(format!("key/{tenant}/").into())
    }

    /// The rows of a key's versions, which are in the order of their numbers.
    pub fn versions(name: &KeyName) -> Self {
        Self(format!("version/{name}#").into())
    }

    /// The prefix as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether a key begins with it.
    pub fn matches(&self, key: &RowKey) -> bool {
        key.0.starts_with(&*self.0)
    }
}

/// A row as it was found.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Row {
    /// The revision of the commit that wrote it.
    pub revision: u64,
    /// What it says.
    pub value: Vec<u8>,
}

/// What a storage had at one moment.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Snapshot {
    /// The rows that were asked for, in that order; `None` for those that don't exist.
    pub rows: Vec<Option<Row>>,
    /// The end of the log.
    pub head: LogHead,
    /// The number of commits so far.
    pub revision: u64,
}

/// Some of the rows with a prefix.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Page {
    /// The rows, ordered by key.
    pub rows: Vec<(RowKey, Row)>,
    /// Whether there are more after these.
    pub more: bool,
}
