//! Requests for the status of certificates, and their responses: OCSP (RFC 6960, RFC 9654).
//!
//! These files use the rest of the [parent module](super), and what that may use.

pub(crate) mod asn1;
mod cert_id;
mod delegate;
mod error;
mod extensions;
mod nonce;
mod request;
mod response;

pub use cert_id::{CertId, OcspHash};
pub use delegate::OcspDelegateError;
pub(crate) use delegate::{check_delegate, check_delegate_usage};
pub use error::{
    InvalidOcspNonce, OcspExtensionError, OcspFailure, OcspRequestError, OcspResponseError,
};
pub use nonce::OcspNonce;
pub use request::{OcspRequest, OcspRequestBuilder};
pub use response::{CertStatus, OcspResponse, ResponderId, SingleResponse};

/// How many certificates a request may be about: each may cost the responder a look into its ledger.
const MAX_REQUESTS: usize = 100;

/// How many bytes a request may have.
const MAX_REQUEST: usize = 64 * 1024;

/// How many bytes a response may have: enough for a signature and some certificates of SLH-DSA.
const MAX_RESPONSE: usize = 1024 * 1024;

/// How many values a response may have: those of thousands of answers.
const MAX_VALUES: usize = 100_000;

/// How many certificates a response may have. At most one is needed.
const MAX_CERTIFICATES: usize = 16;
