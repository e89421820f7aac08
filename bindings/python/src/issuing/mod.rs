//! Builders of certificates, requests and revocation lists, and the CA that issues.

mod builder;
mod issuer;
mod request;
mod revocation_list_builder;

pub(crate) use builder::CertificateBuilder;
pub(crate) use issuer::Issuer;
pub(crate) use request::{CertificateRequest, RequestBuilder, VerifiedRequest};
pub(crate) use revocation_list_builder::CertificateRevocationListBuilder;
