//! Certificates and revocation lists once they are signed, and what in them is not as the standards ask.

mod certificate;
mod document;
mod lint;
mod revocation_list;

pub(crate) use certificate::Certificate;
pub(crate) use document::document;
pub(crate) use lint::{Finding, findings};
pub(crate) use revocation_list::{CertificateRevocationList, RevokedCertificate};
