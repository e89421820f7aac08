//! Signers that are slow or fail, within bounds: threads of their own, a queue, a time and a circuit breaker.
//!
//! The breaker decides, the pool runs, and `BoundedSigner` is both behind pq-keys' trait.

mod bounds;
mod breaker;
mod error;
mod pool;

pub use bounds::{Bounds, Circuit, SignerLoad};
pub use error::SignerUnavailable;

use alloc::sync::Arc;
use core::fmt;
use std::io;

use pq_x509::keys::{SignError, Signer, SubjectKey};
use pq_x509::x509_cert::spki::AlgorithmIdentifierOwned;
use rustls::pki_types::SubjectPublicKeyInfoDer;

use self::pool::Pool;

/// A [`Signer`] that may be slow, hang or fail, such as a key in a hardware module or behind a network, within
/// [`Bounds`]: whoever asks for a signature has it, or an error, after [`Bounds::timeout`] at most.
///
/// It signs on threads of its own. What each bound does to handshakes stands at [`Bounds`]. An error is a [`SignError`]
/// that says [whether trying again may help](SignError::is_transient); around those of the bounds there is a
/// [`SignerUnavailable`].
///
/// ```
/// use std::sync::Arc;
/// use std::time::Duration;
///
/// use rustls::crypto::CryptoProvider;
/// use rustls::pki_types::CertificateDer;
/// use rustls_pq::identity::Identity;
/// use rustls_pq::pq_x509::keys::Signer;
/// use rustls_pq::sign::{BoundedSigner, Bounds, SignatureCheck};
///
/// fn identity(
///     chain: Vec<CertificateDer<'static>>,
///     in_hardware: Arc<dyn Signer>,
///     provider: &CryptoProvider,
/// ) -> Result<Identity, Box<dyn std::error::Error>> {
///     let bounds = Bounds {
///         timeout: Duration::from_secs(1),
///         ..Bounds::default()
///     };
///     let signer = Arc::new(BoundedSigner::new(in_hardware, bounds)?);
///     // Keep a clone of `signer` to ask for its `load()`.
///     Ok(Identity::with_signer(chain, signer, SignatureCheck::Each, provider)?)
/// }
/// # use pq_x509::issuing::{CertificateBuilder, Issuer};
/// # use pq_x509::keys::{SignatureAlgorithm, SigningKey};
/// # let key = SigningKey::generate(SignatureAlgorithm::MlDsa44)?;
/// # let root = Issuer::self_signed(CertificateBuilder::ca("Root"), key)?;
/// # let key = SigningKey::generate(SignatureAlgorithm::MlDsa44)?;
/// # let leaf = root.issue(CertificateBuilder::server().dns_name("localhost"), &key)?;
/// # let identity = identity(vec![leaf.into_der()], Arc::new(key), &rustls_pq::provider()?)?;
/// # assert!(identity.may_block());
/// # Ok::<_, Box<dyn std::error::Error>>(())
/// ```
///
/// # Its cost
///
/// Some tens of microseconds for each signature, to hand the message to another thread and wait for the answer.
///
/// # Its end
///
/// Dropping it never waits: idle threads end at once, and a thread that is still in the signer ends when the signer
/// returns, or with the process.
///
/// # Events
///
/// `warn` when the circuit breaker opens and when a thread can't be started, `info` when it closes.
pub struct BoundedSigner {
    spki: SubjectPublicKeyInfoDer<'static>,
    algorithm: AlgorithmIdentifierOwned,
    pool: Pool,
}

impl BoundedSigner {
    /// Starts the threads. The signer's public key and algorithm are asked for once, here.
    ///
    /// # Errors
    ///
    /// If the system starts no more threads.
    pub fn new(signer: Arc<dyn Signer>, bounds: Bounds) -> io::Result<Self> {
        Ok(Self {
            spki: signer.spki().into_owned(),
            algorithm: signer.signature_algorithm(),
            pool: Pool::start(signer, bounds)?,
        })
    }

    /// How many signatures wait and are under way at the moment, and how the circuit breaker stands: for metrics, and
    /// for a health check.
    pub fn load(&self) -> SignerLoad {
        self.pool.load()
    }
}

impl SubjectKey for BoundedSigner {
    fn spki(&self) -> SubjectPublicKeyInfoDer<'_> {
        self.spki.as_ref().into()
    }
}

impl Signer for BoundedSigner {
    fn signature_algorithm(&self) -> AlgorithmIdentifierOwned {
        self.algorithm.clone()
    }

    fn sign(&self, message: &[u8]) -> Result<Vec<u8>, SignError> {
        self.pool.sign(message)
    }
}

impl fmt::Debug for BoundedSigner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BoundedSigner")
            .field("load", &self.load())
            .finish_non_exhaustive()
    }
}
