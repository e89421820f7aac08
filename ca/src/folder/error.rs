use core::error::Error;
use std::io;
use std::path::{Path, PathBuf};

use pq_x509::{CertificateError, IssueError};

use crate::authority::AuthorityError;
use crate::ledger::{LedgerError, remedy};
use crate::policy::PolicyError;

/// Why a CA's folder can't be made or used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FolderError {
    /// The path exists already.
    #[error("{0} exists; choose another folder, or move that one away")]
    Exists(PathBuf),
    /// There is no CA in the folder.
    #[error(
        "{0} is not a CA's folder: it has no {ROOT}; name the folder of a CA, or make a CA there",
        ROOT = super::ROOT_CERTIFICATE
    )]
    NoCa(PathBuf),
    /// A key is not in the folder.
    #[error("{0} is not there; put the key back for as long as it is needed")]
    NoKey(PathBuf),
    /// A file can't be read or written.
    #[error("can't {doing} {path}: {cause}; {}", remedy(.cause).unwrap_or("fix that, and try again"))]
    Io {
        /// What failed, as a verb.
        doing: &'static str,
        /// The file.
        path: PathBuf,
        /// The error of the operating system.
        cause: io::Error,
    },
    /// A certificate can't be read.
    #[error("{path}: {cause}")]
    Certificate {
        /// The file.
        path: PathBuf,
        /// Why it can't be read.
        cause: CertificateError,
    },
    /// A key can't be read or written.
    #[error("{path}: {cause}")]
    Key {
        /// The file.
        path: PathBuf,
        /// The error of the key's [`StoredKey`](super::StoredKey).
        cause: Box<dyn Error + Send + Sync>,
    },
    /// The key does not belong to the certificate, or a certificate can't be issued.
    #[error(transparent)]
    Issue(#[from] IssueError),
    /// The policy is wrong.
    #[error(transparent)]
    Policy(#[from] PolicyError),
    /// The ledger can't be used.
    #[error(transparent)]
    Ledger(#[from] LedgerError),
    /// The root could not certify the issuing key.
    #[error(transparent)]
    Authority(#[from] AuthorityError),
}

/// For `map_err`: an error that says what failed, and with which file.
pub(super) fn io_error(doing: &'static str, path: &Path) -> impl FnOnce(io::Error) -> FolderError {
    move |cause| FolderError::Io {
        doing,
        path: path.into(),
        cause,
    }
}

/// For `map_err`: an error that says which file has the key.
pub(super) fn key_error<E>(path: PathBuf) -> impl FnOnce(E) -> FolderError
where
    E: Into<Box<dyn Error + Send + Sync>>,
{
    |cause| FolderError::Key {
        path,
        cause: cause.into(),
    }
}

#[cfg(test)]
mod tests {
    use std::io::ErrorKind;

    use super::*;

    #[test]
    fn files_that_fail_say_what_to_do() {
        let says =
            |kind: ErrorKind| io_error("write", Path::new("ca/root.pem"))(kind.into()).to_string();
        assert_eq!(
            says(ErrorKind::StorageFull),
            "can't write ca/root.pem: no storage space; free some space there, and try again"
        );
        assert!(says(ErrorKind::PermissionDenied).contains("as the user who owns the CA"));
        assert!(says(ErrorKind::Other).ends_with("; fix that, and try again"));
    }
}
