//! What can be done, and sets of it.

use core::fmt;
use core::ops::BitOr;
use core::str::FromStr;

macro_rules! verbs {
    ($($(#[$attribute:meta])* $verb:ident = $number:literal, $name:literal;)+) => {
        /// What a principal may do.
        #[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
        #[non_exhaustive]
        pub enum Verb {
            $($(#[$attribute])* $verb = $number,)+
        }

        impl Verb {
            /// All of them.
            pub const ALL: &'static [Self] = &[$(Self::$verb),+];

            /// The name, as in policy files and the audit log.
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$verb => $name,)+
                }
            }
        }
    };
}

// The numbers are those of bits in records.
verbs! {
    /// Make a new key. Granted by the store, not by a key.
    Create = 0, "create";
    /// Put a private key that was made elsewhere into the store, as a new key. Granted by the store.
    Import = 1, "import";
    /// Sign by the newest enabled version.
    Sign = 2, "sign";
    /// Verify signatures.
    Verify = 3, "verify";
    /// Encapsulate to the newest enabled version.
    Encapsulate = 4, "encapsulate";
    /// Decapsulate.
    Decapsulate = 5, "decapsulate";
    /// Add a version.
    Rotate = 6, "rotate";
    /// Have the store attest versions, states and public keys.
    Attest = 7, "attest";
    /// Disable a version.
    Disable = 8, "disable";
    /// Enable a version.
    Enable = 9, "enable";
    /// Schedule the destruction of a version, or cancel it.
    Schedule = 10, "schedule";
    /// Destroy a version whose time has come, and remove old versions.
    Destroy = 11, "destroy";
    /// Take a private key out.
    Export = 12, "export";
    /// See which keys there are. Granted by the store.
    List = 13, "list";
    /// See a key's versions and public keys.
    Show = 14, "show";
    /// Change a key's policy.
    SetPolicy = 15, "set-policy";
    /// Read the audit log, and have its head signed. Granted by the store.
    Audit = 16, "audit";
    /// Change who may do what in the store, and the key that the store is sealed under. Granted by the store.
    Administer = 17, "administer";
}

impl fmt::Display for Verb {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Verb {
    type Err = UnknownVerb;

    fn from_str(name: &str) -> Result<Self, UnknownVerb> {
        let found = Self::ALL.iter().copied().find(|verb| verb.name() == name);
        found.ok_or_else(|| UnknownVerb(name.into()))
    }
}

/// A text that is neither a verb nor a role.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error(
    "{0:?} is neither a verb ({verbs}) nor a role ({roles})",
    verbs = names(Verb::ALL.iter().map(|verb| verb.name())),
    roles = names(Role::ALL.iter().map(|role| role.name()))
)]
pub struct UnknownVerb(String);

fn names(names: impl Iterator<Item = &'static str>) -> String {
    names.collect::<Vec<_>>().join(", ")
}

/// A set of verbs.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Verbs(u32);

impl Verbs {
    /// No verb.
    pub const NONE: Self = Self(0);

    /// All verbs.
    pub fn all() -> Self {
        Verb::ALL.iter().copied().collect()
    }

    /// Those that a key's policy can grant.
    pub fn of_keys() -> Self {
        let of_store = [
            Verb::Create,
            Verb::Import,
            Verb::List,
            Verb::Audit,
            Verb::Administer,
        ];
        let of_key = |verb: &Verb| !of_store.contains(verb);
        Verb::ALL.iter().copied().filter(of_key).collect()
    }

    /// Whether a verb is one of them.
    pub fn contains(self, verb: Verb) -> bool {
        self.0 & Self::from(verb).0 != 0
    }

    /// Whether all of these are verbs of another set.
    pub fn is_within(self, other: Self) -> bool {
        self.0 & !other.0 == 0
    }

    /// The verbs, in their order.
    pub fn iter(self) -> impl Iterator<Item = Verb> {
        Verb::ALL
            .iter()
            .copied()
            .filter(move |verb| self.contains(*verb))
    }

    pub(crate) fn to_bits(self) -> u32 {
        self.0
    }

    /// The set with these bits, or `None` if one of them is no verb's.
    pub(crate) fn from_bits(bits: u32) -> Option<Self> {
        Some(Self(bits)).filter(|verbs| verbs.is_within(Self::all()))
    }
}

impl From<Verb> for Verbs {
    fn from(verb: Verb) -> Self {
        Self(1 << verb as u32)
    }
}

impl BitOr for Verbs {
    type Output = Self;

    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

impl FromIterator<Verb> for Verbs {
    fn from_iter<I: IntoIterator<Item = Verb>>(verbs: I) -> Self {
        let verbs = verbs.into_iter().map(Self::from);
        verbs.fold(Self::NONE, BitOr::bitor)
    }
}

/// Names for sets of verbs that are often granted together.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
#[non_exhaustive]
pub enum Role {
    /// Verifies signatures, encapsulates, and sees public keys.
    Public,
    /// Also signs and decapsulates.
    User,
    /// Makes, imports, rotates, disables and destroys keys, and sets their policies; uses none of them.
    Manager,
    /// Sees all keys and the audit log, changes nothing.
    Auditor,
    /// What a manager and an auditor may, and who may do what in the store.
    Administrator,
}

impl Role {
    /// All of them.
    pub const ALL: [Self; 5] = [
        Self::Public,
        Self::User,
        Self::Manager,
        Self::Auditor,
        Self::Administrator,
    ];

    /// The name, as in policy files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Public => "public",
            Self::User => "user",
            Self::Manager => "manager",
            Self::Auditor => "auditor",
            Self::Administrator => "administrator",
        }
    }

    /// What it may do.
    pub fn verbs(self) -> Verbs {
        let verbs = |verbs: &[Verb]| verbs.iter().copied().collect();
        match self {
            Self::Public => verbs(&[Verb::Verify, Verb::Encapsulate, Verb::Show]),
            Self::User => Self::Public.verbs() | verbs(&[Verb::Sign, Verb::Decapsulate]),
            Self::Manager => verbs(&[
                Verb::Create,
                Verb::Import,
                Verb::Rotate,
                Verb::Attest,
                Verb::Disable,
                Verb::Enable,
                Verb::Schedule,
                Verb::Destroy,
                Verb::List,
                Verb::Show,
                Verb::SetPolicy,
            ]),
            Self::Auditor => verbs(&[Verb::List, Verb::Show, Verb::Attest, Verb::Audit]),
            Self::Administrator => {
                Self::Manager.verbs() | Self::Auditor.verbs() | Verb::Administer.into()
            }
        }
    }
}

impl FromStr for Verbs {
    type Err = UnknownVerb;

    /// Reads the name of a verb or a role.
    fn from_str(name: &str) -> Result<Self, UnknownVerb> {
        match Role::ALL.iter().find(|role| role.name() == name) {
            Some(role) => Ok(role.verbs()),
            None => name.parse::<Verb>().map(Self::from),
        }
    }
}
