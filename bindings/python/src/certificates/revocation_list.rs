//! `pqtls.CertificateRevocationList` for Python, and its entries, `pqtls.RevokedCertificate`. The methods that all
//! documents have come from `document`.

use std::time::SystemTime;

use pq_x509::linting::Kind;
use pyo3::prelude::*;
use pyo3::types::PyInt;

use super::certificate::Certificate;
use super::document::document;
use crate::errors::OrRaise;
use crate::input::{Text, integer, system_time};
use crate::names::name_of_reason;

/// A certificate revocation list, whose `len` is the number of certificates on it. Reading one only checks that it is
/// well-formed, and not who signed it: see ChainValidator.
#[pyclass(frozen, module = "pqtls")]
pub(crate) struct CertificateRevocationList(
    pub(crate) pq_x509::revocation::CertificateRevocationList,
);

impl CertificateRevocationList {
    const KIND: Kind = Kind::RevocationList;

    fn der(&self) -> &[u8] {
        self.0.der()
    }

    fn read_pem(text: &[u8]) -> PyResult<Self> {
        pq_x509::revocation::CertificateRevocationList::from_pem(text)
            .or_raise()
            .map(Self)
    }
}

document!(revocation::CertificateRevocationList {
    /// Reads all lists in a PEM text, a `str` or bytes, in their order.
    #[staticmethod]
    fn all_from_pem(py: Python<'_>, data: Text<'_>) -> PyResult<Vec<Self>> {
        let text = data.as_bytes();
        let lists = py.detach(|| pq_x509::revocation::CertificateRevocationList::all_from_pem(text));
        Ok(lists.or_raise()?.into_iter().map(Self).collect())
    }

    /// The name of the CA that signed the list, and whose certificates are on it.
    #[getter]
    fn issuer(&self) -> String {
        self.0.issuer().to_string()
    }

    /// When the list was issued, in UTC.
    #[getter]
    fn this_update(&self) -> SystemTime {
        system_time(self.0.this_update())
    }

    /// By when a newer list is issued, in UTC, if the list says so.
    #[getter]
    fn next_update(&self) -> Option<SystemTime> {
        Some(system_time(self.0.next_update()?))
    }

    /// The list's number, if there is one. A CA's numbers increase from list to list.
    #[getter]
    fn number<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyInt>>> {
        self.0.number().map(|number| integer(py, number)).transpose()
    }

    /// The revoked certificates, in the list's order.
    #[getter]
    fn entries(&self, py: Python<'_>) -> Vec<RevokedCertificate> {
        py.detach(|| self.0.entries().iter().cloned().map(RevokedCertificate).collect())
    }

    /// The entry for a certificate, if it is on the list of its issuer. Who made the list, and when, is not checked.
    fn entry_for(&self, certificate: &Certificate) -> Option<RevokedCertificate> {
        self.0.entry_for(&certificate.0).cloned().map(RevokedCertificate)
    }

    /// Checks only that the key of `issuer` made this list's signature, by ML-DSA or SLH-DSA. It returns nothing, or
    /// raises `InvalidSignature`.
    fn verify_signature(&self, py: Python<'_>, issuer: &Certificate) -> PyResult<()> {
        py.detach(|| self.0.verify_signature(&issuer.0, &[])).or_raise()
    }

    fn __len__(&self) -> usize {
        self.0.entries().len()
    }

    fn __repr__(&self) -> String {
        format!(
            "<pqtls.CertificateRevocationList of {}, entries: {}>",
            self.0.issuer(),
            self.0.entries().len()
        )
    }
});

/// An entry of a revocation list.
#[pyclass(frozen, eq, module = "pqtls")]
#[derive(PartialEq)]
pub(crate) struct RevokedCertificate(pq_x509::revocation::RevokedCertificate);

#[pymethods]
impl RevokedCertificate {
    /// The certificate's serial number.
    #[getter]
    fn serial_number<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyInt>> {
        integer(py, self.0.serial_number())
    }

    /// When the certificate was revoked, in UTC.
    #[getter]
    fn date(&self) -> SystemTime {
        system_time(self.0.date())
    }

    /// Why it was revoked, by the names of RFC 5280, such as `"keyCompromise"`.
    #[getter]
    fn reason(&self) -> &'static str {
        name_of_reason(self.0.reason())
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        Ok(format!(
            "<pqtls.RevokedCertificate {}: {}>",
            self.serial_number(py)?,
            self.reason()
        ))
    }
}
