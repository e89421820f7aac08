//! Why a CA does not issue, as whoever asks is told.

use pq_ca::authority::AuthorityError;
use pq_ca::ledger::LedgerError;
use pq_x509::issuing::IssueError;

/// Why a CA does not issue, in words for those who ask: they are not told of files.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) enum NoCertificate {
    /// It may issue the same later.
    NotNow,
    /// The request has to be another one.
    Request(String),
    /// It is about the names.
    Names(String),
}

impl NoCertificate {
    pub(crate) fn of(error: &AuthorityError) -> Self {
        match error {
            // It is not the request that is wrong: the key signs again some time.
            AuthorityError::Issue(
                IssueError::Sign(_) | IssueError::Randomness(_) | IssueError::WrongKey(_),
            ) => Self::NotNow,
            AuthorityError::Forbidden(forbidden) => Self::Request(forbidden.for_applicants()),
            AuthorityError::Issue(_)
            | AuthorityError::Key(_)
            | AuthorityError::OutsidePurposes { .. } => Self::Request(error.to_string()),
            AuthorityError::OutsideConstraints { .. } => Self::Names(error.to_string()),
            AuthorityError::Ledger(LedgerError::KeyCompromised(_)) => Self::Request(
                "a certificate for this key was revoked because others may know the key: make a new key".into(),
            ),
            _ => Self::NotNow,
        }
    }
}
