//! OCSP messages in DER, or in PEM with OpenSSL's labels.

use pq_keys::encoding::pem;
use pq_x509::ocsp::{OcspRequest, OcspResponse};
use zeroize::Zeroizing;

use super::error::DocumentError;
use crate::files::Source;

/// More than the library's own limits have in PEM.
const LIMIT: usize = 2 * 1024 * 1024;

/// Reads a file with an OCSP request.
pub(crate) fn ocsp_request(source: &Source) -> Result<OcspRequest, DocumentError> {
    OcspRequest::from_der(&message(source, "OCSP REQUEST")?).map_err(|error| {
        DocumentError::OcspRequest {
            file: source.to_string(),
            error,
        }
    })
}

/// Reads a file with an OCSP response.
pub(crate) fn ocsp_response(source: &Source) -> Result<OcspResponse, DocumentError> {
    OcspResponse::from_der(&message(source, "OCSP RESPONSE")?).map_err(|error| {
        DocumentError::OcspResponse {
            file: source.to_string(),
            error,
        }
    })
}

/// The DER of a message that has this label in PEM.
fn message(source: &Source, label: &'static str) -> Result<Zeroizing<Vec<u8>>, DocumentError> {
    let bytes = source.read(LIMIT)?;
    match pem::is_in(&bytes) {
        true => pem::decode_first(&*bytes, label).map_err(|error| DocumentError::Pem {
            file: source.to_string(),
            error,
        }),
        false => Ok(bytes),
    }
}
