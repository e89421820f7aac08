use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustls::crypto::CryptoProvider;
use rustls::pki_types::pem::{self, PemObject};
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::{ServerSessionMemoryCache, VerifierBuilderError, WebPkiClientVerifier};
use rustls::sign::{CertifiedKey, SingleCertAndKey};
use rustls::{RootCertStore, ServerConfig};
use rustls_pq::Group;

/// How the server speaks TLS: the configuration of rustls, and the key in it.
#[derive(Clone, Debug)]
pub struct Tls {
    pub(crate) config: Arc<ServerConfig>,
    pub(crate) certified_key: Arc<CertifiedKey>,
}

impl Tls {
    /// Configures TLS 1.3.
    ///
    /// `groups` are the key exchange groups to accept; none means the default list of
    /// [`rustls_pq::Profile::Default`]. With `client_roots`, clients have to present a
    /// certificate that one of these issued; without, they aren't asked for one.
    ///
    /// # Errors
    ///
    /// [`TlsError`] if the key does not belong to the certificate, a group does not
    /// exist, or the CPU lacks what the classical algorithms need.
    pub fn new(
        identity: Identity,
        groups: &[Group],
        client_roots: Option<RootCertStore>,
    ) -> Result<Self, TlsError> {
        let builder = rustls_pq::Builder::with_default_base()?;
        let provider = Arc::new(match groups {
            [] => builder.build()?,
            _ => builder.groups(groups.iter().copied()).build()?,
        });

        let certified_key = Arc::new(identity.certified_key(&provider)?);

        let config = ServerConfig::builder_with_provider(provider.clone())
            .with_protocol_versions(&[&rustls::version::TLS13])?;
        let config = match client_roots {
            Some(roots) => config.with_client_cert_verifier(
                WebPkiClientVerifier::builder_with_provider(roots.into(), provider).build()?,
            ),
            None => config.with_no_client_auth(),
        };
        let mut config =
            config.with_cert_resolver(Arc::new(SingleCertAndKey::from(certified_key.clone())));
        config.alpn_protocols = vec![b"http/1.1".into()];
        // Sessions are kept here and not in tickets: a ticket would carry the client's
        // chain, some 11 kB with ML-DSA-65, into every later ClientHello.
        config.session_storage = ServerSessionMemoryCache::new(RESUMABLE_SESSIONS);

        Ok(Self {
            config: Arc::new(config),
            certified_key,
        })
    }
}

/// A certificate chain, leaf first, and the private key of its leaf.
#[derive(Debug)]
pub struct Identity {
    /// The leaf and then the intermediates. The root is not sent.
    pub chain: Vec<CertificateDer<'static>>,
    /// The leaf's key: PKCS#8 for ML-DSA, also SEC 1 or PKCS#1 for classical ones.
    pub key: PrivateKeyDer<'static>,
}

impl Identity {
    /// Reads the chain and the key from PEM files.
    ///
    /// # Errors
    ///
    /// [`TlsError::Pem`] names the file that could not be read.
    pub fn from_pem_files(chain: &Path, key: &Path) -> Result<Self, TlsError> {
        Ok(Self {
            chain: certificates(chain)?,
            key: PrivateKeyDer::from_pem_file(key).map_err(|e| in_file(key, "private key", e))?,
        })
    }

    /// The two in the form that rustls takes, checked to be a pair.
    ///
    /// # Errors
    ///
    /// [`TlsError::WrongKey`] if they are not, [`TlsError::Rustls`] if the key is
    /// malformed or of an algorithm that the provider lacks.
    pub fn certified_key(self, provider: &CryptoProvider) -> Result<CertifiedKey, TlsError> {
        CertifiedKey::from_der(self.chain, self.key, provider).map_err(|error| match error {
            rustls::Error::InconsistentKeys(_) => TlsError::WrongKey,
            error => error.into(),
        })
    }
}

/// Reads the certificates of a PEM file as the roots to trust.
///
/// # Errors
///
/// [`TlsError::Pem`] names the file that could not be read, [`TlsError::Rustls`] is for
/// a certificate that cannot be a root.
pub fn roots_from_pem_file(path: &Path) -> Result<RootCertStore, TlsError> {
    let mut roots = RootCertStore::empty();
    for certificate in certificates(path)? {
        roots.add(certificate)?;
    }
    Ok(roots)
}

/// Why TLS cannot be configured like this.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TlsError {
    /// A PEM file could not be read.
    #[error("no {expected} could be read from {}: {source}", .path.display())]
    Pem {
        /// The file.
        path: PathBuf,
        /// What it should hold.
        expected: &'static str,
        /// What was wrong.
        source: pem::Error,
    },
    /// The key and the certificate are not a pair.
    #[error(
        "the private key is not the one of the certificate; give the key that belongs to the \
         first certificate of the chain"
    )]
    WrongKey,
    /// The provider can't be had with these groups, or on this CPU.
    #[error(transparent)]
    Provider(#[from] rustls_pq::Error),
    /// rustls refuses the certificate, the key, or the two together.
    #[error(transparent)]
    Rustls(#[from] rustls::Error),
    /// There is no root to trust for client certificates.
    #[error("client certificates cannot be verified: {0}")]
    ClientVerifier(#[from] VerifierBuilderError),
}

/// A full handshake stores two sessions, each of some hundred bytes and the client's
/// chain; when there are more than these, the oldest give way.
const RESUMABLE_SESSIONS: usize = 1024;

fn certificates(path: &Path) -> Result<Vec<CertificateDer<'static>>, TlsError> {
    let certificates = CertificateDer::pem_file_iter(path)
        .and_then(Iterator::collect::<Result<Vec<_>, _>>)
        .map_err(|e| in_file(path, "certificate", e))?;
    match certificates.is_empty() {
        true => Err(in_file(path, "certificate", pem::Error::NoItemsFound)),
        false => Ok(certificates),
    }
}

fn in_file(path: &Path, expected: &'static str, source: pem::Error) -> TlsError {
    TlsError::Pem {
        path: path.to_owned(),
        expected,
        source,
    }
}
