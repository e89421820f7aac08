//! Failures of a key in a store, which come out of whatever had it sign.

use pq_ca::authority::{AuthorityError, ResponderError};
use pq_ca::folder::FolderError;
use pq_jose::jws::JwsError;
use pq_jose::jwt::JwtError;
use pq_keys::SignError;
use pq_x509::issuing::IssueError;
use pq_x509::request::RequestError;

use super::{Failure, StoreFailure};

impl Failure {
    /// What the store said that was to sign.
    pub(super) fn of_key_in_store(&self) -> Option<&StoreFailure> {
        self.sign_error()?.get_ref().downcast_ref()
    }

    fn sign_error(&self) -> Option<&SignError> {
        match self {
            Self::Issue(error) => of_issue(error),
            Self::Request(RequestError::Sign(error)) => Some(error),
            Self::Folder(error) => of_folder(error),
            Self::Authority(error) => of_authority(error),
            Self::Unanswered(ResponderError::Issue(error)) => of_issue(error),
            Self::Signing(pq_cms::SigningError::Sign(error)) => Some(error),
            Self::Token(error) => match &**error {
                JwtError::Jws(JwsError::Sign(error)) => Some(error),
                _ => None,
            },
            _ => None,
        }
    }
}

fn of_issue(error: &IssueError) -> Option<&SignError> {
    match error {
        IssueError::Sign(error) => Some(error),
        _ => None,
    }
}

fn of_authority(error: &AuthorityError) -> Option<&SignError> {
    match error {
        AuthorityError::Issue(error) => of_issue(error),
        _ => None,
    }
}

fn of_folder(error: &FolderError) -> Option<&SignError> {
    match error {
        FolderError::Issue(error) => of_issue(error),
        FolderError::Request(RequestError::Sign(error)) => Some(error),
        FolderError::Authority(error) => of_authority(error),
        FolderError::Above(cause) | FolderError::CertifiedAbove { cause, .. } => of_folder(cause),
        _ => None,
    }
}
