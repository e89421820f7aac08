//! Why a command failed: what was wrong, what to do next, and its exit status.
//!
//! This room uses [`chains`](crate::chains), [`documents`](crate::documents),
//! [`exit_status`](crate::exit_status), [`files`](crate::files) and [`words`](crate::words).

use std::io;

use pq_x509::{Algorithm, IssueError, KeyError, RequestError, ValidationError};

use crate::chains::NotAChain;
use crate::documents::DocumentError;
use crate::exit_status::ExitStatus;
use crate::files::OutputError;
use crate::words::{of_issue_error, of_key_error, of_request_error, of_validation_error};

/// Why a command did not do what it was asked for.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Failure {
    #[error(transparent)]
    Document(#[from] DocumentError),
    #[error(transparent)]
    Output(#[from] OutputError),
    #[error("{}", of_key_error(.0))]
    Key(KeyError),
    #[error("{}", of_issue_error(.0))]
    Issue(IssueError),
    #[error("{}", of_request_error(.0))]
    Request(RequestError),
    #[error("{}", of_validation_error(.0))]
    Trust(Box<ValidationError>),

    #[error("the certificates are not one chain: {0}")]
    NotAChain(NotAChain),
    #[error("refused: {}", of_validation_error(.0))]
    Chain(Box<ValidationError>),
    #[error("{file}: {what}; don't use this key, and get it from where it was made")]
    UnsoundKey { file: String, what: String },
    #[error(
        "the key of {key} is not the one in the certificate of {subject} in {certificate}; find the \
         key that the certificate was issued for, or have a certificate issued for this one"
    )]
    OtherKey {
        key: String,
        certificate: String,
        subject: String,
    },

    #[error(
        "with --json the report goes to standard output, which is where the result would go; name a \
         file with --out"
    )]
    JsonBesideResult,
    #[error(
        "clients look for a server under its names (RFC 9525), and it has none; give one with --name"
    )]
    NamelessServer,
    #[error("raw bytes are a seed or an expanded key, not both; choose with --form")]
    BothAsRaw,
    #[error("{0} is not supported by this command; choose another algorithm")]
    Unsupported(Algorithm),
}

impl Failure {
    pub(crate) fn status(&self) -> ExitStatus {
        match self {
            Self::Document(error) if error.is_refusal() => ExitStatus::Refused,
            Self::Document(_) | Self::Output(_) => ExitStatus::InputOutput,
            Self::Key(KeyError::Randomness(_)) => ExitStatus::InputOutput,
            Self::Key(_)
            | Self::Issue(_)
            | Self::Request(_)
            | Self::Trust(_)
            | Self::NotAChain(_)
            | Self::Chain(_)
            | Self::UnsoundKey { .. }
            | Self::OtherKey { .. } => ExitStatus::Refused,
            Self::JsonBesideResult
            | Self::NamelessServer
            | Self::BothAsRaw
            | Self::Unsupported(_) => ExitStatus::Usage,
        }
    }

    /// Whether standard output was closed by whoever read it.
    pub(crate) fn is_broken_pipe(&self) -> bool {
        matches!(
            self,
            Self::Output(OutputError::StandardOutput { error })
                if error.kind() == io::ErrorKind::BrokenPipe
        )
    }
}

/// Failures of their causes. `#[from]` would make these the `source()` as well, and their text is in
/// the failure's.
macro_rules! from_causes {
    ($($variant:ident($cause:ty)),+) => {$(
        impl From<$cause> for Failure {
            fn from(cause: $cause) -> Self {
                Self::$variant(cause)
            }
        }
    )+};
}

from_causes!(
    Key(KeyError),
    Issue(IssueError),
    Request(RequestError),
    NotAChain(NotAChain)
);
