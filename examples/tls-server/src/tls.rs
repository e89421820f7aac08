//! The configuration of rustls for a server: provider, certificates and client verifier. This is what to copy for a
//! server of your own.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use pq_x509::RevocationListError;
use rustls::crypto::CryptoProvider;
use rustls::pki_types::pem::{self, PemObject};
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::danger::ClientCertVerifier;
use rustls::server::{VerifierBuilderError, WebPkiClientVerifier};
use rustls::{CertRevocationListError, RootCertStore, ServerConfig, ServerConnection};
use rustls_pq::identity::{self, Identities, IdentityError, IdentitySet, WatchError};
use rustls_pq::verify::EnforceKeyUsage;
use rustls_pq::{Builder, Group, Profile, ServerHandshake, TicketOptions, Tickets};

/// How the server speaks TLS: the configuration of rustls, and the certificates in it,
/// which can be replaced at any time.
#[derive(Clone, Debug)]
pub struct Tls {
    pub(crate) config: Arc<ServerConfig>,
    /// Configurations that give some clients a better key exchange.
    pub(crate) alternatives: Vec<Arc<ServerConfig>>,
    pub(crate) identities: Arc<Identities>,
    client_verifier: Option<Arc<dyn ClientCertVerifier>>,
}

impl Tls {
    /// Configures TLS 1.3 with one certificate, and the profile
    /// [`Default`](Profile::Default).
    ///
    /// `groups` are the key exchange groups to accept; none means those of the profile. With
    /// `client_roots`, clients have to present a certificate that one of these issued;
    /// without, they aren't asked for one.
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
        let builder = provider_builder(Profile::Default, groups)?;
        let client_verifier = client_roots
            .map(|roots| client_verifier(builder.clone().roots(&roots), roots))
            .transpose()?;
        let provider = Arc::new(builder.build()?);
        let identity = identity.check(&provider)?;
        let identities = Identities::new(IdentitySet::new().with_default(identity));
        Self::with(provider, identities.into(), client_verifier)
    }

    /// Configures TLS 1.3 with any provider and any certificates. With a verifier, such as
    /// [`client_verifier`] makes, clients have to present a certificate.
    ///
    /// # Errors
    ///
    /// [`TlsError`] if the provider can't encrypt tickets.
    pub fn with(
        provider: Arc<CryptoProvider>,
        identities: Arc<Identities>,
        client_verifier: Option<Arc<dyn ClientCertVerifier>>,
    ) -> Result<Self, TlsError> {
        let tickets = Arc::new(Tickets::for_provider(&provider, TicketOptions::default())?);
        let configure = |provider| -> Result<_, TlsError> {
            let config = ServerConfig::builder_with_provider(provider)
                .with_protocol_versions(&[&rustls::version::TLS13])?;
            let config = match &client_verifier {
                Some(verifier) => config.with_client_cert_verifier(verifier.clone()),
                None => config.with_no_client_auth(),
            };
            let mut config = config.with_cert_resolver(identities.clone());
            config.alpn_protocols = vec![b"http/1.1".into()];
            config.ticketer = tickets.clone();
            Ok(Arc::new(config))
        };
        let alternatives = ServerHandshake::alternatives(&provider).into_iter();
        let alternatives = alternatives.map(|provider| configure(provider.into()));
        let alternatives = alternatives.collect::<Result<_, _>>()?;
        let config = configure(provider)?;

        Ok(Self {
            config,
            alternatives,
            identities,
            client_verifier,
        })
    }

    /// Verifies again the certificates of a client whose session was resumed.
    pub(crate) fn verify_resumed_client(
        &self,
        handshake: &mut ServerHandshake,
        connection: &ServerConnection,
    ) -> Result<(), rustls::Error> {
        match &self.client_verifier {
            Some(verifier) => handshake.verify_resumed_client(connection, &**verifier),
            None => Ok(()),
        }
    }
}

/// Verifies clients' chains as rustls does, and checks that their key usage allows what they are used for.
///
/// The builder says which signatures clients are asked for. With [`Builder::roots`], a client with several
/// certificates sends one that may be under these roots.
///
/// # Errors
///
/// [`TlsError`] if there are no roots, or the provider can't be built.
pub fn client_verifier(
    builder: Builder,
    roots: RootCertStore,
) -> Result<Arc<dyn ClientCertVerifier>, TlsError> {
    let provider = Arc::new(builder.build()?);
    let webpki = WebPkiClientVerifier::builder_with_provider(roots.into(), provider)
        .build()
        .map_err(TlsError::ClientVerifier)?;
    Ok(Arc::new(EnforceKeyUsage::new(webpki)))
}

/// The provider for a profile; `groups`, if there are any, take the place of those that the
/// profile lists.
///
/// # Errors
///
/// [`TlsError::Provider`] if a group does not exist or the profile excludes it, or the CPU lacks what the classical
/// algorithms need.
pub fn provider(profile: Profile, groups: &[Group]) -> Result<Arc<CryptoProvider>, TlsError> {
    Ok(provider_builder(profile, groups)?.build()?.into())
}

/// The builder that [`provider`] uses, for more choices.
///
/// # Errors
///
/// [`TlsError::Provider`] if the CPU lacks what the classical algorithms need.
pub fn provider_builder(profile: Profile, groups: &[Group]) -> Result<Builder, TlsError> {
    let builder = Builder::with_default_base()?.profile(profile);
    Ok(match groups {
        [] => builder,
        _ => builder.groups(groups.iter().copied()),
    })
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
    /// Checks that the two are a pair that can be served.
    ///
    /// # Errors
    ///
    /// [`TlsError::Identity`] says what is wrong.
    pub fn check(self, provider: &CryptoProvider) -> Result<identity::Identity, TlsError> {
        Ok(identity::Identity::new(self.chain, self.key, provider)?)
    }
}

/// Reads the certificates of a PEM file as the roots to trust.
///
/// # Errors
///
/// [`TlsError::Pem`] names the file that could not be read, [`TlsError::Rustls`] is for
/// a certificate that cannot be a root.
pub fn roots_from_pem_file(path: &Path) -> Result<RootCertStore, TlsError> {
    let certificates = CertificateDer::pem_file_iter(path)
        .and_then(Iterator::collect::<Result<Vec<_>, _>>)
        .and_then(|certificates| match certificates.is_empty() {
            true => Err(pem::Error::NoItemsFound),
            false => Ok(certificates),
        });
    let certificates = certificates.map_err(|error| TlsError::Pem {
        path: path.to_owned(),
        error,
    })?;
    let mut roots = RootCertStore::empty();
    for certificate in certificates {
        roots.add(certificate)?;
    }
    Ok(roots)
}

/// Why TLS cannot be configured like this.
///
/// If the text has the cause's text in it, [`source`](std::error::Error::source) doesn't give the cause
/// again. So a program that prints causes one after another prints nothing twice.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TlsError {
    /// A PEM file with certificates could not be read.
    #[error(
        "no certificates could be read from {}: {error}; it should be PEM, with a CERTIFICATE \
         block for each",
        .path.display()
    )]
    Pem {
        /// The file.
        path: PathBuf,
        /// What was wrong.
        error: pem::Error,
    },
    /// A file with revocation lists could not be read.
    #[error("the revocation lists in {} can't be read: {error}", .path.display())]
    ListFile {
        /// The file.
        path: PathBuf,
        /// What the operating system says.
        error: io::Error,
    },
    /// There is no revocation list in a file, or one that is malformed.
    #[error(
        "{} has no revocation lists that can be used: {error}; it should be PEM, with an X509 CRL \
         block for each, or the DER of one",
        .path.display()
    )]
    List {
        /// The file.
        path: PathBuf,
        /// What was wrong.
        error: RevocationListError,
    },
    /// A CA that is to have lists is below no root.
    #[error(
        "{subject} is no CA that a client CA has certified, directly or through others that were given with it, or \
         there are more than 64 of them; give the certificates of the CAs between it and the client CA, too"
    )]
    ListIssuer {
        /// The CA.
        subject: String,
    },
    /// No revocation list is valid yet.
    #[error(
        "no revocation list in {files} is valid yet; check the clocks here and of the CA, or get its current list"
    )]
    NoListYet {
        /// The files.
        files: String,
    },
    /// rustls doesn't take a revocation list.
    #[error(
        "a revocation list in {files} is of a kind that rustls doesn't take ({error:?}); have the CA \
         make a complete list of version 2"
    )]
    ListsRefused {
        /// The files that the lists are in.
        files: String,
        /// What rustls says.
        error: CertRevocationListError,
    },
    /// The certificates and the key can't be served.
    #[error(transparent)]
    Identity(#[from] IdentityError),
    /// The files with certificates can't be watched.
    #[error(transparent)]
    Watch(#[from] WatchError),
    /// The provider can't be built with these groups, or on this CPU.
    #[error(transparent)]
    Provider(#[from] rustls_pq::Error),
    /// rustls refuses the certificate, the key, or the two together.
    #[error(transparent)]
    Rustls(#[from] rustls::Error),
    /// There is no root to trust for client certificates.
    #[error("client certificates cannot be verified: {0}")]
    ClientVerifier(VerifierBuilderError),
}
