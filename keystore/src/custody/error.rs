//! Why a token did not do something.

use super::answers::InvalidAnswer;
use super::object::{ObjectId, TokenSerial};

/// Why a token did not do something.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TokenError {
    /// The store was opened without this token.
    #[error("the store was opened without this token; give its module, label and PIN")]
    NotGiven,
    /// The token isn't there, or doesn't answer.
    #[error("the token is away: {0}; try again when it is back")]
    Away(String),
    /// All sessions are in use, for longer than the options permit.
    #[error("all {sessions} sessions with the token were in use for {seconds} seconds; try again")]
    Busy {
        /// How many there are.
        sessions: usize,
        /// How long it was waited for one.
        seconds: u64,
    },
    /// The token refused the PIN. It isn't tried again, since tokens lock themselves after some wrong ones.
    #[error(
        "the token refused the PIN ({0}); it isn't tried again, so that the token doesn't lock itself"
    )]
    Pin(String),
    /// The PIN can't be read.
    #[error("the PIN can't be read: {0}")]
    PinSource(String),
    /// The module can't be loaded.
    #[error("the module {module} can't be used: {reason}")]
    Module {
        /// Its file.
        module: String,
        /// Why.
        reason: String,
    },
    /// There is no such key in the token.
    #[error(
        "the token has no key {0}; if another token has the same label, give the serial number of the one with the key"
    )]
    NoObject(ObjectId),
    /// The private key was made in another token, which has the same name in the store.
    #[error(
        "its private key was made in the token with serial number {made_in}, and the one at hand has {}; give that one, by its number", told(.at_hand)
    )]
    AnotherToken {
        /// The serial number of the token in which it was made.
        made_in: TokenSerial,
        /// That of the token that the store was given, if it tells one.
        at_hand: Option<TokenSerial>,
    },
    /// The token or its module can't do this.
    #[error("the token can't {what}")]
    Unsupported {
        /// What.
        what: String,
    },
    /// What the module answered is nothing that it may answer.
    #[error("the module answered wrongly: {0}")]
    Answer(InvalidAnswer),
    /// The module refused, for another reason.
    #[error("the token refused: {0}")]
    Refused(String),
}

impl TokenError {
    /// A stable name for the error.
    pub fn code(&self) -> &'static str {
        match self {
            Self::NotGiven => "token-not-given",
            Self::Away(_) => "token-away",
            Self::Busy { .. } => "token-busy",
            Self::Pin(_) | Self::PinSource(_) => "token-pin",
            Self::Module { .. } => "token-module",
            Self::NoObject(_) => "token-no-object",
            Self::AnotherToken { .. } => "token-another",
            Self::Unsupported { .. } => "token-unsupported",
            Self::Answer(_) => "token-answer",
            Self::Refused(_) => "token",
        }
    }

    /// Whether it is about the one key, or else about the token.
    pub(crate) fn is_of_key(&self) -> bool {
        match self {
            Self::NotGiven
            | Self::Away(_)
            | Self::Busy { .. }
            | Self::Pin(_)
            | Self::PinSource(_)
            | Self::Module { .. }
            | Self::AnotherToken { .. } => false,
            Self::NoObject(_) | Self::Unsupported { .. } | Self::Answer(_) | Self::Refused(_) => {
                true
            }
        }
    }

    /// Whether trying the same again helps.
    pub fn retry(&self) -> bool {
        matches!(self, Self::Away(_) | Self::Busy { .. })
    }

    #[cfg(feature = "pkcs11")]
    pub(crate) fn unsupported(what: impl Into<String>) -> Self {
        Self::Unsupported { what: what.into() }
    }
}

fn told(serial: &Option<TokenSerial>) -> String {
    match serial {
        Some(serial) => serial.to_string(),
        None => "none".into(),
    }
}

impl From<InvalidAnswer> for TokenError {
    fn from(error: InvalidAnswer) -> Self {
        Self::Answer(error)
    }
}
