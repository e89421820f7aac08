//! OCSP (RFC 6960, RFC 9654): whoever asks has [`OcspRequest`] and verifies the [`OcspResponse`] with an [`OcspVerifier`];
//! whoever answers has an [`OcspResponder`]. A [`ChainValidator`](crate::validation::ChainValidator) takes responses beside
//! lists.
//!
//! This is a door: the messages are of the room `certificate`, the responder of `issuing`, the verifier of `validation`.

pub use crate::certificate::ocsp::{
    CertId, CertStatus, InvalidOcspNonce, OcspDelegateError, OcspExtensionError, OcspFailure,
    OcspHash, OcspNonce, OcspRequest, OcspRequestBuilder, OcspRequestError, OcspResponse,
    OcspResponseError, ResponderId, SingleResponse,
};
pub use crate::issuing::ocsp_responder::OcspResponder;
pub use crate::validation::error::OcspError;
pub use crate::validation::ocsp::{OcspVerifier, VerifiedAnswer};
