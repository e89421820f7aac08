//! Why no certificate is handed out, and whether one was issued nevertheless.

use pq_x509::certificate::Certificate;

use super::issued_certificate::IssuedCertificate;
use crate::authority::AuthorityError;
use crate::ledger::{Issued, Ledger, LedgerError};

/// Why no certificate is handed out.
#[derive(Debug, thiserror::Error)]
pub enum IssuanceError {
    /// None was issued, and there is nothing to undo. Ask again when the cause is gone.
    #[error("{0}")]
    NotIssued(AuthorityError),
    /// The ledger failed while it recorded the certificate, and may have it. Do not ask again before
    /// [`Unsettled::settle`] says that it does not: there would be two.
    #[error("{0}")]
    Unsettled(Box<Unsettled>),
}

impl IssuanceError {
    /// What happened.
    pub fn into_cause(self) -> AuthorityError {
        match self {
            Self::NotIssued(cause) => cause,
            Self::Unsettled(unsettled) => unsettled.cause,
        }
    }
}

/// A certificate of which nobody knows yet whether it was issued.
#[derive(Debug, thiserror::Error)]
#[error("{cause}; the ledger may have the certificate with serial number {} nevertheless", .issued.entry.serial_number)]
pub struct Unsettled {
    pub(super) cause: AuthorityError,
    pub(super) issued: IssuedCertificate,
}

impl Unsettled {
    /// What the ledger has if the certificate was issued.
    pub fn entry(&self) -> &Issued {
        &self.issued.entry
    }

    /// Asks the ledger. If it has the certificate, this was issued, and may be handed out. If it does not, none was
    /// issued, and one may be asked for again.
    ///
    /// # Errors
    ///
    /// If the ledger can't be read. Then nobody knows still.
    pub fn settle(&self, ledger: &impl Ledger) -> Result<Option<&IssuedCertificate>, LedgerError> {
        let kept = ledger.certificate(&self.issued.entry.serial_number)?;
        let is_this = kept.is_some_and(|kept| kept == *Certificate::der(&self.issued.certificate));
        Ok(is_this.then_some(&self.issued))
    }
}
