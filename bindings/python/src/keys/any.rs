//! Keys of any algorithm.

use std::path::PathBuf;

use pq_keys::{PrivateKey, PublicKey};
use pyo3::prelude::*;

use super::encapsulation::{DecapsulationKey, EncapsulationKey};
use super::encrypted;
use super::signing::{SigningKey, VerifyingKey};
use crate::errors::OrRaise;
use crate::input::{Text, read_document};

/// Reads a private key of any algorithm from a file, PEM or DER: a SigningKey or a DecapsulationKey. An encrypted one needs
/// its passphrase, a `str` or bytes.
#[pyfunction]
#[pyo3(signature = (path, passphrase=None))]
pub(crate) fn load_private_key(
    py: Python<'_>,
    path: PathBuf,
    passphrase: Option<Text<'_>>,
) -> PyResult<Py<PyAny>> {
    let passphrase = passphrase.as_ref().map(Text::as_bytes);
    let key = read_document(
        py,
        path,
        |text| {
            py.detach(|| match passphrase {
                None => PrivateKey::from_pkcs8_pem(text).map_err(encrypted::of_pem),
                Some(passphrase) => {
                    PrivateKey::from_encrypted_pkcs8_pem(text, passphrase).or_raise()
                }
            })
        },
        |der| {
            py.detach(|| match passphrase {
                None => {
                    PrivateKey::from_pkcs8_der(der).map_err(|error| encrypted::of_der(der, error))
                }
                Some(passphrase) => {
                    PrivateKey::from_encrypted_pkcs8_der(der, passphrase).or_raise()
                }
            })
        },
    )?;
    if let PrivateKey::Signing(key) = key {
        return Ok(Py::new(py, SigningKey::new(key))?.into_any());
    }
    let key = pq_keys::DecapsulationKey::try_from(key).or_raise()?;
    Ok(Py::new(py, DecapsulationKey::new(key))?.into_any())
}

/// Reads a public key of any algorithm from a file, PEM or DER: a VerifyingKey or an EncapsulationKey.
#[pyfunction]
pub(crate) fn load_public_key(py: Python<'_>, path: PathBuf) -> PyResult<Py<PyAny>> {
    let key = read_document(
        py,
        path,
        |text| py.detach(|| PublicKey::from_spki_pem(text)).or_raise(),
        |der| py.detach(|| PublicKey::from_spki_der(der)).or_raise(),
    )?;
    into_python(py, key)
}

/// The Python object for a public key of either type.
pub(crate) fn into_python(py: Python<'_>, key: PublicKey) -> PyResult<Py<PyAny>> {
    match key {
        PublicKey::Verifying(key) => Ok(Py::new(py, VerifyingKey::new(key))?.into_any()),
        PublicKey::Encapsulation(key) => Ok(Py::new(py, EncapsulationKey::new(key))?.into_any()),
        _ => Err(pyo3::exceptions::PyNotImplementedError::new_err(
            "the key is of a kind that this package does not know",
        )),
    }
}
