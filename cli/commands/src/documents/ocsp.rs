//! OCSP messages in DER, or in PEM with OpenSSL's labels.

use pq_keys::encoding::pem;
use pq_x509::ocsp::{OcspRequest, OcspResponse};
use zeroize::Zeroizing;

use super::contents::Contents;
use super::error::DocumentError;
use crate::files::Source;
use crate::kind::Kind;

/// More than the library's own limits have in PEM.
const LIMIT: usize = 2 * 1024 * 1024;

/// The labels in PEM.
const REQUEST: &str = "OCSP REQUEST";
const RESPONSE: &str = "OCSP RESPONSE";

/// Reads a file with an OCSP request.
pub(crate) fn ocsp_request(source: &Source) -> Result<OcspRequest, DocumentError> {
    let bytes = source.read(LIMIT)?;
    if is_something_else(&bytes) {
        Contents::of(&bytes, &source.to_string())?.first(&[Kind::OcspRequest])?;
    }
    request_in(&bytes, source)
}

/// Reads a file with an OCSP response.
pub(crate) fn ocsp_response(source: &Source) -> Result<OcspResponse, DocumentError> {
    response_in(&source.read(LIMIT)?, source)
}

/// Whether a file has nothing of OCSP in it, but what other commands read.
fn is_something_else(bytes: &[u8]) -> bool {
    match pem::is_in(bytes) {
        true => !pem::blocks(bytes).any(|block| block.is_of(REQUEST)),
        false => Kind::of_der(bytes).is_some_and(|kind| kind == Kind::Certificate),
    }
}

/// The request in what was read from a file.
fn request_in(bytes: &[u8], source: &Source) -> Result<OcspRequest, DocumentError> {
    OcspRequest::from_der(&message(bytes, source, REQUEST)?).map_err(|error| {
        DocumentError::OcspRequest {
            file: source.to_string(),
            error,
        }
    })
}

/// The response in what was read from a file.
fn response_in(bytes: &[u8], source: &Source) -> Result<OcspResponse, DocumentError> {
    OcspResponse::from_der(&message(bytes, source, RESPONSE)?).map_err(|error| {
        DocumentError::OcspResponse {
            file: source.to_string(),
            error,
        }
    })
}

/// The DER of a message that has this label in PEM.
fn message(
    bytes: &[u8],
    source: &Source,
    label: &'static str,
) -> Result<Zeroizing<Vec<u8>>, DocumentError> {
    match pem::is_in(bytes) {
        true => pem::decode_first(bytes, label).map_err(|error| DocumentError::Pem {
            file: source.to_string(),
            error,
        }),
        false => Ok(Zeroizing::new(bytes.to_vec())),
    }
}
