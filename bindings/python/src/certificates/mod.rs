//! Signed certificates and revocation lists, and what in them does not follow the standards.

mod certificate;
mod document;
mod extension;
mod lint;
mod revocation_list;

pub(crate) use certificate::Certificate;
pub(crate) use document::document;
pub(crate) use extension::Extension;
pub(crate) use lint::{Finding, findings};
pub(crate) use revocation_list::{CertificateRevocationList, RevokedCertificate};
