//! Why a store in a file or a database failed.

/// Why a store in a file or a database did not do what was asked.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum StorageError {
    /// It can't be reached for now, such as a database that restarts. A change may have been made or not.
    #[error("{storage} can't be reached: {reason}; try again")]
    Away {
        /// What it is.
        storage: String,
        /// What happened.
        reason: String,
    },
    /// It can't be opened, or refuses what is asked.
    #[error("{storage} can't be used: {reason}; look at where it is, and at this user's rights")]
    NotOpened {
        /// What it is.
        storage: String,
        /// What happened.
        reason: String,
    },
    /// Another process has it open, or this one has.
    #[error("{storage} is in use by another process; stop that first")]
    InUse {
        /// What it is.
        storage: String,
    },
    /// It has no space left, or may not be written for another reason. A change may have been made or not.
    #[error("{storage} can't be written: {reason}; free some space there")]
    Full {
        /// What it is.
        storage: String,
        /// What happened.
        reason: String,
    },
    /// What it has isn't what was written.
    #[error("{storage} is damaged: {reason}; restore it from a backup")]
    Damaged {
        /// What it is.
        storage: String,
        /// What is wrong, and where.
        reason: String,
    },
    /// It was made by a newer version of this crate.
    #[error(
        "{storage} has format {format}, and this program knows {known}; use the newer version that wrote it"
    )]
    Newer {
        /// What it is.
        storage: String,
        /// Its format.
        format: u64,
        /// The newest format that this crate knows.
        known: u64,
    },
}

impl From<StorageError> for super::StoreError {
    fn from(error: StorageError) -> Self {
        Self::Failed(error.into())
    }
}
