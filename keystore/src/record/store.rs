//! The record of the store: what it is, who may do what in it, and its keys.

use alloc::collections::BTreeMap;
use core::fmt;
use core::str::FromStr;

use crate::encoding::{InvalidRecord, Reader, Writer};
use crate::name::{KeyName, MAX_PART_LEN};
use crate::policy::{Grants, MAX_GRANTS, Principal, Verb, Verbs};

const FORMAT: u8 = 1;

/// Which keys a grant of the store is for: `*`, `tenant/*` or `tenant/purpose/*`.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub struct Scope {
    /// The tenant with its slash, also the purpose, or nothing.
    prefix: Box<str>,
}

impl Scope {
    /// All keys.
    pub fn all() -> Self {
        Self { prefix: "".into() }
    }

    /// Whether a key is one of these.
    pub fn contains(&self, name: &KeyName) -> bool {
        let parts = [name.tenant(), name.purpose()];
        let mut rest = &*self.prefix;
        for part in parts {
            if rest.is_empty() {
                return true;
            }
            let Some(after) = rest
                .strip_prefix(part)
                .and_then(|rest| rest.strip_prefix('/'))
            else {
                return false;
            };
            rest = after;
        }
        rest.is_empty()
    }
}

impl fmt::Display for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}*", self.prefix)
    }
}

impl FromStr for Scope {
    type Err = UnknownScope;

    fn from_str(text: &str) -> Result<Self, UnknownScope> {
        let prefix = text.strip_suffix('*').ok_or(UnknownScope)?;
        // What a key's name begins with is one if the rest is made up.
        let made_up = match prefix.matches('/').count() {
            0 => prefix.is_empty(),
            1 => prefix.ends_with('/') && format!("{prefix}x/x").parse::<KeyName>().is_ok(),
            2 => prefix.ends_with('/') && format!("{prefix}x").parse::<KeyName>().is_ok(),
            _ => false,
        };
        match made_up {
            true => Ok(Self {
                prefix: prefix.into(),
            }),
            false => Err(UnknownScope),
        }
    }
}

/// A text that is no [`Scope`].
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[error(
    "a scope is \"*\", \"tenant/*\" or \"tenant/purpose/*\", whose parts have at most {MAX_PART_LEN} characters"
)]
pub struct UnknownScope;

/// Who may do what in a store, with which keys. It adds to what each key's policy grants.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct StoreGrants(BTreeMap<Scope, Grants>);

impl StoreGrants {
    /// Nothing for nobody.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds verbs of a principal, with the keys in a scope. [`Verb::Audit`] and [`Verb::Administer`] count only with
    /// [all keys](Scope::all).
    pub fn grant(mut self, scope: &Scope, principal: &Principal, verbs: impl Into<Verbs>) -> Self {
        let grants = self.0.entry(scope.clone()).or_default();
        *grants = core::mem::take(grants).grant(principal, verbs);
        self
    }

    /// The same for every principal.
    pub fn grant_anyone(mut self, scope: &Scope, verbs: impl Into<Verbs>) -> Self {
        let grants = self.0.entry(scope.clone()).or_default();
        *grants = core::mem::take(grants).grant_anyone(verbs);
        self
    }

    /// Has these grants be those of a scope.
    pub(super) fn insert(&mut self, scope: Scope, grants: Grants) {
        self.0.insert(scope, grants);
    }

    /// The grants of each scope.
    pub fn scopes(&self) -> impl ExactSizeIterator<Item = (&Scope, &Grants)> {
        self.0.iter()
    }

    /// Whether a principal has a verb with a key.
    pub fn permits(&self, principal: &Principal, verb: Verb, name: &KeyName) -> bool {
        let mut scopes = self.0.iter().filter(|(scope, _)| scope.contains(name));
        scopes.any(|(_, grants)| grants.permits(principal, verb))
    }

    /// Whether a principal has any verb with a key.
    pub(crate) fn permits_anything(&self, principal: &Principal, name: &KeyName) -> bool {
        let mut scopes = self.0.iter().filter(|(scope, _)| scope.contains(name));
        scopes.any(|(_, grants)| grants.permits_anything(principal))
    }

    /// Whether a principal has a verb with some keys.
    #[cfg(feature = "door")]
    pub(crate) fn permits_some(&self, principal: &Principal, verb: Verb) -> bool {
        let mut all = self.0.values();
        all.any(|grants| grants.permits(principal, verb))
    }

    /// Whether a principal has a verb with all keys.
    pub fn permits_all(&self, principal: &Principal, verb: Verb) -> bool {
        let grants = self.0.get(&Scope::all());
        grants.is_some_and(|grants| grants.permits(principal, verb))
    }

    /// Whether nothing is wrong with them: at most 128 grants altogether.
    pub(crate) fn is_short(&self) -> bool {
        let counts = self
            .0
            .values()
            .map(|grants| grants.principals().len().max(1));
        counts.sum::<usize>() <= MAX_GRANTS
    }
}

/// The store.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct StoreRecord {
    /// How often it was written. The index has the same number.
    pub(crate) serial: u64,
    /// How often the row of the wrapped key was written. So an older one, under a KEK of before, doesn't belong to it.
    pub(crate) kek: u64,
    /// Random, so that rows of one store are not rows of another.
    pub(crate) id: [u8; 16],
    /// When it was created, in milliseconds since 1970.
    pub(crate) created: u64,
    pub(crate) grants: StoreGrants,
    /// The public key that verifies attestations and heads of the log, as SubjectPublicKeyInfo.
    pub(crate) spki: Vec<u8>,
    /// The seed of its private key, sealed.
    pub(crate) sealed: Vec<u8>,
}

impl StoreRecord {
    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut writer = Writer::of_format(FORMAT);
        writer
            .u64(self.serial)
            .u64(self.kek)
            .array(&self.id)
            .u64(self.created);
        writer.u32(u32::try_from(self.grants.0.len()).unwrap_or(u32::MAX));
        for (scope, grants) in &self.grants.0 {
            writer.text(&scope.to_string());
            grants.write(&mut writer);
        }
        writer.bytes(&self.spki).bytes(&self.sealed).finish()
    }

    pub(crate) fn decode(bytes: &[u8]) -> Result<Self, InvalidRecord> {
        let mut reader = Reader::of_format(FORMAT, bytes)?;
        let (serial, kek) = (reader.u64()?, reader.u64()?);
        let (id, created) = (reader.array()?, reader.u64()?);
        let mut grants = StoreGrants::new();
        for _ in 0..reader.u32()? {
            let scope = reader.text()?.parse::<Scope>();
            let scope = scope.map_err(|_| InvalidRecord::Value("no scope of a grant"))?;
            if grants
                .0
                .last_key_value()
                .is_some_and(|(last, _)| *last >= scope)
            {
                return Err(InvalidRecord::Value("scopes are out of order"));
            }
            grants.0.insert(scope, Grants::read(&mut reader)?);
            if !grants.is_short() {
                return Err(InvalidRecord::Value("there are too many grants"));
            }
        }
        let (spki, sealed) = (reader.bytes()?.into(), reader.bytes()?.into());
        reader.finish()?;
        Ok(Self {
            serial,
            kek,
            id,
            created,
            grants,
            spki,
            sealed,
        })
    }
}
