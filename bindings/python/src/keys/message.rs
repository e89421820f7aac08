//! What is signed, for Python: the options of a signature as Python passes them, and `pqtls.MessageHasher` and
//! `pqtls.HashedMessage` for messages that come in pieces or are hashed elsewhere.

use std::sync::{Mutex, PoisonError};

use pq_keys::signing::{SignatureOptions, SigningVariant};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::errors::exceptions::OperationError;
use crate::input::Bytes;
use crate::names;

/// What signer and verifier have to agree on.
pub(crate) fn options<'a>(
    context: &'a Option<Bytes<'_>>,
    pre_hash: Option<&str>,
) -> PyResult<SignatureOptions<'a>> {
    let options = SignatureOptions::new().context(context.as_deref().unwrap_or_default());
    Ok(match pre_hash {
        Some(name) => options.pre_hash(names::pre_hash(name)?),
        None => options,
    })
}

pub(super) fn variant(deterministic: bool) -> SigningVariant {
    match deterministic {
        true => SigningVariant::Deterministic,
        false => SigningVariant::Hedged,
    }
}

/// Hashes a message that comes in pieces, such as a file that is larger than memory, to sign it or to verify its
/// signature: `SigningKey.hasher` and `VerifyingKey.hasher` make one.
///
/// Threads may share one. In a process that was forked while another thread was in `update`, begin a new one: the old
/// one would wait for a thread that is not there.
///
/// >>> key = pqtls.SigningKey.generate("ML-DSA-65")
/// >>> hasher = key.hasher()
/// >>> hasher.update(b"mess")
/// >>> hasher.update(b"age")
/// >>> signature = key.sign_hashed(hasher.finish())
/// >>> key.verifying_key.verify(b"message", signature)
#[pyclass(frozen, module = "pqtls")]
pub(crate) struct MessageHasher(Mutex<Option<pq_keys::signing::MessageHasher>>);

impl MessageHasher {
    pub(super) fn new(hasher: pq_keys::signing::MessageHasher) -> Self {
        Self(Mutex::new(Some(hasher)))
    }

    /// Does something with the hasher while other threads run. The lock is held only while this thread is detached:
    /// an attached thread that waits for the lock would keep this one from going on.
    fn with<T: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&mut Option<pq_keys::signing::MessageHasher>) -> Option<T> + Send,
    ) -> PyResult<T> {
        let done = py.detach(|| work(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner)));
        done.ok_or_else(|| {
            OperationError::new_err("the message was finished before; begin another hasher")
        })
    }
}

#[pymethods]
impl MessageHasher {
    /// Hashes the next bytes of the message. Large pieces take less time.
    fn update(&self, py: Python<'_>, message: Bytes<'_>) -> PyResult<()> {
        self.with(py, |hasher| {
            hasher.as_mut()?.update(&message);
            Some(())
        })
    }

    /// Ends the message, and the hasher.
    fn finish(&self, py: Python<'_>) -> PyResult<HashedMessage> {
        self.with(py, |hasher| Some(HashedMessage(hasher.take()?.finish())))
    }
}

/// All that a signature needs of a message, its context and pre-hash. It is no secret.
#[pyclass(frozen, eq, module = "pqtls")]
#[derive(PartialEq)]
pub(crate) struct HashedMessage(pub(super) pq_keys::signing::HashedMessage);

#[pymethods]
impl HashedMessage {
    /// The message with this µ of 64 bytes (external µ, FIPS 204, section 6.2). Whether µ was computed for the key that
    /// signs it is not checked.
    #[staticmethod]
    fn from_mu(mu: Bytes<'_>) -> PyResult<Self> {
        Ok(Self(from_mu(&mu)?))
    }

    /// µ, or None if the message was hashed by a pre-hash.
    #[getter]
    fn mu<'py>(&self, py: Python<'py>) -> Option<Bound<'py, PyBytes>> {
        Some(PyBytes::new(py, self.0.mu()?))
    }
}

pub(super) fn from_mu(mu: &[u8]) -> PyResult<pq_keys::signing::HashedMessage> {
    let Ok(mu) = mu.try_into() else {
        return Err(OperationError::new_err(format!(
            "µ has {} bytes instead of 64",
            mu.len()
        )));
    };
    Ok(pq_keys::signing::HashedMessage::from_mu(mu))
}
