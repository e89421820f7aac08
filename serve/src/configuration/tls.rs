//! The configuration of rustls for a server.

use std::sync::Arc;

use rustls::crypto::CryptoProvider;
use rustls::server::danger::ClientCertVerifier;
use rustls::{RootCertStore, ServerConfig, ServerConnection};
use rustls_pq::identity::{Identities, IdentitySet};
use rustls_pq::{Group, Profile, ServerHandshake, TicketOptions, Tickets};

use super::clients::client_verifier;
use super::error::TlsError;
use crate::identities::Identity;
use crate::provider::provider_builder;

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

/// The versions of HTTP by their names in ALPN, the preferred one first.
#[cfg(feature = "http2")]
const PROTOCOLS: [&[u8]; 2] = [b"h2", HTTP_1_1];
#[cfg(not(feature = "http2"))]
const PROTOCOLS: [&[u8]; 1] = [HTTP_1_1];
const HTTP_1_1: &[u8] = b"http/1.1";

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
            config.alpn_protocols = PROTOCOLS.map(Vec::from).into();
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

    /// Offers HTTP/1.1 only.
    #[cfg(feature = "http2")]
    #[must_use]
    pub fn without_http2(mut self) -> Self {
        for config in self.alternatives.iter_mut().chain([&mut self.config]) {
            Arc::make_mut(config).alpn_protocols = vec![HTTP_1_1.into()];
        }
        self
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
