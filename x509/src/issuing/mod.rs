//! Issuing: the contents of a certificate, a request, a revocation list or an OCSP response, the rules
//! for these, and the CA that signs them.
//!
//! What [`linting`](crate::linting) calls an error is never issued, whoever asks for it.
//!
//! It uses [`linting`](crate::linting), [`certificate`](crate::certificate) and [`pq_keys`], and
//! doesn't know [`validation`](crate::validation).

mod builder;
mod error;
mod issuer;
pub(crate) mod ocsp_responder;
pub(crate) mod request;
pub(crate) mod revocation_list_builder;
mod serial_number;
mod tbs;

pub use builder::{Ca, CertificateBuilder, EndEntity};
pub use error::IssueError;
pub use issuer::Issuer;
pub use tbs::TbsCertificate;
