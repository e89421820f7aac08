//! The names of tokens, and those of the objects in them.

use core::fmt;
use core::str::FromStr;

use pq_keys::random::{self, RandomnessError};

use crate::name::{InvalidName, KeyName};

/// The name by which a store knows a token: 1 to 64 characters, which are a to z, 0 to 9, `-`, `_` or `.`, beginning with a
/// letter or a digit. It stands in the records of versions, so it stays the same when the token moves to another slot.
#[derive(Clone, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct TokenName(Box<str>);

impl TokenName {
    /// That of the token with this label: its letters in lower case, and all characters that a name hasn't as `-`. So labels that
    /// are alike give one name.
    ///
    /// # Errors
    ///
    /// If that is no name, since it is too long or begins otherwise.
    pub fn of_label(label: &str) -> Result<Self, InvalidTokenName> {
        let name: String = label
            .chars()
            .map(|character| match character.to_ascii_lowercase() {
                kept @ ('a'..='z' | '0'..='9' | '-' | '_' | '.') => kept,
                _ => '-',
            })
            .collect();
        name.parse()
    }

    /// The name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for TokenName {
    type Err = InvalidTokenName;

    fn from_str(text: &str) -> Result<Self, InvalidTokenName> {
        // The grammar is that of the parts of a key's name.
        match KeyName::new(text, "token", "name") {
            Ok(_) => Ok(Self(text.into())),
            Err(error) => Err(InvalidTokenName { error }),
        }
    }
}

impl fmt::Display for TokenName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

impl fmt::Debug for TokenName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "TokenName({self})")
    }
}

/// A text is no name of a token.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error(
    "a token's name has 1 to 64 characters, which are a to z, 0 to 9, \"-\", \"_\" or \".\", and begins with a letter or a digit"
)]
pub struct InvalidTokenName {
    #[source]
    error: InvalidName,
}

/// The serial number of a token, as its module gives it: 1 to 64 bytes, with no spaces around.
#[derive(Clone, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct TokenSerial(Box<str>);

impl TokenSerial {
    /// The most bytes that it has.
    pub const MAX_LEN: usize = 64;

    /// This serial number, without spaces around it; `None` if it is empty or too long, as if the token told none.
    pub fn new(serial: &str) -> Option<Self> {
        let serial = serial.trim();
        (1..=Self::MAX_LEN)
            .contains(&serial.len())
            .then(|| Self(serial.into()))
    }

    /// The serial number.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for TokenSerial {
    /// Control characters, which it should not have, are escaped.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0.escape_debug())
    }
}

impl fmt::Debug for TokenSerial {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "TokenSerial({self})")
    }
}

/// What a key pair in a token is called, in PKCS#11 its `CKA_ID`: the number of the store, and 16 random bytes.
#[derive(Clone, Copy, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct ObjectId([u8; 32]);

impl ObjectId {
    /// How many bytes it has.
    pub const LEN: usize = 32;

    /// A new one, for the store with this number.
    pub(crate) fn new(store: [u8; 16]) -> Result<Self, RandomnessError> {
        let mut bytes = [0; Self::LEN];
        let (prefix, rest) = bytes.split_at_mut(16);
        prefix.copy_from_slice(&store);
        random::fill(rest)?;
        Ok(Self(bytes))
    }

    /// The identifier that these bytes are.
    pub fn from_bytes(bytes: [u8; Self::LEN]) -> Self {
        Self(bytes)
    }

    /// The bytes.
    pub fn as_bytes(&self) -> &[u8; Self::LEN] {
        &self.0
    }

    /// Whether the store with this number made it.
    pub fn is_of(&self, store: [u8; 16]) -> bool {
        self.0[..16] == store
    }
}

impl fmt::Display for ObjectId {
    /// In hexadecimal digits.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for ObjectId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ObjectId({self})")
    }
}
