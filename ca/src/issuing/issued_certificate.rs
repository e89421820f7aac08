//! The outcome of issuing.

use pq_x509::certificate::Certificate;

use crate::ledger::Issued;

/// A certificate that the ledger has, and that may be handed out.
#[derive(Debug)]
pub struct IssuedCertificate {
    /// What the ledger says of it.
    pub entry: Issued,
    /// The certificate itself.
    pub certificate: Certificate,
}
