//! OCSP messages, which have no PEM.

use pq_x509::ocsp::{OcspRequest, OcspResponse};

use super::contents::Contents;
use super::error::DocumentError;
use crate::files::Source;

/// More than the library's own limits.
const LIMIT: usize = 2 * 1024 * 1024;

/// Reads a file with an OCSP request.
pub(crate) fn ocsp_request(source: &Source) -> Result<OcspRequest, DocumentError> {
    let bytes = source.read(LIMIT)?;
    refuse_pem(&bytes, source, "request")?;
    OcspRequest::from_der(&bytes).map_err(|error| DocumentError::OcspRequest {
        file: source.to_string(),
        error,
    })
}

/// Reads a file with an OCSP response.
pub(crate) fn ocsp_response(source: &Source) -> Result<OcspResponse, DocumentError> {
    let bytes = source.read(LIMIT)?;
    refuse_pem(&bytes, source, "response")?;
    OcspResponse::from_der(&bytes).map_err(|error| DocumentError::OcspResponse {
        file: source.to_string(),
        error,
    })
}

/// There is no PEM of OCSP messages, so it is another file.
fn refuse_pem(bytes: &[u8], source: &Source, what: &'static str) -> Result<(), DocumentError> {
    match Contents::has_block(bytes) {
        false => Ok(()),
        true => Err(DocumentError::OcspInPem {
            file: source.to_string(),
            what,
        }),
    }
}
