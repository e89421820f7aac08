//! Revocation lists (RFC 5280 section 5): made with a [`CertificateRevocationListBuilder`], read as a
//! [`CertificateRevocationList`], and what chains are checked against, a [`RevocationPolicy`].
//!
//! This is a door: lists are of the room `certificate`, their builder of `issuing`, the policy of `validation`.

pub use crate::certificate::revocation_list::scope::UnusableList;
pub use crate::certificate::revocation_list::{
    CertificateRevocationList, RevocationListError, RevokedCertificate, reason_name,
};
pub use crate::issuing::revocation_list_builder::CertificateRevocationListBuilder;
pub use crate::validation::revocation::RevocationPolicy;
pub use x509_cert::ext::pkix::CrlReason;
