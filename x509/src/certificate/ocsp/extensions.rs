//! Extensions of requests and responses.

use const_oid::ObjectIdentifier;
use const_oid::db::rfc6960::ID_PKIX_OCSP_NONCE;
use x509_cert::ext::Extension;

use super::error::OcspExtensionError;
use crate::certificate::extensions::{Extensions, critical_beside, repeated};

/// Checks the extensions of a whole request or response. Only a nonce is processed.
pub(super) fn check(extensions: &[Extension]) -> Result<(), OcspExtensionError> {
    check_beside(&[ID_PKIX_OCSP_NONCE], extensions)
}

/// Checks the extensions of the part about one certificate. None of them is processed.
pub(super) fn check_single(extensions: Option<&Extensions>) -> Result<(), OcspExtensionError> {
    check_beside(&[], extensions.map_or(&[], |extensions| &extensions.0))
}

fn check_beside(
    processed: &[ObjectIdentifier],
    extensions: &[Extension],
) -> Result<(), OcspExtensionError> {
    if let Some(oid) = repeated(extensions) {
        return Err(OcspExtensionError::Repeated(oid));
    }
    match critical_beside(processed, extensions) {
        Some(oid) => Err(OcspExtensionError::Critical(oid)),
        None => Ok(()),
    }
}
