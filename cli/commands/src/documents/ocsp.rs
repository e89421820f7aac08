//! OCSP's messages, of which there is no PEM.

use pq_x509::{OcspRequest, OcspResponse};

use super::error::DocumentError;
use crate::files::Source;

/// The libraries' own limits are below.
const LIMIT: usize = 2 * 1024 * 1024;

/// The OCSP request that a file is.
pub(crate) fn ocsp_request(source: &Source) -> Result<OcspRequest, DocumentError> {
    OcspRequest::from_der(&source.read(LIMIT)?).map_err(|error| DocumentError::OcspRequest {
        file: source.to_string(),
        error,
    })
}

/// The OCSP response that a file is.
pub(crate) fn ocsp_response(source: &Source) -> Result<OcspResponse, DocumentError> {
    OcspResponse::from_der(&source.read(LIMIT)?).map_err(|error| DocumentError::OcspResponse {
        file: source.to_string(),
        error,
    })
}
