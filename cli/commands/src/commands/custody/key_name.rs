//! Names of keys on the command line, with or without a version.

use core::fmt;
use core::str::FromStr;

use pq_keystore::{InvalidName, KeyId, KeyName, Version};

use crate::failure::{DoorFailure, Failure, StoreFailure};

/// What a key is called.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(in crate::commands) enum KeyLabel {
    /// In a store that is opened here.
    InStore(KeyName),
    /// Behind a door, whose mount stands for tenant and purpose.
    AtDoor(Box<str>),
}

impl KeyLabel {
    /// A key behind a door.
    pub(in crate::commands) fn behind_door(name: &str) -> Result<Self, InvalidName> {
        // It is the last part of a key's name.
        KeyName::new("x", "x", name)?;
        Ok(Self::AtDoor(name.into()))
    }

    /// The key in a store that is opened here.
    pub(in crate::commands) fn in_store(&self) -> Result<&KeyName, Failure> {
        match self {
            Self::InStore(name) => Ok(name),
            Self::AtDoor(_) => Err(StoreFailure::KeyName(InvalidName::Parts).into()),
        }
    }

    /// The key behind a door.
    pub(in crate::commands) fn at_door(&self) -> Result<&str, Failure> {
        match self {
            Self::AtDoor(name) => Ok(name),
            Self::InStore(name) => Err(DoorFailure::FullName(name.clone()).into()),
        }
    }

    pub(in crate::commands) fn at(&self, version: Version) -> KeyVersion {
        KeyVersion {
            key: self.clone(),
            version,
        }
    }
}

impl FromStr for KeyLabel {
    type Err = InvalidName;

    fn from_str(text: &str) -> Result<Self, InvalidName> {
        match text.contains('/') {
            true => text.parse().map(Self::InStore),
            false => Self::behind_door(text),
        }
    }
}

impl fmt::Display for KeyLabel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::InStore(name) => name.fmt(f),
            Self::AtDoor(name) => name.fmt(f),
        }
    }
}

/// One version of a key.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(in crate::commands) struct KeyVersion {
    pub(in crate::commands) key: KeyLabel,
    pub(in crate::commands) version: Version,
}

impl From<KeyId> for KeyVersion {
    fn from(id: KeyId) -> Self {
        KeyLabel::InStore(id.name().clone()).at(id.version())
    }
}

impl FromStr for KeyVersion {
    type Err = InvalidName;

    fn from_str(text: &str) -> Result<Self, InvalidName> {
        match text.split_once('#') {
            Some((name, version)) if !name.contains('/') => {
                Ok(KeyLabel::behind_door(name)?.at(version.parse()?))
            }
            _ => text.parse().map(|id: KeyId| id.into()),
        }
    }
}

impl fmt::Display for KeyVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}#{}", self.key, self.version)
    }
}

/// A key, or one version of it.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(in crate::commands) struct KeyOrVersion {
    pub(in crate::commands) name: KeyLabel,
    pub(in crate::commands) version: Option<Version>,
}

impl FromStr for KeyOrVersion {
    type Err = InvalidName;

    fn from_str(text: &str) -> Result<Self, InvalidName> {
        match text.contains('#') {
            true => {
                let KeyVersion { key, version } = text.parse()?;
                Ok(Self {
                    name: key,
                    version: Some(version),
                })
            }
            false => Ok(Self {
                name: text.parse()?,
                version: None,
            }),
        }
    }
}

impl fmt::Display for KeyOrVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.name.fmt(f)?;
        match self.version {
            Some(version) => write!(f, "#{version}"),
            None => Ok(()),
        }
    }
}
