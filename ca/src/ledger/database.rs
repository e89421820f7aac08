//! The errors of a ledger in a database.

use super::advice::AFTER_A_BACKUP;

/// Why a ledger in a database did not do what was asked.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum DatabaseError {
    /// It can't be reached for now, such as a database that restarts.
    #[error("{ledger} can't be reached: {reason}; nothing was changed; try again")]
    Away {
        /// What it is.
        ledger: String,
        /// What happened.
        reason: String,
    },
    /// The change may have been made or not: the connection was lost before the answer.
    #[error(
        "whether {ledger} made the change is unknown: {reason}; look in the ledger for what was to be done before you try again"
    )]
    OutcomeUnknown {
        /// What it is.
        ledger: String,
        /// What happened.
        reason: String,
    },
    /// It refuses this user, or what is asked.
    #[error(
        "{ledger} can't be used: {reason}; look at its address, its user and that user's rights; trying again doesn't help before that"
    )]
    NotOpened {
        /// What it is.
        ledger: String,
        /// What happened.
        reason: String,
    },
    /// It has no space left, or may not be written for another reason.
    #[error(
        "{ledger} can't be written: {reason}; free some space there, or name the server that takes changes, and try again"
    )]
    Full {
        /// What it is.
        ledger: String,
        /// What happened.
        reason: String,
    },
    /// What it has isn't what was written.
    #[error(
        "{ledger} is damaged: {reason}; nothing was changed; restore it from a backup, {}",
        AFTER_A_BACKUP
    )]
    Damaged {
        /// What it is.
        ledger: String,
        /// What is wrong.
        reason: String,
    },
    /// There is no ledger.
    #[error("{0} has no ledger; check the address and the schema, or create a ledger there")]
    NoLedger(String),
    /// Where one should be created, there is one already.
    #[error("{0} has a ledger already; open that, or create one in another schema")]
    AlreadyThere(String),
    /// Its tables were made by a newer version of this crate.
    #[error(
        "the tables of {ledger} have format {format}, and this program knows {known}; use the newer version that wrote them"
    )]
    Newer {
        /// What it is.
        ledger: String,
        /// The version of the tables.
        format: i32,
        /// The newest version that this crate knows.
        known: i32,
    },
    /// A value is greater than a database takes.
    #[error("there are more {0} than a ledger in a database takes")]
    Limit(&'static str),
}
