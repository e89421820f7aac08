//! The extensions of a certificate as Python objects: as they stand in it, whether they are understood or not.

use pq_keys::encoding::syntax::values;
use pq_x509::x509_cert::der::asn1::AnyRef;
use pq_x509::x509_cert::der::{Tag, TagNumber, Tagged};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::errors::exceptions::CertificateError;
use crate::input::hash_of;
use crate::names::name_of_purpose;

/// An extension of a certificate.
#[pyclass(frozen, eq, module = "pqtls")]
#[derive(PartialEq)]
pub(crate) struct Extension {
    oid: String,
    critical: bool,
    value: Vec<u8>,
}

#[pymethods]
impl Extension {
    /// Which extension it is, as numbers with dots, such as `"2.5.29.17"` for subjectAltName.
    #[getter]
    fn oid(&self) -> &str {
        &self.oid
    }

    /// Whether a reader that does not know the extension must refuse the certificate.
    #[getter]
    fn critical(&self) -> bool {
        self.critical
    }

    /// What it says: the DER within the extension's OCTET STRING.
    #[getter]
    fn value<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.value)
    }

    fn __hash__(&self, py: Python<'_>) -> PyResult<isize> {
        hash_of(py, &self.value)
    }

    fn __repr__(&self) -> String {
        let critical = if self.critical { ", critical" } else { "" };
        let octets = self.value.len();
        format!("<pqtls.Extension {}{critical}, bytes: {octets}>", self.oid)
    }
}

/// The extensions of a certificate that was read, in their order.
pub(super) fn extensions(certificate: &[u8]) -> PyResult<Vec<Extension>> {
    // Certificate, TBSCertificate, its extensions [3], and the sequence in that (RFC 5280 section 4.1)
    let body = first(certificate).and_then(|certificate| first(certificate.value()));
    let tagged = body.and_then(|body| values(body.value()).find(|value| value.tag() == EXTENSIONS));
    let list = tagged.and_then(|tagged| first(tagged.value()));
    let extensions = list.into_iter().flat_map(|list| values(list.value()));
    extensions
        .map(|extension| read(extension.value()))
        .collect()
}

const EXTENSIONS: Tag = Tag::ContextSpecific {
    constructed: true,
    number: TagNumber(3),
};

fn first(contents: &[u8]) -> Option<AnyRef<'_>> {
    values(contents).next()
}

/// Reads the contents of an Extension: identifier, criticality and value.
fn read(contents: &[u8]) -> PyResult<Extension> {
    let (mut oid, mut critical, mut value) = (None, false, None);
    for part in values(contents) {
        match part.tag() {
            Tag::ObjectIdentifier => oid = dotted(part.value()),
            Tag::Boolean => critical = true,
            Tag::OctetString => value = Some(part.value().to_vec()),
            _ => {}
        }
    }
    let (oid, value) = oid.zip(value).ok_or_else(too_long)?;
    Ok(Extension {
        oid,
        critical,
        value,
    })
}

fn too_long() -> PyErr {
    CertificateError::new_err(
        "an object identifier in an extension has a number above 128 bits, which is not read",
    )
}

/// The purposes in the extKeyUsage extension of a certificate that was read, if it has one (RFC 5280 section 4.2.1.12).
pub(super) fn extended_key_usage(certificate: &[u8]) -> PyResult<Option<Vec<String>>> {
    let extensions = extensions(certificate)?;
    let Some(usage) = extensions.iter().find(|one| one.oid == "2.5.29.37") else {
        return Ok(None);
    };
    let purposes = first(&usage.value).into_iter();
    let purposes = purposes.flat_map(|list| values(list.value()));
    purposes
        .map(|purpose| {
            Ok(name_of_purpose(
                dotted(purpose.value()).ok_or_else(too_long)?,
            ))
        })
        .collect::<PyResult<_>>()
        .map(Some)
}

/// An object identifier as numbers with dots, from its encoding (X.690 section 8.19). Its numbers have up to 128 bits, as
/// UUIDs have.
fn dotted(octets: &[u8]) -> Option<String> {
    let mut numbers = octets.split_inclusive(|octet| octet & 0x80 == 0);
    let number = |octets: &[u8]| {
        octets.iter().try_fold(0_u128, |number, octet| {
            let shifted = number.checked_mul(0x80)?;
            Some(shifted | u128::from(octet & 0x7f))
        })
    };
    // The first two are in one: the first is at most 2.
    let both = number(numbers.next()?)?;
    let first = (both / 40).min(2);
    let rest = numbers.map(number).collect::<Option<Vec<_>>>()?;
    let all = [first, both - 40 * first].into_iter().chain(rest);
    let all: Vec<_> = all.map(|number| number.to_string()).collect();
    Some(all.join("."))
}
