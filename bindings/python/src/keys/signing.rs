//! ML-DSA and SLH-DSA for Python: `pqtls.SigningKey`, `pqtls.VerifyingKey`, and the precomputed values that a verifying
//! key keeps from its second signature on.

use alloc::sync::Arc;
use core::sync::atomic::{AtomicBool, Ordering};
use std::path::PathBuf;

use pq_keys::files::Access;
use pq_keys::protection::{EncryptedPrivateKey, Protection};
use pq_keys::signing::Mode;
use pq_keys::{KeyError, SubjectKey};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyString};
use subtle::ConstantTimeEq;
use zeroize::Zeroizing;

use super::computed_once::ComputedOnce;
use super::encrypted;
use super::files::write_file;
use super::message::{self, HashedMessage, MessageHasher};
use super::private::private_key;
use super::public::public_key;
use crate::errors::OrRaise;
use crate::input::{Bytes, Text, equality, hash_of, read_document};
use crate::names;

/// A private key that signs, of any parameter set of ML-DSA or SLH-DSA. It never changes, and threads may share it.
///
/// >>> key = pqtls.SigningKey.generate("ML-DSA-65")
/// >>> signature = key.sign(b"message", context=b"backups")
/// >>> key.verifying_key.verify(b"message", signature, context=b"backups")
/// >>> pqtls.SigningKey.from_pem(key.to_pem(passphrase="secret"), "secret") == key
/// True
#[pyclass(frozen, module = "pqtls")]
pub(crate) struct SigningKey {
    pub(crate) key: pq_keys::SigningKey,
    verifying_key: ComputedOnce<Arc<Prepared>>,
}

impl SigningKey {
    pub(crate) fn new(key: pq_keys::SigningKey) -> Self {
        Self {
            key,
            verifying_key: ComputedOnce::new(),
        }
    }
}

private_key!(SigningKey {
    /// Makes a new key from the operating system's randomness. With the s sets of SLH-DSA it takes up to a second.
    #[staticmethod]
    fn generate(py: Python<'_>, algorithm: &str) -> PyResult<Self> {
        let algorithm = names::algorithm(algorithm)?;
        let key = py.detach(|| pq_keys::SigningKey::generate(algorithm));
        Ok(Self::new(key.or_raise()?))
    }

    /// Signs a message: hedged, unless `deterministic` is set, and with a context of at most 255 bytes. With
    /// `pre_hash`, the name of a hash function, it signs a hash of the message (HashML-DSA, HashSLH-DSA). The defaults
    /// are those of certificates and TLS.
    #[pyo3(signature = (message, *, context=None, pre_hash=None, deterministic=false))]
    fn sign<'py>(
        &self,
        py: Python<'py>,
        message: Bytes<'_>,
        context: Option<Bytes<'_>>,
        pre_hash: Option<&str>,
        deterministic: bool,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let options = message::options(&context, pre_hash)?;
        let variant = message::variant(deterministic);
        let signature = py.detach(|| self.key.sign_with(&message, &options, variant));
        Ok(PyBytes::new(py, &signature.or_raise()?))
    }

    /// Signs what `MessageHasher.finish` gave.
    #[pyo3(signature = (message, *, deterministic=false))]
    fn sign_hashed<'py>(
        &self,
        py: Python<'py>,
        message: &HashedMessage,
        deterministic: bool,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let variant = message::variant(deterministic);
        let signature = py.detach(|| self.key.sign_hashed(&message.0, variant));
        Ok(PyBytes::new(py, &signature.or_raise()?))
    }

    /// Signs µ of 64 bytes, which was computed elsewhere (external µ, FIPS 204, section 6.2). Only for ML-DSA.
    #[pyo3(signature = (mu, *, deterministic=false))]
    fn sign_mu<'py>(
        &self,
        py: Python<'py>,
        mu: Bytes<'_>,
        deterministic: bool,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let message = HashedMessage(message::from_mu(&mu)?);
        self.sign_hashed(py, &message, deterministic)
    }

    /// Begins to hash a message that comes in pieces. Pure SLH-DSA can't sign such a message: it needs a pre-hash.
    #[pyo3(signature = (*, context=None, pre_hash=None))]
    fn hasher(&self, context: Option<Bytes<'_>>, pre_hash: Option<&str>) -> PyResult<MessageHasher> {
        let options = message::options(&context, pre_hash)?;
        Ok(MessageHasher::new(self.key.hasher(&options).or_raise()?))
    }

    /// Checks that the public part of an SLH-DSA key belongs to it. Reading a key does not check this, because it
    /// takes as long as making the key. A key that fails makes no signatures either.
    fn check(&self, py: Python<'_>) -> PyResult<()> {
        py.detach(|| self.key.check()).or_raise()
    }

    /// Whether the key is only for hashes of messages, as the file of an SLH-DSA key can say (HashSLH-DSA, RFC 9909).
    #[getter]
    fn is_pre_hash(&self) -> bool {
        self.key.verifying_key().mode() == Mode::PreHash
    }

    /// The public key that verifies this key's signatures.
    #[getter]
    fn verifying_key(&self) -> VerifyingKey {
        let key = || Arc::new(Prepared::new(self.key.verifying_key().clone()));
        let kept = self.verifying_key.get_or_compute(key);
        VerifyingKey(kept.cloned().unwrap_or_else(key))
    }
});

/// A public key. When it verifies its second signature, all that can be computed beforehand is computed and kept: 22 to
/// 67 KiB for ML-DSA, which saves about half the time.
pub(crate) struct Prepared {
    key: pq_keys::VerifyingKey,
    used: AtomicBool,
    expanded: ComputedOnce<pq_keys::VerifyingKey>,
}

impl Prepared {
    pub(crate) fn key(&self) -> &pq_keys::VerifyingKey {
        &self.key
    }

    fn new(key: pq_keys::VerifyingKey) -> Self {
        Self {
            key,
            used: AtomicBool::new(false),
            expanded: ComputedOnce::new(),
        }
    }

    /// The key to verify one more signature with. To be called while other threads can run.
    pub(crate) fn for_one(&self) -> &pq_keys::VerifyingKey {
        if let Some(expanded) = self.expanded.get() {
            return expanded;
        }
        match self.used.swap(true, Ordering::Relaxed) {
            true => self.for_many(),
            false => &self.key,
        }
    }

    /// The same for many signatures.
    pub(crate) fn for_many(&self) -> &pq_keys::VerifyingKey {
        let expanded = self.expanded.get_or_compute(|| self.key.expand());
        expanded.unwrap_or(&self.key)
    }
}

/// A public key that verifies signatures, of any parameter set of ML-DSA or SLH-DSA. It never changes, and threads may
/// share it.
///
/// >>> key = pqtls.SigningKey.generate("ML-DSA-65")
/// >>> key.verifying_key.verify(b"message", key.sign(b"another"))
/// Traceback (most recent call last):
///     ...
/// pqtls.InvalidSignature: invalid ML-DSA-65 signature
#[pyclass(frozen, module = "pqtls")]
pub(crate) struct VerifyingKey(Arc<Prepared>);

impl VerifyingKey {
    pub(crate) fn new(key: pq_keys::VerifyingKey) -> Self {
        Self(Arc::new(Prepared::new(key)))
    }

    pub(crate) fn key(&self) -> &pq_keys::VerifyingKey {
        &self.0.key
    }

    pub(crate) fn prepared(&self) -> &Arc<Prepared> {
        &self.0
    }

    fn check(
        &self,
        py: Python<'_>,
        verify: impl FnOnce(&pq_keys::VerifyingKey) -> Result<(), KeyError> + Send,
    ) -> PyResult<()> {
        py.detach(|| verify(self.0.for_one())).or_raise()
    }
}

public_key!(VerifyingKey {
    /// Checks a signature, with the context and the pre-hash that it was made with. It returns nothing, or raises
    /// `InvalidSignature`.
    #[pyo3(signature = (message, signature, *, context=None, pre_hash=None))]
    fn verify(
        &self,
        py: Python<'_>,
        message: Bytes<'_>,
        signature: Bytes<'_>,
        context: Option<Bytes<'_>>,
        pre_hash: Option<&str>,
    ) -> PyResult<()> {
        let options = message::options(&context, pre_hash)?;
        self.check(py, |key| key.verify_with(&message, &signature, &options))
    }

    /// Checks a signature of what `MessageHasher.finish` gave.
    fn verify_hashed(
        &self,
        py: Python<'_>,
        message: &HashedMessage,
        signature: Bytes<'_>,
    ) -> PyResult<()> {
        self.check(py, |key| key.verify_hashed(&message.0, &signature))
    }

    /// Checks a signature of µ of 64 bytes, which was computed elsewhere. Only for ML-DSA.
    fn verify_mu(&self, py: Python<'_>, mu: Bytes<'_>, signature: Bytes<'_>) -> PyResult<()> {
        let message = message::from_mu(&mu)?;
        self.check(py, |key| key.verify_hashed(&message, &signature))
    }

    /// Begins to hash a message that comes in pieces. It takes no secret: the result can be sent to where the private
    /// key is.
    #[pyo3(signature = (*, context=None, pre_hash=None))]
    fn hasher(&self, context: Option<Bytes<'_>>, pre_hash: Option<&str>) -> PyResult<MessageHasher> {
        let options = message::options(&context, pre_hash)?;
        Ok(MessageHasher::new(self.key().hasher(&options).or_raise()?))
    }

    /// Whether the key is only for hashes of messages, as the file of an SLH-DSA key can say (HashSLH-DSA, RFC 9909).
    #[getter]
    fn is_pre_hash(&self) -> bool {
        self.key().mode() == Mode::PreHash
    }
});
