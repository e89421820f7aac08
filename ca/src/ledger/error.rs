use core::error::Error;
use std::io::{self, ErrorKind};
use std::path::PathBuf;

use super::serial_number::{NoRandomness, SerialNumber};

/// Why a ledger did not do what was asked. Unless a variant says otherwise, nothing was changed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LedgerError {
    /// The serial number belongs to another certificate.
    #[error(
        "serial number {0} belongs to another certificate; issue this one again, with a new random number"
    )]
    SerialNumberTaken(SerialNumber),
    /// There is no certificate with this number.
    #[error(
        "the ledger has no certificate with serial number {0}; look for its name or subject, or ask the \
         ledger of the CA that issued it"
    )]
    Unknown(SerialNumber),
    /// A certificate that is not on hold can't be reinstated.
    #[error(
        "the certificate with serial number {0} is not on hold, and only a hold can be released (RFC 5280 \
         section 5.3.1); issue another certificate"
    )]
    NotOnHold(SerialNumber),
    /// `removeFromCRL` was given as a reason.
    #[error(
        "removeFromCRL is not a reason to revoke a certificate (RFC 5280 section 5.3.1); to release one \
         that is on hold, reinstate it"
    )]
    NotAReason,
    /// The folder has no ledger.
    #[error("{path} has no ledger; check the path, or create a ledger there")]
    NoLedger {
        /// The folder.
        path: PathBuf,
    },
    /// The folder where a ledger should be created has one already.
    #[error("{path} has a ledger already; open that, or create one elsewhere")]
    AlreadyThere {
        /// The folder.
        path: PathBuf,
    },
    /// A file was written by a newer version of this crate.
    #[error(
        "{path} has format {format}, and this program knows {known}; use the newer version that wrote it"
    )]
    Newer {
        /// The file.
        path: PathBuf,
        /// The version of the file's format.
        format: u32,
        /// The newest version that this crate reads.
        known: u32,
    },
    /// The content of a file is damaged.
    #[error("{path} is damaged: {what}; restore it from a backup")]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        what: &'static str,
    },
    /// The index can't be read or written.
    #[error(
        "the index {path}: {cause}; if this happens again, delete that file while nothing uses the \
         ledger: it is rebuilt from the journal"
    )]
    Index {
        /// The file.
        path: PathBuf,
        /// The error of the database.
        cause: String,
    },
    /// A file can't be read or written. If the disk failed, the change may be in the ledger
    /// nevertheless.
    #[error("can't {doing} {path}: {cause}; {}", advice(.cause))]
    Io {
        /// What failed, as a verb.
        doing: &'static str,
        /// The file.
        path: PathBuf,
        /// The error of the operating system.
        cause: io::Error,
    },
    /// The operating system gave no randomness.
    #[error(transparent)]
    Randomness(#[from] NoRandomness),
    /// An error of another implementation of [`Ledger`](super::Ledger). Its text says what to do.
    #[error("{0}")]
    Other(Box<dyn Error + Send + Sync>),
}

fn advice(cause: &io::Error) -> &'static str {
    let otherwise = "fix that, and check in the ledger what was done before you try again";
    remedy(cause).unwrap_or(otherwise)
}

/// What to do so that a CA's file can be read or written, if this is known.
pub(crate) fn remedy(cause: &io::Error) -> Option<&'static str> {
    match cause.kind() {
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded => {
            Some("free some space there, and try again")
        }
        ErrorKind::PermissionDenied => {
            Some("run this as the user who owns the CA, or get permission from that user")
        }
        ErrorKind::ReadOnlyFilesystem => {
            Some("make the file system writable, or move the CA's folder")
        }
        _ => None,
    }
}
