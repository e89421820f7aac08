//! Names of keys on the command line, with or without a version.

use core::fmt;
use core::str::FromStr;

use pq_keystore::{InvalidName, KeyId, KeyName, Version};

/// A key, or one version of it.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(in crate::commands) struct KeyOrVersion {
    pub(in crate::commands) name: KeyName,
    pub(in crate::commands) version: Option<Version>,
}

impl FromStr for KeyOrVersion {
    type Err = InvalidName;

    fn from_str(text: &str) -> Result<Self, InvalidName> {
        match text.contains('#') {
            true => {
                let id: KeyId = text.parse()?;
                Ok(Self {
                    name: id.name().clone(),
                    version: Some(id.version()),
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
        match self.version {
            Some(version) => self.name.at(version).fmt(f),
            None => self.name.fmt(f),
        }
    }
}
