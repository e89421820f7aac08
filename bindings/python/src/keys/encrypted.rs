//! What is said of an encrypted private key that is read without its passphrase.

use pq_keys::KeyError;
use pq_keys::encoding::pem::PemError;
use pq_keys::protection::EncryptedPrivateKey;
use pyo3::PyErr;

use crate::errors::Raise;
use crate::errors::exceptions::ProtectionError;

/// The exception for a PEM text without a private key that is in the clear.
pub(super) fn of_pem(error: KeyError) -> PyErr {
    match &error {
        KeyError::Pem(PemError::Missing { found, .. })
            if found.iter().any(|label| label == "ENCRYPTED PRIVATE KEY") =>
        {
            needs_passphrase()
        }
        _ => error.raise(),
    }
}

/// The exception for a DER that is no private key in the clear.
pub(super) fn of_der(der: &[u8], error: KeyError) -> PyErr {
    match EncryptedPrivateKey::from_der(der) {
        Ok(_) => needs_passphrase(),
        Err(_) => error.raise(),
    }
}

fn needs_passphrase() -> PyErr {
    ProtectionError::new_err("the private key is encrypted: pass `passphrase`")
}
