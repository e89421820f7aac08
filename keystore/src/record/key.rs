//! The record of a key: its algorithm, its policy, and the state of each version.
//!
//! States stand here and not in the rows of versions, which stay as they were made until they are destroyed. So an older
//! row of a version can't bring back an older state, and disabling a version writes no public key.

use core::time::Duration;

use pq_keys::any::AnyAlgorithm;

use super::{read_algorithm, read_token};
use crate::custody::TokenName;
use crate::encoding::{InvalidRecord, Reader, Writer};
use crate::name::Version;
use crate::policy::{Policy, Principal, Verb};

/// The most versions of a key that are kept. Older ones can be removed.
pub(crate) const MAX_VERSIONS: usize = 4_096;

/// How far the clocks of those who rotate keys may be apart.
const CLOCKS_APART: Duration = Duration::from_secs(60 * 60);

const FORMAT: u8 = 1;

/// With the token in which new versions are made.
const FORMAT_WITH_TOKEN: u8 = 2;

/// The state of a version of a key, named as in Google's and AWS's key management services.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum VersionState {
    /// It is used for everything.
    Enabled,
    /// It is used for nothing, until it is enabled.
    Disabled,
    /// Its private key is used for nothing, and may be erased from this time on.
    DestroyScheduled {
        /// The time, in milliseconds since 1970.
        at: u64,
        /// Whether its signatures verify, which they do if it was enabled before.
        verifies: bool,
    },
    /// Its private key was erased. Its public key is kept.
    Destroyed {
        /// Whether its signatures verify, which they do if it was enabled before, and until it is disabled.
        verifies: bool,
    },
}

impl VersionState {
    /// Whether signatures by it are verified.
    pub fn verifies(self) -> bool {
        match self {
            Self::Enabled => true,
            Self::Disabled => false,
            Self::DestroyScheduled { verifies, .. } | Self::Destroyed { verifies } => verifies,
        }
    }

    /// Whether nothing of the version is of use any more: it was destroyed, and verifies nothing.
    pub(crate) fn is_gone(self) -> bool {
        self == Self::Destroyed { verifies: false }
    }

    /// Whether there is a private key.
    pub(crate) fn has_private_key(self) -> bool {
        !matches!(self, Self::Destroyed { .. })
    }

    /// The name, such as `destroy-scheduled`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Enabled => "enabled",
            Self::Disabled => "disabled",
            Self::DestroyScheduled { .. } => "destroy-scheduled",
            Self::Destroyed { .. } => "destroyed",
        }
    }

    pub(crate) fn write(self, writer: &mut Writer) {
        match self {
            Self::Enabled => writer.u8(0),
            Self::Disabled => writer.u8(1),
            Self::DestroyScheduled { at, verifies } => writer.u8(2).u64(at).bool(verifies),
            Self::Destroyed { verifies } => writer.u8(3).bool(verifies),
        };
    }

    pub(crate) fn read(reader: &mut Reader<'_>) -> Result<Self, InvalidRecord> {
        Ok(match reader.u8()? {
            0 => Self::Enabled,
            1 => Self::Disabled,
            2 => Self::DestroyScheduled {
                at: reader.u64()?,
                verifies: reader.bool()?,
            },
            3 => Self::Destroyed {
                verifies: reader.bool()?,
            },
            _ => return Err(InvalidRecord::Value("no such state of a version")),
        })
    }
}

/// Where the private key of a version was made.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum Origin {
    /// In the store.
    Generated,
    /// Elsewhere.
    Imported,
}

impl Origin {
    /// The name: `generated` or `imported`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Generated => "generated",
            Self::Imported => "imported",
        }
    }

    pub(crate) fn write(self, writer: &mut Writer) {
        writer.bool(self == Self::Imported);
    }

    pub(crate) fn read(reader: &mut Reader<'_>) -> Result<Self, InvalidRecord> {
        Ok(match reader.bool()? {
            false => Self::Generated,
            true => Self::Imported,
        })
    }
}

/// A key.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct KeyRecord {
    /// How often it was written. The index has the same number.
    pub(crate) serial: u64,
    pub(crate) algorithm: AnyAlgorithm,
    pub(crate) policy: Policy,
    /// When it was created, in milliseconds since 1970.
    pub(crate) created: u64,
    /// When its newest version was made.
    pub(crate) rotated: u64,
    /// The first version that is kept.
    pub(crate) first: Version,
    /// The states of that version and all after it; there is at least one.
    pub(crate) states: Vec<VersionState>,
    /// In which token new versions are made, if in any.
    pub(crate) token: Option<TokenName>,
}

impl KeyRecord {
    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut writer = Writer::of_format(match self.token {
            None => FORMAT,
            Some(_) => FORMAT_WITH_TOKEN,
        });
        writer.u64(self.serial).text(self.algorithm.name());
        self.policy.write(&mut writer);
        writer
            .u64(self.created)
            .u64(self.rotated)
            .u32(self.first.get())
            .u32(u32::try_from(self.states.len()).unwrap_or(u32::MAX));
        for state in &self.states {
            state.write(&mut writer);
        }
        if let Some(token) = &self.token {
            writer.text(token.as_str());
        }
        writer.finish()
    }

    pub(crate) fn decode(bytes: &[u8]) -> Result<Self, InvalidRecord> {
        let (mut reader, format) = Reader::of_formats(&[FORMAT, FORMAT_WITH_TOKEN], bytes)?;
        let serial = reader.u64()?;
        let algorithm = read_algorithm(&mut reader)?;
        let policy = Policy::read(&mut reader)?;
        let (created, rotated) = (reader.u64()?, reader.u64()?);
        let first = Version::new(reader.u32()?).ok_or(InvalidRecord::Value("a version is 0"))?;
        let count = reader.u32()?;
        let is_possible = (1..=MAX_VERSIONS as u32).contains(&count)
            && first.get().checked_add(count - 1).is_some();
        if !is_possible {
            return Err(InvalidRecord::Value("no such number of versions"));
        }
        let states = (0..count)
            .map(|_| VersionState::read(&mut reader))
            .collect::<Result<_, _>>()?;
        let token = match format {
            FORMAT_WITH_TOKEN => Some(read_token(&mut reader)?),
            _ => None,
        };
        reader.finish()?;
        Ok(Self {
            serial,
            algorithm,
            policy,
            created,
            rotated,
            first,
            states,
            token,
        })
    }

    /// Whether the key itself lets a principal do something.
    pub(crate) fn permits(&self, principal: &Principal, verb: Verb) -> bool {
        let is_auto = verb == Verb::Rotate && principal.is_auto_rotate();
        self.policy.grants.permits(principal, verb) || is_auto && self.policy.rotate_after.is_some()
    }

    /// Whether the key was deleted: nothing of any version is of use any more. Then none follows, since names of versions are
    /// not used again.
    pub(crate) fn is_deleted(&self) -> bool {
        self.states.iter().all(|state| state.is_gone())
    }

    /// The number of the next version, unless there are as many as a key may have.
    pub(crate) fn next_version(&self) -> Option<Version> {
        let next = self.newest().next();
        next.filter(|_| self.states.len() < MAX_VERSIONS)
    }

    /// Whether the newest version is older than the policy wants, or its age isn't known, as it was made by a clock that was
    /// ahead. A key none of whose versions is enabled is not to be used, and so is never due.
    pub(crate) fn is_due(&self, now: u64) -> bool {
        if !self.states.contains(&VersionState::Enabled) {
            return false;
        }
        let age = Duration::from_millis(now.saturating_sub(self.rotated));
        let ahead = Duration::from_millis(self.rotated.saturating_sub(now));
        let limit = self.policy.rotate_after;
        limit.is_some_and(|limit| age >= limit || ahead > CLOCKS_APART)
    }

    /// The versions that are kept, the newest first.
    pub(crate) fn newest_first(&self) -> impl Iterator<Item = (Version, VersionState)> {
        let states = self.states.iter().enumerate().rev();
        states.filter_map(|(position, state)| {
            let position = u32::try_from(position).ok()?;
            let version = Version::new(self.first.get().checked_add(position)?)?;
            Some((version, *state))
        })
    }

    /// The newest version.
    pub(crate) fn newest(&self) -> Version {
        // Reading and rotating see to it that there is one, and that its number is one.
        let after_first = u32::try_from(self.states.len().saturating_sub(1)).unwrap_or(u32::MAX);
        Version::new(self.first.get().saturating_add(after_first)).unwrap_or(self.first)
    }

    /// The newest version that is enabled.
    pub(crate) fn newest_enabled(&self) -> Option<Version> {
        let last = self
            .states
            .iter()
            .rposition(|state| *state == VersionState::Enabled)?;
        Version::new(self.first.get().checked_add(u32::try_from(last).ok()?)?)
    }

    fn position(&self, version: Version) -> Option<usize> {
        usize::try_from(version.get().checked_sub(self.first.get())?).ok()
    }

    /// The state of a version, or `None` if it never existed or was removed.
    pub(crate) fn state(&self, version: Version) -> Option<VersionState> {
        self.states.get(self.position(version)?).copied()
    }

    /// The state of a version, to be changed.
    pub(crate) fn state_mut(&mut self, version: Version) -> Option<&mut VersionState> {
        let position = self.position(version)?;
        self.states.get_mut(position)
    }
}
