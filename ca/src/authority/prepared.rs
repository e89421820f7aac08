//! Certificates that are signed and not recorded yet, for programs that have something to do in between.

use core::{fmt, slice};

use pq_x509::certificate::Certificate;
use pq_x509::issuing::IssueError;
use pq_x509::keys::Signer;

use super::Authority;
use super::error::AuthorityError;
use crate::ledger::{Condition, Evidence, Issued, Ledger, NewEntry, RequestId};

/// A certificate that the CA signed and that its ledger does not have yet. Nobody gets it before.
#[must_use = "a certificate is issued only when the ledger has it"]
pub struct Prepared<'a, S, L> {
    pub(super) authority: &'a Authority<S, L>,
    pub(super) made: NewEntry<'static>,
    /// What has to be so when it is recorded.
    pub(super) conditions: Vec<Condition<'a>>,
}

impl<S, L> Prepared<'_, S, L> {
    /// What the ledger is going to have.
    pub fn entry(&self) -> &NewEntry<'static> {
        &self.made
    }

    /// The same for a request, and on this evidence.
    pub(crate) fn with_origin(
        mut self,
        request: Option<RequestId>,
        evidence: Option<Evidence>,
    ) -> Self {
        let Issued {
            request: of,
            evidence: on,
            ..
        } = &mut self.made.issued;
        (*of, *on) = (request.or(*of), evidence.or_else(|| on.take()));
        self
    }

    /// The certificate, which is not issued yet.
    ///
    /// # Errors
    ///
    /// If it can't be read.
    pub(crate) fn certificate(&self) -> Result<Certificate, AuthorityError> {
        Ok(Certificate::from_der(&self.made.certificate).map_err(IssueError::from)?)
    }
}

impl<S: Signer, L: Ledger> Prepared<'_, S, L> {
    /// Whether the ledger would take the certificate, as far as it knows now. It records nothing.
    ///
    /// # Errors
    ///
    /// Those of [`record`](Self::record), except of writing.
    pub fn check(&self) -> Result<(), AuthorityError> {
        let issues = self.authority.has_to_issue(slice::from_ref(&self.made));
        let conditions: Vec<_> = self.conditions.iter().copied().chain(issues).collect();
        self.authority.check_recordable(&self.made, &conditions)
    }

    /// Records the certificate in the ledger, and returns it.
    ///
    /// # Errors
    ///
    /// Those of [`Authority::issue`] and [`Authority::renew`], except of what the policy forbids.
    pub fn record(self) -> Result<Certificate, AuthorityError> {
        let certificate = self.certificate()?;
        let Self {
            authority,
            made,
            conditions,
        } = self;
        authority.record(&[made], &conditions)?;
        Ok(certificate)
    }
}

impl<S, L> fmt::Debug for Prepared<'_, S, L> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Prepared")
            .field("serial_number", &self.made.issued.serial_number)
            .finish_non_exhaustive()
    }
}
