//! Requests for Python: `pqtls.RequestBuilder` makes a `CertificateRequest`, and verifying that gives a
//! `VerifiedRequest`, which an `Issuer` certifies.

use core::net::IpAddr;

use pq_x509::linting::Kind;
use pyo3::prelude::*;

use super::builder::{CertificateBuilder, parse_name};
use crate::certificates::document;
use crate::errors::OrRaise;
use crate::keys::{SigningKey, into_python};

/// A certification request (PKCS#10, RFC 2986): names and a public key, signed by the private key that belongs to it.
/// A request that was only read has proven nothing yet: `verify` it.
#[pyclass(frozen, module = "pqtls")]
pub(crate) struct CertificateRequest(pq_x509::request::CertificateRequest);

impl CertificateRequest {
    const KIND: Kind = Kind::Request;

    fn der(&self) -> &[u8] {
        self.0.to_der()
    }

    fn read_pem(text: &[u8]) -> PyResult<Self> {
        pq_x509::request::CertificateRequest::from_pem(text)
            .or_raise()
            .map(Self)
    }
}

document!(request::CertificateRequest {
    /// Checks the proof of possession of an ML-DSA or SLH-DSA key: the request must be signed by the key in it. The
    /// result says what the request asks for.
    fn verify(&self, py: Python<'_>) -> PyResult<VerifiedRequest> {
        let request = self.0.clone();
        py.detach(|| request.verify()).or_raise().map(VerifiedRequest)
    }

    fn __repr__(&self) -> &'static str {
        "<pqtls.CertificateRequest, not verified>"
    }
});

/// What a request will ask for. Each method returns a new builder, and leaves the old one unchanged.
///
/// >>> key = pqtls.SigningKey.generate("ML-DSA-65")
/// >>> request = pqtls.RequestBuilder().dns_name("example.org").sign(key)
/// >>> request.verify().dns_names
/// ['example.org']
#[pyclass(frozen, module = "pqtls")]
pub(crate) struct RequestBuilder(pq_x509::request::RequestBuilder);

#[pymethods]
impl RequestBuilder {
    #[new]
    fn new() -> Self {
        Self(pq_x509::request::CertificateRequest::builder())
    }

    /// The subject's common name, of 1 to 64 characters, in place of any other name.
    fn common_name(&self, name: String) -> Self {
        Self(self.0.clone().common_name(name))
    }

    /// The subject's full name, as RFC 4514 writes it, such as `"CN=Example,O=Example,C=SE"`.
    fn subject(&self, name: &str) -> PyResult<Self> {
        Ok(Self(self.0.clone().subject(parse_name(name)?)))
    }

    /// Adds a DNS name. The first label may be `*`.
    fn dns_name(&self, name: String) -> Self {
        Self(self.0.clone().dns_name(name))
    }

    /// Adds an address: a `str` or an object of `ipaddress`.
    fn ip_address(&self, address: IpAddr) -> Self {
        Self(self.0.clone().ip_address(address))
    }

    /// Adds an e-mail address.
    fn email_address(&self, address: String) -> Self {
        Self(self.0.clone().email_address(address))
    }

    /// Adds a URI, such as a SPIFFE ID.
    fn uri(&self, uri: String) -> Self {
        Self(self.0.clone().uri(uri))
    }

    /// Signs the request with the key that the certificate will be for.
    fn sign(&self, py: Python<'_>, key: &SigningKey) -> PyResult<CertificateRequest> {
        let request = self.0.clone();
        py.detach(|| request.sign(&key.key))
            .or_raise()
            .map(CertificateRequest)
    }
}

/// A request whose sender has proven to have the private key. The CA has to find out whether the names belong to the
/// sender.
#[pyclass(frozen, module = "pqtls")]
pub(crate) struct VerifiedRequest(pub(super) pq_x509::request::VerifiedRequest);

#[pymethods]
impl VerifiedRequest {
    /// The name asked for, as RFC 4514 writes it. It may be empty.
    #[getter]
    fn subject(&self) -> String {
        self.0.subject().to_string()
    }

    /// The DNS names asked for.
    #[getter]
    fn dns_names(&self) -> Vec<String> {
        self.0.dns_names().to_vec()
    }

    /// The addresses asked for, as objects of `ipaddress`.
    #[getter]
    fn ip_addresses(&self) -> Vec<IpAddr> {
        self.0.ip_addresses().to_vec()
    }

    /// The e-mail addresses asked for. Issuing checks them.
    #[getter]
    fn email_addresses(&self) -> Vec<String> {
        self.0.email_addresses().to_vec()
    }

    /// The URIs asked for. Issuing checks them.
    #[getter]
    fn uris(&self) -> Vec<String> {
        self.0.uris().to_vec()
    }

    /// The public key.
    fn public_key(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        into_python(py, py.detach(|| self.0.public_key()).or_raise()?)
    }

    /// A builder with the names of the request, and nothing else: the CA decides on purposes, key usage and validity.
    fn certificate(&self) -> CertificateBuilder {
        CertificateBuilder::end_entity_of(self.0.certificate())
    }

    fn __repr__(&self) -> String {
        format!("<pqtls.VerifiedRequest of {:?}>", self.subject())
    }
}
