//! `pqtls.Certificate` for Python: what a certificate says, and the check of its signature alone. What it has in common
//! with requests and revocation lists, such as reading and writing, comes from `document`.

use core::net::IpAddr;
use std::path::PathBuf;
use std::time::SystemTime;

use pq_x509::linting::Kind;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyInt};

use super::document::document;
use super::extension::{Extension, extended_key_usage, extensions};
use crate::errors::OrRaise;
use crate::input::{Text, integer, read_document, system_time};
use crate::keys::into_python;
use crate::names::{KEY_USAGES, pre_hash};

/// An X.509 certificate. Reading one only checks that it is well-formed, and not who signed it: see ChainValidator.
///
/// >>> key = pqtls.SigningKey.generate("ML-DSA-65")
/// >>> root = pqtls.Issuer.self_signed(pqtls.CertificateBuilder.ca("Example Root"), key)
/// >>> root.certificate.subject, root.certificate.is_ca
/// ('CN=Example Root', True)
/// >>> pqtls.Certificate.from_pem(root.certificate.to_pem()) == root.certificate
/// True
#[pyclass(frozen, module = "pqtls")]
pub(crate) struct Certificate(pub(crate) pq_x509::certificate::Certificate);

impl Certificate {
    const KIND: Kind = Kind::Certificate;

    fn der(&self) -> &[u8] {
        self.0.der()
    }

    fn read_pem(text: &[u8]) -> PyResult<Self> {
        pq_x509::certificate::Certificate::from_pem(text)
            .or_raise()
            .map(Self)
    }

    fn read_chain(text: &[u8]) -> PyResult<Vec<Self>> {
        let chain = pq_x509::certificate::Certificate::chain_from_pem(text).or_raise()?;
        Ok(chain.into_iter().map(Self).collect())
    }
}

document!(certificate::Certificate {
    /// Reads all certificates in a PEM text, a `str` or bytes, in their order.
    #[staticmethod]
    fn chain_from_pem(py: Python<'_>, data: Text<'_>) -> PyResult<Vec<Self>> {
        let text = data.as_bytes();
        py.detach(|| Self::read_chain(text))
    }

    /// Reads all certificates in a PEM file, or the one in a DER file.
    #[staticmethod]
    fn load_chain(py: Python<'_>, path: PathBuf) -> PyResult<Vec<Self>> {
        read_document(
            py,
            path,
            |text| py.detach(|| Self::read_chain(text)),
            |der| Ok(vec![Self(py.detach(|| pq_x509::certificate::Certificate::from_der(der)).or_raise()?)]),
        )
    }

    /// The subject's name as RFC 4514 writes it, such as `"CN=Example Root"`. It may be empty.
    #[getter]
    fn subject(&self) -> String {
        self.0.subject().to_string()
    }

    /// The issuer's name as RFC 4514 writes it.
    #[getter]
    fn issuer(&self) -> String {
        self.0.issuer().to_string()
    }

    /// The serial number, which the issuer gave to no other certificate.
    #[getter]
    fn serial_number<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyInt>> {
        integer(py, self.0.serial_number())
    }

    /// From when the certificate is valid, in UTC. Times before 1970 become 1970.
    #[getter]
    fn not_before(&self) -> SystemTime {
        system_time(self.0.not_before())
    }

    /// Until when the certificate is valid, in UTC.
    #[getter]
    fn not_after(&self) -> SystemTime {
        system_time(self.0.not_after())
    }

    /// The subject's key: a VerifyingKey or an EncapsulationKey. A classical one raises `InvalidKey`.
    fn public_key(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        into_python(py, py.detach(|| self.0.public_key()).or_raise()?)
    }

    /// Whether this is the certificate of a CA.
    #[getter]
    fn is_ca(&self) -> bool {
        self.0.is_ca()
    }

    /// How many CAs may be below this one, or None if there is no limit.
    #[getter]
    fn path_len(&self) -> Option<u8> {
        self.0.path_len()
    }

    /// What the key may be used for, by the names of RFC 5280, or None if the certificate does not say.
    #[getter]
    fn key_usage(&self) -> Option<Vec<&'static str>> {
        let usages = self.0.key_usage()?;
        let set = KEY_USAGES.iter().filter(|(usage, _)| usages.contains(*usage));
        Some(set.map(|(_, name)| *name).collect())
    }

    /// What the key may be used for in applications, by the names of RFC 5280, such as `"serverAuth"`, or as numbers with
    /// dots if RFC 5280 has no name; None if the certificate does not say.
    #[getter]
    fn extended_key_usage(&self) -> PyResult<Option<Vec<String>>> {
        extended_key_usage(self.der())
    }

    /// All extensions, in their order. What most of them say is in the other attributes.
    ///
    /// >>> key = pqtls.SigningKey.generate("ML-DSA-65")
    /// >>> root = pqtls.Issuer.self_signed(pqtls.CertificateBuilder.ca("Example Root"), key).certificate
    /// >>> [extension.oid for extension in root.extensions if extension.critical]
    /// ['2.5.29.19', '2.5.29.15']
    #[getter]
    fn extensions(&self, py: Python<'_>) -> PyResult<Vec<Extension>> {
        py.detach(|| extensions(self.der()))
    }

    /// A hash of the certificate, by which people compare certificates: `.hex()` makes text of it.
    #[pyo3(signature = (algorithm="SHA-256"))]
    fn fingerprint<'py>(&self, py: Python<'py>, algorithm: &str) -> PyResult<Bound<'py, PyBytes>> {
        let mut hasher = pre_hash(algorithm)?.hasher();
        hasher.update(self.der());
        Ok(PyBytes::new(py, hasher.finish().as_bytes()))
    }

    /// The DNS names that the certificate is for.
    #[getter]
    fn dns_names(&self) -> Vec<String> {
        self.0.dns_names().to_vec()
    }

    /// The addresses that the certificate is for, as objects of `ipaddress`.
    #[getter]
    fn ip_addresses(&self) -> Vec<IpAddr> {
        self.0.ip_addresses().to_vec()
    }

    /// The e-mail addresses that the certificate is for.
    #[getter]
    fn email_addresses(&self) -> Vec<String> {
        self.0.email_addresses().to_vec()
    }

    /// The URIs that the certificate is for.
    #[getter]
    fn uris(&self) -> Vec<String> {
        self.0.uris().to_vec()
    }

    /// The identifier by which certificates below this one name its key, if it has one.
    #[getter]
    fn subject_key_id<'py>(&self, py: Python<'py>) -> Option<Bound<'py, PyBytes>> {
        Some(PyBytes::new(py, self.0.subject_key_id()?))
    }

    /// Checks only that the key of `issuer` made this certificate's signature, by ML-DSA or SLH-DSA. It returns nothing,
    /// or raises `InvalidSignature`.
    fn verify_signature(&self, py: Python<'_>, issuer: &Self) -> PyResult<()> {
        py.detach(|| self.0.verify_signature(&issuer.0, &[])).or_raise()
    }

    fn __repr__(&self) -> String {
        format!("<pqtls.Certificate of {}>", self.0.describe_subject())
    }
});
