//! Why a database, of a key store or of a CA's ledger, can't be asked for.

use std::io;
use std::path::PathBuf;

use pq_keystore::storage::InvalidPostgresOptions;

use crate::exit_status::ExitStatus;

/// Why an address in PostgreSQL leads nowhere. No text has anything of the address, since there may be a password in it.
#[derive(Debug, thiserror::Error)]
pub(crate) enum DatabaseFailure {
    #[error("the database's address: {0}")]
    Address(InvalidPostgresOptions),
    #[error(
        "the database's address has a password in it, which others may have read: change the password, and give it by a password \
         file (?passfile=FILE, PGPASSFILE or ~/.pgpass) or by PGPASSWORD"
    )]
    PasswordInAddress,
    #[error("the database's address: {0} has no value that it could have")]
    Option(String),
    #[error(
        "the database's address: sslmode is verify-full, as it is by default, or disable; the others don't say whom this program \
         talks to"
    )]
    SslMode,
    #[error(
        "which CA certified the PostgreSQL server? Name its root by ?sslrootcert=FILE in the database's address or by \
         PGSSLROOTCERT; or write ?sslmode=disable where the network is trusted"
    )]
    NoRoots,
    #[error("the password file {}: {error}", .file.display())]
    PasswordFile { file: PathBuf, error: io::Error },
    #[error("the connection to the PostgreSQL server can't be protected: {0}")]
    Tls(String),
}

impl DatabaseFailure {
    pub(super) fn status(&self) -> ExitStatus {
        match self {
            Self::Address(_)
            | Self::PasswordInAddress
            | Self::Option(_)
            | Self::SslMode
            | Self::NoRoots => ExitStatus::Usage,
            Self::PasswordFile { .. } | Self::Tls(_) => ExitStatus::InputOutput,
        }
    }
}
