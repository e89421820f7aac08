//! Values on the command line: keys with or without a version, and grants.

use core::fmt;
use core::str::FromStr;

use pq_keystore::policy::{Grants, InvalidPrincipal, Principal, Verbs};
use pq_keystore::{InvalidName, KeyId, KeyName, Version};

/// A key, or one version of it.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) struct KeyOrVersion {
    pub(super) name: KeyName,
    pub(super) version: Option<Version>,
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

/// What a new key's policy grants to somebody: `NAME=VERB,…`, where a role stands for its verbs, and `*` for everybody.
#[derive(Clone, Debug)]
pub(super) struct Grant {
    principal: Option<Principal>,
    verbs: Verbs,
}

impl Grant {
    pub(super) fn add_to(&self, grants: Grants) -> Grants {
        match &self.principal {
            Some(principal) => grants.grant(principal, self.verbs),
            None => grants.grant_anyone(self.verbs),
        }
    }
}

impl FromStr for Grant {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (name, verbs) = text
            .rsplit_once('=')
            .ok_or("write who may do what, such as ci=sign,verify or \"*=public\"")?;
        let principal = match name {
            "*" => None,
            name => {
                let named: Result<_, InvalidPrincipal> = name.parse();
                Some(named.map_err(|error| error.to_string())?)
            }
        };
        let mut all = Verbs::NONE;
        for name in verbs.split(',') {
            let named: Verbs = name.parse().map_err(|error| format!("{error}"))?;
            // A role grants what of it a key can grant; of a verb that it can't, the store says so.
            let is_verb = named.iter().count() == 1;
            let of_key = named.iter().filter(|verb| Verbs::of_keys().contains(*verb));
            all = all | if is_verb { named } else { of_key.collect() };
        }
        Ok(Self {
            principal,
            verbs: all,
        })
    }
}
