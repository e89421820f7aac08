//! The policy of a key.

use core::time::Duration;

use super::grants::{Grants, MAX_GRANTS};
use super::verb::Verbs;
use crate::encoding::{InvalidRecord, Reader, Writer};
use crate::name::Version;

/// The most that a policy can permit as the longest message: 1 TiB, which every form of a policy can say.
const MAX_MESSAGE: u64 = 1 << 40;

/// What a key may be used for, and by whom.
///
/// The [default](Self::default) grants nothing to anybody, permits messages of 16 MiB and µ, and never lets a private key
/// out. [`from_toml`](Self::from_toml) reads the form of files.
///
/// ```
/// use pq_keystore::policy::{Grants, Policy, Principal, Role};
///
/// let ci = Principal::new("ci")?;
/// let mut policy = Policy::default();
/// policy.grants = Grants::new().grant(&ci, Role::User.verbs());
/// # Ok::<_, pq_keystore::policy::InvalidPrincipal>(())
/// ```
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct Policy {
    /// Who may do what with this key, beside whom the store's grants permit it.
    pub grants: Grants,
    /// The first version that signs, verifies, encapsulates or decapsulates, or is exported. The versions before it are of no
    /// use any more.
    pub min_version: Version,
    /// The first version that signs or encapsulates, if it isn't before `min_version`.
    pub min_signing_version: Version,
    /// How old the newest version may become before the key is due for rotation, in whole seconds; `None` for any age.
    pub rotate_after: Option<Duration>,
    /// Whether private keys may be exported. It is decided when the key is created, and never changes.
    pub exportable: bool,
    /// What is signed.
    pub inputs: Inputs,
    /// The longest message that is signed or verified, in bytes.
    pub max_message: u64,
    /// Whether keys that are in memory are used while the storage can't be reached.
    pub when_away: WhenAway,
    /// How uses stand in the audit log.
    pub audit: UseAudit,
    /// The least time between scheduling a destruction and the destruction, in whole seconds.
    pub destroy_after: Duration,
}

impl Default for Policy {
    fn default() -> Self {
        Self {
            grants: Grants::new(),
            min_version: Version::FIRST,
            min_signing_version: Version::FIRST,
            rotate_after: None,
            exportable: false,
            inputs: Inputs::default(),
            max_message: 16 * 1024 * 1024,
            when_away: WhenAway::UseFor(Duration::from_secs(60)),
            audit: UseAudit::Counted,
            destroy_after: Duration::from_secs(24 * 60 * 60),
        }
    }
}

/// What a key does while the storage can't be reached. What is disabled meanwhile by another process isn't seen.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum WhenAway {
    /// Nothing.
    Refuse,
    /// Keys in memory are used for this long, in whole seconds.
    UseFor(Duration),
}

/// How the uses of a key (sign, verify, encapsulate, decapsulate) stand in the audit log.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum UseAudit {
    /// Each has an entry, which is written before the result is given out. So each use waits for the storage.
    Each,
    /// They are counted by principal and version, and the counts are written every five seconds, and when the store is dropped.
    /// A process that is killed loses the counts of its last five seconds.
    Counted,
}

/// What is signed or verified.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum Input<'a> {
    /// A message, with a context of at most 255 bytes, which is empty for classical keys.
    Message {
        /// The message.
        message: &'a [u8],
        /// What keeps signatures for different purposes apart.
        context: &'a [u8],
    },
    /// A digest of the message by a hash function, which HashML-DSA or HashSLH-DSA signs (FIPS 204, section 5.4; FIPS 205,
    /// section 10.2.2).
    Digest {
        /// The hash function.
        hash: pq_keys::signing::PreHash,
        /// The digest, as long as those of the hash function.
        digest: &'a [u8],
        /// What keeps signatures for different purposes apart, at most 255 bytes.
        context: &'a [u8],
    },
    /// External µ, which includes the public key and the context (FIPS 204, section 6.2).
    Mu(&'a [u8; 64]),
}

impl<'a> Input<'a> {
    /// A message without a context.
    pub fn message(message: &'a [u8]) -> Self {
        Self::Message {
            message,
            context: &[],
        }
    }

    /// Of which kind it is.
    pub fn kind(&self) -> InputKind {
        match self {
            Self::Message { .. } => InputKind::Message,
            Self::Digest { .. } => InputKind::Digest,
            Self::Mu(_) => InputKind::Mu,
        }
    }
}

/// The kinds of [`Input`].
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum InputKind {
    /// The message itself.
    Message = 1,
    /// A digest of it.
    Digest = 2,
    /// µ of ML-DSA.
    Mu = 4,
}

impl InputKind {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Message, Self::Digest, Self::Mu];

    /// The name, as in policy files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Message => "message",
            Self::Digest => "digest",
            Self::Mu => "mu",
        }
    }
}

/// A set of kinds of input. The default is messages and µ.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Inputs(u8);

impl Inputs {
    /// Whether a kind is one of them.
    pub fn contains(self, kind: InputKind) -> bool {
        self.0 & kind as u8 != 0
    }
}

impl Default for Inputs {
    fn default() -> Self {
        [InputKind::Message, InputKind::Mu].into_iter().collect()
    }
}

impl FromIterator<InputKind> for Inputs {
    fn from_iter<I: IntoIterator<Item = InputKind>>(kinds: I) -> Self {
        Self(kinds.into_iter().fold(0, |set, kind| set | kind as u8))
    }
}

impl Policy {
    /// What is wrong with it, if anything: verbs that only the store grants, or too many principals.
    pub(crate) fn problem(&self) -> Option<&'static str> {
        if !self.grants.union().is_within(Verbs::of_keys()) {
            return Some(
                "create, import, list, audit and administer are granted by the store, not by a key",
            );
        }
        if self.grants.principals().len() > MAX_GRANTS {
            return Some("a policy names at most 128 principals");
        }
        if self.max_message > MAX_MESSAGE {
            return Some("the longest message has at most 1 TiB");
        }
        None
    }

    /// What is wrong with it for a key whose newest version is this one, if anything: whoever sets it means something else. A
    /// key may have such a policy from before.
    pub(crate) fn problem_for(&self, newest: Version) -> Option<&'static str> {
        if self.min_version > newest || self.min_signing_version > newest {
            return Some("no minimum may be above the newest version of the key");
        }
        if self.rotate_after.is_some_and(|age| age.is_zero()) {
            return Some("rotate-after is longer than no time; without it, a key is never due");
        }
        self.problem()
    }

    pub(crate) fn write(&self, writer: &mut Writer) {
        self.grants.write(writer);
        writer
            .u32(self.min_version.get())
            .u32(self.min_signing_version.get())
            .optional(self.rotate_after.map(|age| age.as_secs()))
            .bool(self.exportable)
            .u8(self.inputs.0)
            .u64(self.max_message)
            .optional(match self.when_away {
                WhenAway::Refuse => None,
                WhenAway::UseFor(time) => Some(time.as_secs()),
            })
            .bool(self.audit == UseAudit::Each)
            .u64(self.destroy_after.as_secs());
    }

    pub(crate) fn read(reader: &mut Reader<'_>) -> Result<Self, InvalidRecord> {
        let policy = Self {
            grants: Grants::read(reader)?,
            min_version: Version::new(reader.u32()?)
                .ok_or(InvalidRecord::Value("the minimum version is 0"))?,
            min_signing_version: Version::new(reader.u32()?)
                .ok_or(InvalidRecord::Value("the minimum version to sign is 0"))?,
            rotate_after: reader.optional()?.map(Duration::from_secs),
            exportable: reader.bool()?,
            inputs: match reader.u8()? {
                bits @ 0..8 => Inputs(bits),
                _ => return Err(InvalidRecord::Value("no such kind of input")),
            },
            max_message: reader.u64()?,
            when_away: match reader.optional()? {
                None => WhenAway::Refuse,
                Some(seconds) => WhenAway::UseFor(Duration::from_secs(seconds)),
            },
            audit: match reader.bool()? {
                true => UseAudit::Each,
                false => UseAudit::Counted,
            },
            destroy_after: Duration::from_secs(reader.u64()?),
        };
        match policy.problem() {
            Some(problem) => Err(InvalidRecord::Value(problem)),
            None => Ok(policy),
        }
    }
}
