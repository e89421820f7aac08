//! Why a storage was not read or changed.

/// Why a storage could not be read, or a change not be made. Nothing was changed.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum StorageError {
    /// It can't be reached for now, such as a database that restarts. Trying again helps.
    #[error("{storage} can't be reached: {reason}; try again")]
    Away {
        /// What it is.
        storage: String,
        /// What happened.
        reason: String,
    },
    /// It has no space left, or may not be written for another reason.
    #[error("{storage} can't be written: {reason}")]
    Full {
        /// What it is.
        storage: String,
        /// What happened.
        reason: String,
    },
    /// Another process has it open, and it is for one process.
    #[error("{storage} is in use by another process")]
    InUse {
        /// What it is.
        storage: String,
    },
    /// It can't be opened, such as for lack of rights.
    #[error("{storage} can't be opened: {reason}")]
    NotOpened {
        /// What it is.
        storage: String,
        /// What happened.
        reason: String,
    },
    /// While it was open, another file got its name, or none has it any more: changes would be lost with the former one.
    /// Whoever opens it again has what is there now.
    #[error(
        "{storage} was replaced or removed while it was open; nothing more is written to it: restart"
    )]
    Replaced {
        /// What it is.
        storage: String,
    },
    /// It is a file of another kind.
    #[error("{storage} is no file of a key store")]
    NotAStorage {
        /// What it is.
        storage: String,
    },
    /// What it has isn't what was written. Put a backup in its place.
    #[error("{storage} is damaged: {reason}; restore it from a backup")]
    Damaged {
        /// What it is.
        storage: String,
        /// What is wrong.
        reason: String,
    },
    /// There were more than a storage takes at once.
    #[error("there are more {0} than a storage takes")]
    Limit(&'static str),
    /// The change contradicts itself.
    #[error("{0}")]
    Malformed(&'static str),
}

impl StorageError {
    /// Whether trying again helps.
    pub fn retry(&self) -> bool {
        matches!(self, Self::Away { .. })
    }
}

/// Why a change was not made, or may not have been.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum CommitError {
    /// A row or the log is no longer as expected. Nothing was changed: read, and decide anew.
    #[error("somebody else has changed it meanwhile; try again")]
    Conflict,
    /// The change may have been made or not: the connection was lost before the answer.
    #[error("whether {storage} made the change is unknown: {reason}")]
    OutcomeUnknown {
        /// What it is.
        storage: String,
        /// What happened.
        reason: String,
    },
    /// Nothing was changed.
    #[error("{0}")]
    Storage(StorageError),
}

impl From<StorageError> for CommitError {
    fn from(error: StorageError) -> Self {
        Self::Storage(error)
    }
}
