//! Which verbs each principal has.

use alloc::collections::BTreeMap;

use super::principal::Principal;
use super::verb::{Verb, Verbs};
use crate::encoding::{InvalidRecord, Reader, Writer};

/// The most principals that one policy names.
pub const MAX_GRANTS: usize = 128;

/// Which verbs each principal has. What is not granted is refused.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Grants {
    anyone: Verbs,
    principals: BTreeMap<Principal, Verbs>,
}

impl Grants {
    /// Nothing for nobody.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds verbs to those of a principal.
    pub fn grant(mut self, principal: &Principal, verbs: impl Into<Verbs>) -> Self {
        let has = self.principals.entry(principal.clone()).or_default();
        *has = *has | verbs.into();
        self
    }

    /// Adds verbs that every principal has.
    pub fn grant_anyone(mut self, verbs: impl Into<Verbs>) -> Self {
        self.anyone = self.anyone | verbs.into();
        self
    }

    /// Whether a principal has a verb.
    pub fn permits(&self, principal: &Principal, verb: Verb) -> bool {
        let own = self.principals.get(principal);
        self.anyone.contains(verb) || own.is_some_and(|verbs| verbs.contains(verb))
    }

    /// Whether a principal has any verb.
    pub(crate) fn permits_anything(&self, principal: &Principal) -> bool {
        let own = self.principals.get(principal);
        self.anyone != Verbs::NONE || own.is_some_and(|verbs| *verbs != Verbs::NONE)
    }

    /// What everybody has.
    pub fn anyone(&self) -> Verbs {
        self.anyone
    }

    /// What the principals have that are named, ordered by name.
    pub fn principals(&self) -> impl ExactSizeIterator<Item = (&Principal, Verbs)> {
        self.principals
            .iter()
            .map(|(principal, verbs)| (principal, *verbs))
    }

    /// All verbs that somebody has.
    pub(crate) fn union(&self) -> Verbs {
        let verbs = self.principals.values().copied();
        verbs.fold(self.anyone, |all, verbs| all | verbs)
    }

    pub(crate) fn write(&self, writer: &mut Writer) {
        writer.u32(self.anyone.to_bits());
        // A policy with more than MAX_GRANTS is refused before it is written.
        writer.u32(u32::try_from(self.principals.len()).unwrap_or(u32::MAX));
        for (principal, verbs) in &self.principals {
            writer.text(principal.as_str()).u32(verbs.to_bits());
        }
    }

    pub(crate) fn read(reader: &mut Reader<'_>) -> Result<Self, InvalidRecord> {
        let verbs = |bits| Verbs::from_bits(bits).ok_or(InvalidRecord::Value("no such verb"));
        let mut grants = Self {
            anyone: verbs(reader.u32()?)?,
            principals: BTreeMap::new(),
        };
        for _ in 0..reader.u32()? {
            let name = Principal::new(reader.text()?);
            let name = name.map_err(|_| InvalidRecord::Value("no principal's name"))?;
            let last = grants.principals.last_key_value();
            if last.is_some_and(|(last, _)| *last >= name) {
                return Err(InvalidRecord::Value("principals are out of order"));
            }
            if grants.principals.len() == MAX_GRANTS {
                return Err(InvalidRecord::Value("there are too many principals"));
            }
            grants.principals.insert(name, verbs(reader.u32()?)?);
        }
        Ok(grants)
    }
}
