//! `pqtls.CertificateRevocationListBuilder` for Python: pq-x509's builder, with the numbers, times and reasons that
//! Python passes.

use std::time::SystemTime;

use pq_x509::certificate::Validity;
use pyo3::prelude::*;
use pyo3::types::PyInt;

use crate::input::{Time, big_endian};
use crate::names;

/// What a revocation list will contain. It is a complete list, and its number must be larger than that of any list
/// before. Each method returns a new builder, and leaves the old one unchanged.
///
/// >>> key = pqtls.SigningKey.generate("ML-DSA-65")
/// >>> root = pqtls.Issuer.self_signed(pqtls.CertificateBuilder.ca("Example Root"), key)
/// >>> builder = pqtls.CertificateRevocationListBuilder(1).revoke(5, reason="keyCompromise")
/// >>> root.issue_revocation_list(builder).entries
/// [<pqtls.RevokedCertificate 5: keyCompromise>]
#[pyclass(frozen, module = "pqtls")]
pub(crate) struct CertificateRevocationListBuilder(
    pub(super) pq_x509::revocation::CertificateRevocationListBuilder,
);

#[pymethods]
impl CertificateRevocationListBuilder {
    #[new]
    fn new(number: &Bound<'_, PyInt>) -> PyResult<Self> {
        let number = big_endian(number)?;
        Ok(Self(
            pq_x509::revocation::CertificateRevocationListBuilder::new(&number),
        ))
    }

    /// From when the list is used, and by when there will be a newer one: times with a timezone. By default it is used
    /// from one hour ago and for 7 days.
    fn validity(&self, this_update: Time, next_update: Time) -> Self {
        let validity = Validity::new(this_update.system(), next_update.system());
        Self(self.0.clone().validity(validity))
    }

    /// Lists a certificate of this CA as revoked since `date`, a time with a timezone, by default now. The reason is one
    /// of RFC 5280, such as `"keyCompromise"`.
    #[pyo3(signature = (serial_number, date=None, reason="unspecified"))]
    fn revoke(
        &self,
        serial_number: &Bound<'_, PyInt>,
        date: Option<Time>,
        reason: &str,
    ) -> PyResult<Self> {
        let date = date.map_or_else(SystemTime::now, Time::system);
        let number = big_endian(serial_number)?;
        Ok(Self(self.0.clone().revoke(
            &number,
            date,
            names::reason(reason)?,
        )))
    }
}
