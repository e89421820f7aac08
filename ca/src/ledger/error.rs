use core::error::Error;
use std::io::{self, ErrorKind};
use std::path::PathBuf;

use super::serial_number::{NoRandomness, SerialNumber};

/// Why a ledger did not do what was asked. Unless a variant says otherwise, nothing was changed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LedgerError {
    /// A certificate has the serial number of another.
    #[error(
        "serial number {0} is that of another certificate; issue this one again, with a new number from \
         SerialNumber::random()"
    )]
    SerialNumberTaken(SerialNumber),
    /// There is no certificate of this number.
    #[error(
        "the ledger has no certificate with serial number {0}; look for its name or subject, or ask the \
         ledger of the CA that issued it"
    )]
    Unknown(SerialNumber),
    /// A certificate that is not on hold can't be reinstated.
    #[error(
        "the certificate with serial number {0} is not on hold, and only that can be taken back (RFC 5280 \
         section 5.3.1); issue another certificate"
    )]
    NotOnHold(SerialNumber),
    /// `removeFromCRL` was given as a reason.
    #[error(
        "removeFromCRL is not a reason to revoke a certificate (RFC 5280 section 5.3.1); to release one \
         that is on hold, reinstate it"
    )]
    NotAReason,
    /// There is no ledger in a folder.
    #[error("{path} has no ledger; check the path, or create a ledger there")]
    NoLedger {
        /// The folder.
        path: PathBuf,
    },
    /// A folder has a ledger, where one was to be created.
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
        /// The version of its format.
        format: u32,
        /// The newest version that this crate reads.
        known: u32,
    },
    /// A file is not what was written.
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
         ledger: it is made again from the journal"
    )]
    Index {
        /// The file.
        path: PathBuf,
        /// What the database says.
        cause: String,
    },
    /// A file can't be read or written. What was to be kept may be in the ledger nevertheless, if
    /// it was the disk that failed.
    #[error("can't {doing} {path}: {cause}; {}", advice(.cause))]
    Io {
        /// What was to be done, as a verb.
        doing: &'static str,
        /// The file.
        path: PathBuf,
        /// What the operating system says.
        cause: io::Error,
    },
    /// The operating system gave no randomness.
    #[error(transparent)]
    Randomness(#[from] NoRandomness),
    /// Something of another implementation of [`Ledger`](super::Ledger), whose text says what to
    /// do.
    #[error("{0}")]
    Other(Box<dyn Error + Send + Sync>),
}

fn advice(cause: &io::Error) -> &'static str {
    let otherwise = "mend that, and look in the ledger for what was done before you do it again";
    remedy(cause).unwrap_or(otherwise)
}

/// What to do so that a file of a CA can be read or written, where that is known.
pub(crate) fn remedy(cause: &io::Error) -> Option<&'static str> {
    match cause.kind() {
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded => {
            Some("make room there, and do it again")
        }
        ErrorKind::PermissionDenied => {
            Some("run this as the user whose CA it is, or have that user allow it")
        }
        ErrorKind::ReadOnlyFilesystem => {
            Some("mount it so that it can be written, or move the CA's folder")
        }
        _ => None,
    }
}
