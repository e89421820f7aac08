//! What the errors of modules mean: whether the session is lost, the token away, or the request refused.

use cryptoki::error::{Error, RvError};

use crate::custody::TokenError;

/// Why something was not done in a session.
pub(super) enum Failure {
    /// The session is of no use any more, or the handles that it knew. With a new one, the same may be done.
    Lost(Error),
    /// For good.
    Token(TokenError),
}

impl From<TokenError> for Failure {
    fn from(error: TokenError) -> Self {
        Self::Token(error)
    }
}

impl From<crate::custody::answers::InvalidAnswer> for Failure {
    fn from(error: crate::custody::answers::InvalidAnswer) -> Self {
        Self::Token(error.into())
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        match error {
            Error::Pkcs11(code, _) if is_lost(code) => Self::Lost(error),
            error => Self::Token(refused(&error)),
        }
    }
}

impl Failure {
    /// What is said if trying again with a new session didn't help.
    pub(super) fn into_error(self) -> TokenError {
        match self {
            Self::Lost(error) => TokenError::Away(describe(&error)),
            Self::Token(error) => error,
        }
    }
}

/// Whether a new session may do what this one couldn't.
fn is_lost(code: RvError) -> bool {
    matches!(
        code,
        RvError::SessionHandleInvalid
            | RvError::SessionClosed
            | RvError::DeviceRemoved
            | RvError::DeviceError
            | RvError::TokenNotPresent
            | RvError::TokenNotRecognized
            | RvError::SlotIdInvalid
            | RvError::UserNotLoggedIn
            | RvError::CryptokiNotInitialized
            | RvError::KeyHandleInvalid
            | RvError::ObjectHandleInvalid
            | RvError::OperationActive
    )
}

/// The name of an error and of the function that gave it, without the standard's explanation.
pub(super) fn describe(error: &Error) -> String {
    match error {
        Error::Pkcs11(code, function) => format!("{function}: {code:?}"),
        error => error.to_string(),
    }
}

/// What an error means that isn't about the session.
pub(super) fn refused(error: &Error) -> TokenError {
    let text = describe(error);
    match error {
        Error::Pkcs11(
            RvError::MechanismInvalid
            | RvError::MechanismParamInvalid
            | RvError::FunctionNotSupported
            | RvError::CurveNotSupported
            | RvError::KeySizeRange,
            _,
        )
        | Error::NotSupported
        | Error::NullFunctionPointer => TokenError::unsupported(format!("do this ({text})")),
        // A token of many applications may have too many sessions at the moment.
        Error::Pkcs11(
            RvError::SessionCount | RvError::HostMemory | RvError::DeviceMemory | RvError::CantLock,
            _,
        ) => TokenError::Away(text),
        Error::Pkcs11(
            RvError::PinIncorrect
            | RvError::PinInvalid
            | RvError::PinLenRange
            | RvError::PinLocked
            | RvError::PinExpired
            | RvError::UserPinNotInitialized,
            _,
        ) => TokenError::Pin(text),
        _ => TokenError::Refused(text),
    }
}
