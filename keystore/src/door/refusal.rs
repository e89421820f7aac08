//! Why a request is refused, as a status and what Vault's errors say.

use crate::store::StoreError;

/// Why a request is refused.
#[derive(Debug)]
pub(super) struct Refusal {
    pub(super) status: u16,
    /// For the client.
    pub(super) errors: Vec<String>,
    /// For the operator: what the client isn't told.
    pub(super) problem: Option<String>,
}

impl Refusal {
    pub(super) fn new(status: u16, error: impl Into<String>) -> Self {
        Self {
            status,
            errors: vec![error.into()],
            problem: None,
        }
    }

    /// The client's request can't be like this.
    pub(super) fn bad(error: impl Into<String>) -> Self {
        Self::new(400, error)
    }

    /// All that anybody learns who has no right.
    pub(super) fn denied() -> Self {
        Self::new(403, "permission denied")
    }

    /// There is nothing there to be read, which Vault says without a word.
    pub(super) fn nothing() -> Self {
        Self {
            status: 404,
            errors: Vec::new(),
            problem: None,
        }
    }

    /// Nobody reads this. It has no number in RFC 9110.
    pub(super) fn gone() -> Self {
        Self::new(499, "the client is gone")
    }

    pub(super) fn unsupported() -> Self {
        Self::new(405, "unsupported operation")
    }

    /// What went wrong here, which the client can't help.
    pub(super) fn internal(problem: impl Into<String>) -> Self {
        Self {
            problem: Some(problem.into()),
            ..Self::new(500, "internal error")
        }
    }
}

impl From<StoreError> for Refusal {
    fn from(error: StoreError) -> Self {
        let code = error.code();
        match error {
            StoreError::Denied { .. } => Self::denied(),
            // Nobody else but who makes one of this name has to know that there was one.
            StoreError::Deleted(name) => StoreError::NotFound(name).into(),
            StoreError::Abandoned => Self::gone(),
            _ if error.retry() => Self {
                problem: Some(error.to_string()),
                ..Self::new(
                    503,
                    format!("the store can't do this now ({code}); try again"),
                )
            },
            StoreError::NotFound(_)
            | StoreError::VersionNotFound(_)
            | StoreError::NoVersionWithKey(_)
            | StoreError::Exists(_)
            | StoreError::State { .. }
            | StoreError::NoEnabledVersion(_)
            | StoreError::BelowMinimum { .. }
            | StoreError::InputNotPermitted { .. }
            | StoreError::MessageTooLong { .. }
            | StoreError::Algorithm { .. }
            | StoreError::InvalidSignature
            | StoreError::VersionNeeded { .. }
            | StoreError::NotExportable(_)
            | StoreError::ExportableChanged(_)
            | StoreError::Policy(_)
            | StoreError::NotYet { .. }
            | StoreError::Limit(_)
            | StoreError::Key(_)
            | StoreError::Wrapped => Self::bad(error.to_string()),
            // The others name places that clients have no business with.
            _ => Self {
                problem: Some(error.to_string()),
                ..Self::new(500, format!("the store can't do this ({code})"))
            },
        }
    }
}
