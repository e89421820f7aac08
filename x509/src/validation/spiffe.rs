//! The rules for a certificate with a SPIFFE ID.

use const_oid::db::rfc5280::{ID_KP_CLIENT_AUTH, ID_KP_SERVER_AUTH};
use x509_cert::ext::pkix::KeyUsages;

use crate::certificate::{Certificate, SpiffeId, SpiffeIdError};

/// Why a certificate vouches for no SPIFFE ID, by the
/// [X.509-SVID standard](https://github.com/spiffe/spiffe/blob/main/standards/X509-SVID.md).
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum SvidError {
    /// There is no URI, or more than one (section 2).
    #[error(
        "it has {0} URIs among its alternative names, but must have exactly one, its SPIFFE ID"
    )]
    NumberOfUris(usize),
    /// The URI is no SPIFFE ID.
    #[error(transparent)]
    Id(#[from] SpiffeIdError),
    /// The ID names a trust domain (section 3.1).
    #[error("{0} names a trust domain, but no workload; have one issued for an ID with a path")]
    WithoutPath(SpiffeId),
    /// The certificate is a CA's (section 4.1).
    #[error("it is a CA's, but only an end entity can authenticate by a SPIFFE ID")]
    Ca,
    /// The key usage breaks the rules (section 4.3).
    #[error(
        "its key usage must be there and critical, with digitalSignature and with neither keyCertSign \
         nor cRLSign"
    )]
    KeyUsage,
    /// There is an extended key usage that lacks one of the two (section 4.4).
    #[error("its extended key usage must have serverAuth and clientAuth, if there is one")]
    Purposes,
}

/// The SPIFFE ID that an end entity's certificate is for.
pub(super) fn id_of(certificate: &Certificate) -> Result<SpiffeId, SvidError> {
    let [uri] = certificate.uris() else {
        return Err(SvidError::NumberOfUris(certificate.uris().len()));
    };
    let id: SpiffeId = uri.parse()?;
    if id.path().is_empty() {
        return Err(SvidError::WithoutPath(id));
    }
    if certificate.is_ca() {
        return Err(SvidError::Ca);
    }
    let is_usage_right = certificate.key_usage().is_some_and(|usages| {
        usages.contains(KeyUsages::DigitalSignature)
            && !usages.contains(KeyUsages::KeyCertSign)
            && !usages.contains(KeyUsages::CRLSign)
    });
    if !(is_usage_right && certificate.has_critical_key_usage()) {
        return Err(SvidError::KeyUsage);
    }
    let lacks_one = |purposes: &[_]| {
        ![ID_KP_SERVER_AUTH, ID_KP_CLIENT_AUTH]
            .iter()
            .all(|purpose| purposes.contains(purpose))
    };
    match certificate.extended_key_usage().is_some_and(lacks_one) {
        true => Err(SvidError::Purposes),
        false => Ok(id),
    }
}
