//! The outcome of issuing.

use pq_x509::certificate::Certificate;
use pq_x509::issuing::IssueError;

use crate::authority::AuthorityError;
use crate::ledger::{Issued, Ledger, LedgerError, RequestId};

/// A certificate that the ledger has, and that may be handed out.
#[derive(Debug)]
pub struct IssuedCertificate {
    /// What the ledger says of it.
    pub entry: Issued,
    /// The certificate itself.
    pub certificate: Certificate,
}

impl IssuedCertificate {
    /// The certificate that was issued for a request, or `None` if none was.
    ///
    /// # Errors
    ///
    /// If the ledger can't be read.
    pub fn of_request(
        ledger: &impl Ledger,
        request: &RequestId,
    ) -> Result<Option<Self>, AuthorityError> {
        let Some(entry) = ledger.of_request(request)? else {
            return Ok(None);
        };
        let number = entry.issued.serial_number;
        let der = ledger.certificate(&number)?;
        let der = der.ok_or(LedgerError::Unknown(number))?;
        Ok(Some(Self {
            entry: entry.issued,
            certificate: Certificate::from_der(&der).map_err(IssueError::from)?,
        }))
    }
}
