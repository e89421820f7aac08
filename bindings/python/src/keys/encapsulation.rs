//! ML-KEM for Python: `pqtls.DecapsulationKey` and `pqtls.EncapsulationKey`. How keys are read and written is in
//! `private` and `public`.

use std::path::PathBuf;

use pq_keys::SubjectKey;
use pq_keys::files::Access;
use pq_keys::protection::{EncryptedPrivateKey, Protection};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyString};
use subtle::ConstantTimeEq;
use zeroize::Zeroizing;

use super::encrypted;
use super::files::write_file;
use super::private::private_key;
use super::public::public_key;
use crate::errors::OrRaise;
use crate::errors::exceptions::OperationError;
use crate::input::{Bytes, Text, equality, hash_of, read_document};
use crate::names;

/// A private key that decapsulates, of any parameter set of ML-KEM. It never changes, and threads may share it.
///
/// >>> key = pqtls.DecapsulationKey.generate("ML-KEM-768")
/// >>> secret, ciphertext = key.encapsulation_key.encapsulate()
/// >>> key.decapsulate(ciphertext) == secret
/// True
#[pyclass(frozen, module = "pqtls")]
pub(crate) struct DecapsulationKey {
    pub(crate) key: pq_keys::DecapsulationKey,
}

impl DecapsulationKey {
    pub(crate) fn new(key: pq_keys::DecapsulationKey) -> Self {
        Self { key }
    }
}

private_key!(DecapsulationKey {
    /// Makes a new key from the operating system's randomness.
    #[staticmethod]
    fn generate(py: Python<'_>, algorithm: &str) -> PyResult<Self> {
        let algorithm = names::algorithm(algorithm)?;
        let key = py.detach(|| pq_keys::DecapsulationKey::generate(algorithm));
        Ok(Self::new(key.or_raise()?))
    }

    /// Recovers the shared secret of 32 bytes from a ciphertext. A ciphertext that was not made for this key gives a
    /// secret that nobody else has (implicit rejection, FIPS 203).
    fn decapsulate<'py>(
        &self,
        py: Python<'py>,
        ciphertext: Bytes<'_>,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let mut secret = Zeroizing::new([0; 32]);
        py.detach(|| self.key.decapsulate_into(&ciphertext, &mut secret)).or_raise()?;
        Ok(PyBytes::new(py, &*secret))
    }

    /// The public key that others encapsulate to.
    #[getter]
    fn encapsulation_key(&self) -> EncapsulationKey {
        EncapsulationKey::new(self.key.encapsulation_key().clone())
    }
});

/// A public key that others encapsulate to, of any parameter set of ML-KEM. It never changes, and threads may share it.
#[pyclass(frozen, module = "pqtls")]
pub(crate) struct EncapsulationKey(pq_keys::EncapsulationKey);

impl EncapsulationKey {
    pub(crate) fn new(key: pq_keys::EncapsulationKey) -> Self {
        Self(key)
    }

    pub(crate) fn key(&self) -> &pq_keys::EncapsulationKey {
        &self.0
    }
}

/// A shared secret and its ciphertext.
type Encapsulated<'py> = (Bound<'py, PyBytes>, Bound<'py, PyBytes>);

public_key!(EncapsulationKey {
    /// Makes a shared secret of 32 bytes, and the ciphertext that carries it to the owner of the private key.
    fn encapsulate<'py>(&self, py: Python<'py>) -> PyResult<Encapsulated<'py>> {
        let mut secret = Zeroizing::new([0; 32]);
        let ciphertext = py.detach(|| self.0.encapsulate_into(&mut secret)).or_raise()?;
        Ok((PyBytes::new(py, &*secret), PyBytes::new(py, &ciphertext)))
    }

    /// Does the same as `encapsulate` with 32 bytes of randomness that you give: m of FIPS 203, algorithm 17. For
    /// tests: whoever knows m knows the secret.
    fn encapsulate_with_randomness<'py>(
        &self,
        py: Python<'py>,
        randomness: Bytes<'_>,
    ) -> PyResult<Encapsulated<'py>> {
        let Ok(randomness) = <&[u8; 32]>::try_from(&*randomness) else {
            return Err(OperationError::new_err(format!(
                "the randomness has {} bytes instead of 32",
                randomness.len()
            )));
        };
        let mut secret = Zeroizing::new([0; 32]);
        let ciphertext =
            py.detach(|| self.0.encapsulate_with_randomness(randomness, &mut secret));
        Ok((PyBytes::new(py, &*secret), PyBytes::new(py, &ciphertext)))
    }
});
