//! OCSP messages, which have no PEM.

use pq_x509::{OcspRequest, OcspResponse};

use super::error::DocumentError;
use crate::files::Source;

/// More than the library's own limits.
const LIMIT: usize = 2 * 1024 * 1024;

/// Reads a file with an OCSP request.
pub(crate) fn ocsp_request(source: &Source) -> Result<OcspRequest, DocumentError> {
    OcspRequest::from_der(&source.read(LIMIT)?).map_err(|error| DocumentError::OcspRequest {
        file: source.to_string(),
        error,
    })
}

/// Reads a file with an OCSP response.
pub(crate) fn ocsp_response(source: &Source) -> Result<OcspResponse, DocumentError> {
    OcspResponse::from_der(&source.read(LIMIT)?).map_err(|error| DocumentError::OcspResponse {
        file: source.to_string(),
        error,
    })
}
