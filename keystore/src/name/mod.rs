//! The names of keys, `tenant/purpose/name`, and of their versions, `tenant/purpose/name#version`.

// This room uses no other.

use core::fmt;
use core::num::NonZeroU32;
use core::str::FromStr;

/// The most characters that the tenant, the purpose and the name have each.
pub(crate) const MAX_PART_LEN: usize = 64;

/// The name of a key: `tenant/purpose/name`.
///
/// ```text
/// name = part "/" part "/" part
/// part = first *63(first / "-" / "_" / ".")
/// first = %x61-7A / %x30-39      ; a to z, 0 to 9
/// ```
///
/// So there is one spelling of each name, and no part is empty, `.` or `..`. Names are ordered by tenant, then purpose,
/// then name, each as bytes.
///
/// ```
/// use pq_keystore::KeyName;
///
/// let name: KeyName = "shop/tokens/session".parse()?;
/// assert_eq!((name.tenant(), name.purpose(), name.name()), ("shop", "tokens", "session"));
/// assert_eq!(name.to_string(), "shop/tokens/session");
/// assert!("shop/Tokens/session".parse::<KeyName>().is_err());
/// # Ok::<_, pq_keystore::InvalidName>(())
/// ```
#[derive(Clone, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct KeyName {
    tenant: Box<str>,
    purpose: Box<str>,
    name: Box<str>,
}

impl KeyName {
    /// The name of these three parts.
    ///
    /// # Errors
    ///
    /// [`InvalidName`] if one of them is no part of a name.
    pub fn new(tenant: &str, purpose: &str, name: &str) -> Result<Self, InvalidName> {
        Ok(Self {
            tenant: part("tenant", tenant)?,
            purpose: part("purpose", purpose)?,
            name: part("name", name)?,
        })
    }

    /// Who has the key.
    pub fn tenant(&self) -> &str {
        &self.tenant
    }

    /// What the key is for.
    pub fn purpose(&self) -> &str {
        &self.purpose
    }

    /// Which of the tenant's keys for this purpose it is.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The name of one version of this key.
    pub fn at(&self, version: Version) -> KeyId {
        KeyId {
            name: self.clone(),
            version,
        }
    }
}

impl fmt::Display for KeyName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}/{}", self.tenant, self.purpose, self.name)
    }
}

impl fmt::Debug for KeyName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "KeyName({self})")
    }
}

impl FromStr for KeyName {
    type Err = InvalidName;

    fn from_str(text: &str) -> Result<Self, InvalidName> {
        let mut parts = text.split('/');
        match (parts.next(), parts.next(), parts.next(), parts.next()) {
            (Some(tenant), Some(purpose), Some(name), None) => match name.split_once('#') {
                Some((_, version)) => Err(InvalidName::Versioned(version.into())),
                None => Self::new(tenant, purpose, name),
            },
            _ => Err(InvalidName::Parts),
        }
    }
}

/// The number of a version of a key: 1 for the first, and one more for each after it.
#[derive(Clone, Copy, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Version(NonZeroU32);

impl Version {
    /// The first version of a key.
    pub const FIRST: Self = Self(NonZeroU32::MIN);

    /// The version with this number, or `None` for 0.
    pub fn new(number: u32) -> Option<Self> {
        NonZeroU32::new(number).map(Self)
    }

    /// The number, at least 1.
    pub fn get(self) -> u32 {
        self.0.get()
    }

    /// The version after this one, or `None` after 2³² - 1.
    pub fn next(self) -> Option<Self> {
        self.0.checked_add(1).map(Self)
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl fmt::Debug for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Version({self})")
    }
}

impl FromStr for Version {
    type Err = InvalidName;

    /// Reads decimal digits without a leading zero.
    fn from_str(text: &str) -> Result<Self, InvalidName> {
        let is_number = text.bytes().all(|byte| byte.is_ascii_digit());
        if !is_number || text.starts_with('0') {
            return Err(InvalidName::Version);
        }
        text.parse().map(Self).map_err(|_| InvalidName::Version)
    }
}

/// One version of a key: `tenant/purpose/name#version`, as [`KeyName`] says, with the version in decimal digits, from 1
/// to 4294967295, without leading zeros. Ordered by name, then by number.
///
/// ```
/// use pq_keystore::KeyId;
///
/// let id: KeyId = "shop/tokens/session#12".parse()?;
/// assert_eq!(id.version().get(), 12);
/// assert!("shop/tokens/session#2".parse::<KeyId>()? < id);
/// # Ok::<_, pq_keystore::InvalidName>(())
/// ```
#[derive(Clone, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct KeyId {
    name: KeyName,
    version: Version,
}

impl KeyId {
    /// The key that it is a version of.
    pub fn name(&self) -> &KeyName {
        &self.name
    }

    /// The number of the version.
    pub fn version(&self) -> Version {
        self.version
    }
}

impl fmt::Display for KeyId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}#{}", self.name, self.version)
    }
}

impl fmt::Debug for KeyId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "KeyId({self})")
    }
}

impl FromStr for KeyId {
    type Err = InvalidName;

    fn from_str(text: &str) -> Result<Self, InvalidName> {
        let (name, version) = text.split_once('#').ok_or(InvalidName::NoVersion)?;
        Ok(Self {
            name: name.parse()?,
            version: version.parse()?,
        })
    }
}

/// Why a text is no name of a key or of its version.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum InvalidName {
    /// There are more or fewer than three parts.
    #[error("a key's name has three parts, tenant/purpose/name")]
    Parts,
    /// A part is empty or too long, or has another character.
    #[error(
        "the {part} has 1 to {MAX_PART_LEN} characters, which are a to z, 0 to 9, \"-\", \"_\" or \".\", and begins \
         with a letter or a digit"
    )]
    Part {
        /// Which one: `tenant`, `purpose` or `name`.
        part: &'static str,
    },
    /// There is a `#`, where a key is named with all its versions.
    #[error("this is about a key, and not about one of its versions: leave \"#{0}\" out")]
    Versioned(Box<str>),
    /// There is no `#`.
    #[error("a version of a key is named by tenant/purpose/name#version, and \"#\" is missing")]
    NoVersion,
    /// The version is no such number.
    #[error("a version is a number from 1 to 4294967295, without leading zeros")]
    Version,
}

/// Checks one part of a name.
fn part(part: &'static str, text: &str) -> Result<Box<str>, InvalidName> {
    let is_first = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    let is_inner = |byte: u8| is_first(byte) || matches!(byte, b'-' | b'_' | b'.');
    let begins = text.bytes().next().is_some_and(is_first);
    if !begins || text.len() > MAX_PART_LEN || !text.bytes().all(is_inner) {
        return Err(InvalidName::Part { part });
    }
    Ok(text.into())
}
