//! `pqtls.Issuer` for Python, the CA. The subject's key may be any object that has a public key, or the DER of a
//! SubjectPublicKeyInfo.

use pq_keys::SubjectKey;
use pq_x509::pki_types::SubjectPublicKeyInfoDer;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;

use super::builder::{CertificateBuilder, Role};
use super::request::VerifiedRequest;
use super::revocation_list_builder::CertificateRevocationListBuilder;
use crate::certificates::{Certificate, CertificateRevocationList};
use crate::errors::OrRaise;
use crate::errors::exceptions::IssueError;
use crate::input::Bytes;
use crate::keys::{DecapsulationKey, EncapsulationKey, SigningKey, VerifyingKey};

/// A CA: a certificate and the key that belongs to it. It never changes, and threads may share it.
///
/// >>> root = pqtls.Issuer.self_signed(
/// ...     pqtls.CertificateBuilder.ca("Example Root"), pqtls.SigningKey.generate("ML-DSA-65")
/// ... )
/// >>> key = pqtls.SigningKey.generate("ML-DSA-65")
/// >>> root.issue(pqtls.CertificateBuilder.server().dns_name("example.org"), key).issuer
/// 'CN=Example Root'
#[pyclass(frozen, module = "pqtls")]
pub(crate) struct Issuer(pq_x509::issuing::Issuer<pq_keys::SigningKey>);

#[pymethods]
impl Issuer {
    /// Makes an issuer from a CA's certificate and key. Whether the certificate has expired or leads to a trusted root
    /// is not checked.
    #[new]
    fn new(certificate: &Certificate, key: &SigningKey) -> PyResult<Self> {
        pq_x509::issuing::Issuer::new(certificate.0.clone(), key.key.clone())
            .or_raise()
            .map(Self)
    }

    /// Makes a root: a CA whose certificate is signed by its own key.
    #[staticmethod]
    fn self_signed(
        py: Python<'_>,
        builder: &CertificateBuilder,
        key: &SigningKey,
    ) -> PyResult<Self> {
        let Role::Ca(builder) = builder.0.clone() else {
            return Err(not_a_ca());
        };
        let key = key.key.clone();
        let issuer = py.detach(|| pq_x509::issuing::Issuer::self_signed(builder, key));
        issuer.or_raise().map(Self)
    }

    /// The CA's own certificate.
    #[getter]
    fn certificate(&self) -> Certificate {
        Certificate(self.0.certificate().clone())
    }

    /// Issues a certificate for a key of this package, for the key in a VerifiedRequest or a Certificate, or for the
    /// DER of a classical key's SubjectPublicKeyInfo.
    fn issue(
        &self,
        py: Python<'_>,
        builder: &CertificateBuilder,
        subject: &Bound<'_, PyAny>,
    ) -> PyResult<Certificate> {
        let key = spki_of(subject)?;
        let builder = builder.0.clone();
        let certificate = py.detach(|| match builder {
            Role::Ca(builder) => self.0.issue(builder, &key),
            Role::EndEntity(builder) => self.0.issue(builder, &key),
        });
        certificate.or_raise().map(Certificate)
    }

    /// Issues a certificate for another CA and returns that CA.
    fn issue_ca(
        &self,
        py: Python<'_>,
        builder: &CertificateBuilder,
        key: &SigningKey,
    ) -> PyResult<Self> {
        let Role::Ca(builder) = builder.0.clone() else {
            return Err(not_a_ca());
        };
        let key = key.key.clone();
        py.detach(|| self.0.issue_ca(builder, key))
            .or_raise()
            .map(Self)
    }

    /// Issues a revocation list.
    fn issue_revocation_list(
        &self,
        py: Python<'_>,
        builder: &CertificateRevocationListBuilder,
    ) -> PyResult<CertificateRevocationList> {
        let builder = builder.0.clone();
        let list = py.detach(|| self.0.issue_revocation_list(builder));
        list.or_raise().map(CertificateRevocationList)
    }

    fn __repr__(&self) -> String {
        format!("<pqtls.Issuer {}>", self.0.certificate().describe_subject())
    }

    fn __reduce__(&self) -> PyResult<()> {
        Err(PyTypeError::new_err(
            "an Issuer is not pickled, as that would copy the secret of its key",
        ))
    }
}

fn not_a_ca() -> PyErr {
    IssueError::new_err(
        "the certificate must be a CA's; begin the builder with CertificateBuilder.ca()",
    )
}

/// The public key of an object that has one.
fn spki_of(subject: &Bound<'_, PyAny>) -> PyResult<SubjectPublicKeyInfoDer<'static>> {
    let of = |key: &dyn SubjectKey| Ok(key.spki().into_owned());
    if let Ok(key) = subject.cast::<SigningKey>() {
        return of(&key.get().key);
    }
    if let Ok(key) = subject.cast::<VerifyingKey>() {
        return of(key.get().key());
    }
    if let Ok(key) = subject.cast::<DecapsulationKey>() {
        return of(&key.get().key);
    }
    if let Ok(key) = subject.cast::<EncapsulationKey>() {
        return of(key.get().key());
    }
    if let Ok(request) = subject.cast::<VerifiedRequest>() {
        return of(&request.get().0);
    }
    if let Ok(certificate) = subject.cast::<Certificate>() {
        return of(&certificate.get().0);
    }
    let Some(der) = Bytes::of(subject.as_borrowed())? else {
        return Err(PyTypeError::new_err(format!(
            "a key, a VerifiedRequest or the DER of a SubjectPublicKeyInfo is required, not '{}'",
            subject.get_type().name()?
        )));
    };
    Ok(der.to_vec().into())
}
